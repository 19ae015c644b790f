import type { CpuProfile } from '../../src/ops/profiling/cpu-profile.ts';
import { callTree } from '../profile/call-tree.ts';
import type { Call } from '../profile/call-tree.ts';

/**
 * Milliseconds by package and folder of crier. A call of node or V8 counts for the module that made it, which node loads or compiles others
 * for; without one, for `node`.
 */
export function partTimes(profile: CpuProfile): Map<string, number> {
  const times = new Map<string, number>();
  const add = ({ frame, selfUs, callees }: Call, caller: string): void => {
    const part = /^(\/|file:)/.test(frame.url) ? partOf(frame.url) : caller;
    times.set(part, (times.get(part) ?? 0) + selfUs / 1000);
    for (const callee of callees) add(callee, part);
  };
  add(callTree(profile), 'node');
  return times;
}

/** A package's name, or the folder of crier's own file below src, or dist/src. */
export function partOf(file: string): string {
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  return name ?? `src/${/.*\/src(?:-\w+)?\/(?:([\w-]+)\/)?/.exec(file)?.[1] ?? ''}`;
}
