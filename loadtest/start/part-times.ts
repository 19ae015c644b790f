import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import type { SourceMapPayload } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What is used of a `.cpuprofile`. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of nodes. */
  readonly samples: readonly number[];
  /** In µs, of each sample since the one before. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  /** The line and the column begin with 0. */
  readonly callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  readonly children?: readonly number[];
}

/** Milliseconds by package and folder of crier. A sample counts for the innermost module on its stack: node compiles and loads what that one asks for. */
export async function partTimes({ nodes, samples, timeDeltas }: CpuProfile): Promise<Map<string, number>> {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const parts = new Map<number, string | undefined>();
  // Parents come before their children.
  for (const { id, callFrame } of nodes) {
    const isIdle = callFrame.functionName === '(idle)';
    parts.set(id, isIdle ? undefined : ((await partOfFrame(callFrame)) ?? parts.get(parents.get(id)!) ?? 'node'));
  }
  const times = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const part = parts.get(id);
    if (part !== undefined) times.set(part, (times.get(part) ?? 0) + timeDeltas[i]! / 1000);
  }
  return times;
}

async function partOfFrame({ url, lineNumber, columnNumber }: ProfileNode['callFrame']): Promise<string | undefined> {
  if (!url.startsWith('/') && !url.startsWith('file:')) return undefined;
  const file = url.startsWith('/') ? url : fileURLToPath(url);
  if (basename(dirname(file)) !== 'bundle') return partOf(file);
  // A chunk of crier's bundle has many modules.
  const entry = (await sourceMapOf(file)).findEntry(lineNumber, columnNumber);
  return 'originalSource' in entry ? partOf(resolve(dirname(file), entry.originalSource)) : undefined;
}

const sourceMaps = new Map<string, SourceMap>();

async function sourceMapOf(file: string): Promise<SourceMap> {
  let map = sourceMaps.get(file);
  if (map === undefined) {
    map = new SourceMap(JSON.parse(await readFile(`${file}.map`, 'utf8')) as SourceMapPayload);
    sourceMaps.set(file, map);
  }
  return map;
}

/** A package's name, or the folder of crier's own file below src, or dist/src. */
export function partOf(file: string): string {
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  return name ?? `src/${/.*\/src(?:-\w+)?\/(?:([\w-]+)\/)?/.exec(file)?.[1] ?? ''}`;
}
