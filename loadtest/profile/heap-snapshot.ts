import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { HeapNode } from './heap-diff.ts';

/** The part of @memlab/core that is used here. It is installed in loadtest/node_modules. */
interface Memlab {
  readonly config: { muteConsole: boolean };
  readonly utils: { getSnapshotFromFile(path: string, options: object): Promise<Snapshot> };
}
interface Snapshot {
  readonly nodes: { forEach(visit: (node: SnapshotNode) => void): void };
}
interface SnapshotNode {
  readonly id: number;
  readonly type: string;
  readonly name: string;
  readonly self_size: number;
}

/** All objects of a .heapsnapshot. */
export async function readHeapSnapshot(path: string): Promise<HeapNode[]> {
  const objects: HeapNode[] = [];
  await visitHeapSnapshot(path, (node) => void objects.push(node));
  return objects;
}

/** Visits all objects of a .heapsnapshot. */
export async function visitHeapSnapshot(path: string, visit: (node: HeapNode) => void): Promise<void> {
  const { config, utils } = createRequire(resolve('loadtest/package.json'))('@memlab/core') as Memlab;
  config.muteConsole = true;
  const { nodes } = await utils.getSnapshotFromFile(resolve(path), { buildNodeIdIndex: false, verbose: false });
  nodes.forEach(({ id, type, name, self_size: bytes }) => visit({ id, type, name, bytes }));
}
