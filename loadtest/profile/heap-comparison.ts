import { createRequire } from 'node:module';
import { resolve } from 'node:path';

/** An object of a heap snapshot. */
export interface HeapNode {
  /** V8's kind of node: object, closure, string, ... */
  readonly type: string;
  readonly name: string;
  readonly bytes: number;
}

/** Objects of one constructor. */
export interface HeapCount {
  readonly objects: number;
  readonly bytes: number;
}

/** Objects of one constructor in two heaps. */
export interface HeapComparison {
  readonly constructorName: string;
  readonly before: HeapCount;
  readonly after: HeapCount;
}

/** The part of @memlab/core that is used here. It is installed in loadtest/node_modules. */
interface Memlab {
  readonly config: { muteConsole: boolean };
  readonly utils: { getSnapshotFromFile(path: string, options: object): Promise<Snapshot> };
}
interface Snapshot {
  readonly nodes: { forEach(visit: (node: { type: string; name: string; self_size: number }) => void): void };
}

const NONE: HeapCount = { objects: 0, bytes: 0 };

const GROUPS: Readonly<Record<string, string>> = {
  array: '(array)',
  bigint: '(bigint)',
  closure: '(closure)',
  code: '(compiled code)',
  hidden: '(system)',
  number: '(number)',
  'object shape': '(object shape)',
  regexp: 'RegExp',
  symbol: '(symbol)',
  synthetic: '(synthetic)',
};

/** The objects of a heap by constructor. A heap has millions of objects: they are counted one by one. */
export class HeapCounts extends Map<string, HeapCount> {
  /** Counts the objects of a .heapsnapshot. */
  static async read(path: string): Promise<HeapCounts> {
    const { config, utils } = createRequire(resolve('loadtest/package.json'))('@memlab/core') as Memlab;
    config.muteConsole = true;
    const { nodes } = await utils.getSnapshotFromFile(resolve(path), { buildNodeIdIndex: false, verbose: false });
    const counts = new HeapCounts();
    nodes.forEach(({ type, name, self_size: bytes }) => counts.add({ type, name, bytes }));
    return counts;
  }

  add(node: HeapNode): void {
    const constructorName = groupOf(node);
    const { objects, bytes } = this.get(constructorName) ?? NONE;
    this.set(constructorName, { objects: objects + 1, bytes: bytes + node.bytes });
  }

  /** Objects and bytes of the whole heap. */
  get total(): HeapCount {
    let [objects, bytes] = [0, 0];
    for (const count of this.values()) {
      objects += count.objects;
      bytes += count.bytes;
    }
    return { objects, bytes };
  }
}

/** The name that DevTools shows: the constructor of an object, or the kind of an internal node. */
export function groupOf({ type, name }: HeapNode): string {
  if (type.includes('string')) return '(string)';
  return GROUPS[type] ?? name;
}

/** Constructors whose objects differ, largest difference in bytes first. */
export function compareHeaps(
  before: ReadonlyMap<string, HeapCount>,
  after: ReadonlyMap<string, HeapCount>,
): HeapComparison[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((constructorName) => ({
      constructorName,
      before: before.get(constructorName) ?? NONE,
      after: after.get(constructorName) ?? NONE,
    }))
    .filter(({ before, after }) => before.objects !== after.objects || before.bytes !== after.bytes)
    .sort((a, b) => Math.abs(b.after.bytes - b.before.bytes) - Math.abs(a.after.bytes - a.before.bytes));
}
