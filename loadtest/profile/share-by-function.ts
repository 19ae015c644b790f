import type { CpuProfile } from '../../src/ops/profiling/cpu-profile.ts';
import { callTree } from './call-tree.ts';
import type { Call } from './call-tree.ts';

/** Each function's share of the time, without its callees. Keys: `<url>:<line>:<column>`; the first line and column are 1. */
export function shareByFunction(profile: CpuProfile): Map<string, number> {
  const shares = new Map<string, number>();
  const root = callTree(profile);
  const add = ({ frame, selfUs, callees }: Call): void => {
    const key = `${frame.url}:${frame.lineNumber + 1}:${frame.columnNumber + 1}`;
    shares.set(key, (shares.get(key) ?? 0) + selfUs / root.totalUs);
    callees.forEach(add);
  };
  add(root);
  return shares;
}
