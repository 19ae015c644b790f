/** An object of a heap snapshot. Its id is the same in all snapshots of one process. */
export interface HeapNode {
  readonly id: number;
  /** V8's kind of node: object, closure, string, ... */
  readonly type: string;
  readonly name: string;
  readonly bytes: number;
}

/** Objects of one constructor added and deleted between two snapshots. The fields are the columns of DevTools' comparison. */
export interface ConstructorChange {
  readonly constructorName: string;
  added: number;
  deleted: number;
  addedBytes: number;
  deletedBytes: number;
}

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

/** Largest change in bytes first. */
export function diffHeaps(before: Iterable<HeapNode>, after: Iterable<HeapNode>): ConstructorChange[] {
  const changes = new Map<string, ConstructorChange>();
  const changeOf = (constructorName: string) => {
    let change = changes.get(constructorName);
    if (!change) {
      change = { constructorName, added: 0, deleted: 0, addedBytes: 0, deletedBytes: 0 };
      changes.set(constructorName, change);
    }
    return change;
  };
  const deleted = new Map<number, HeapNode>();
  for (const node of before) deleted.set(node.id, node);
  for (const node of after) {
    if (deleted.delete(node.id)) continue;
    const change = changeOf(groupOf(node));
    change.added++;
    change.addedBytes += node.bytes;
  }
  for (const node of deleted.values()) {
    const change = changeOf(groupOf(node));
    change.deleted++;
    change.deletedBytes += node.bytes;
  }
  return [...changes.values()].sort((a, b) => Math.abs(bytesDelta(b)) - Math.abs(bytesDelta(a)));
}

export function bytesDelta({ addedBytes, deletedBytes }: ConstructorChange): number {
  return addedBytes - deletedBytes;
}

/** The name that DevTools shows: the constructor of an object, or the kind of an internal node. */
export function groupOf({ type, name }: HeapNode): string {
  if (type.includes('string')) return '(string)';
  return GROUPS[type] ?? name;
}
