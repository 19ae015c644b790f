import { groupOf } from './heap-diff.ts';
import type { HeapNode } from './heap-diff.ts';

/** Objects of one constructor. */
export interface HeapCount {
  readonly objects: number;
  readonly bytes: number;
}

/** Objects of one constructor in the heaps of two processes. */
export interface HeapComparison {
  readonly constructorName: string;
  readonly before: HeapCount;
  readonly after: HeapCount;
}

const NONE: HeapCount = { objects: 0, bytes: 0 };

/** The objects of a heap by constructor. A heap has millions of objects: they are counted one by one. */
export class HeapCounts extends Map<string, HeapCount> {
  add(node: HeapNode): void {
    const constructorName = groupOf(node);
    const { objects, bytes } = this.get(constructorName) ?? NONE;
    this.set(constructorName, { objects: objects + 1, bytes: bytes + node.bytes });
  }
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

/** Objects and bytes of a whole heap. */
export function totalOf(counts: ReadonlyMap<string, HeapCount>): HeapCount {
  let [objects, bytes] = [0, 0];
  for (const count of counts.values()) {
    objects += count.objects;
    bytes += count.bytes;
  }
  return { objects, bytes };
}
