import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffHeaps } from '../../../loadtest/profile/heap-diff.ts';
import type { HeapNode } from '../../../loadtest/profile/heap-diff.ts';
import { diffTable } from '../../../loadtest/profile/recorders.ts';

function object(id: number, name: string, bytes: number, type = 'object'): HeapNode {
  return { id, type, name, bytes };
}

const before = [object(1, 'Location', 64), object(3, 'Location', 64), object(5, 'Socket', 300)];
const after = [
  object(3, 'Location', 64),
  object(5, 'Socket', 300),
  object(7, 'Socket', 300),
  object(9, 'hello', 40, 'string'),
  object(11, 'hello world', 32, 'concatenated string'),
  object(13, 'onMessage', 56, 'closure'),
];

describe('diffHeaps', () => {
  it('counts new and deleted objects by constructor, largest first, without those that stayed', () => {
    assert.deepEqual(diffHeaps(before, after), [
      { constructorName: 'Socket', added: 1, deleted: 0, addedBytes: 300, deletedBytes: 0 },
      { constructorName: '(string)', added: 2, deleted: 0, addedBytes: 72, deletedBytes: 0 },
      { constructorName: 'Location', added: 0, deleted: 1, addedBytes: 0, deletedBytes: 64 },
      { constructorName: '(closure)', added: 1, deleted: 0, addedBytes: 56, deletedBytes: 0 },
    ]);
    assert.deepEqual(diffHeaps(after, after), []);
  });

  it('prints as a table with signs and a sum', () => {
    const text = diffTable(diffHeaps(before, after), 'flood');
    assert.match(
      text,
      /^Heap, from before to after the flood\nconstructor +# new +# deleted +# delta +size delta, bytes\n/,
    );
    assert.match(text, /^Location +0 +1 +-1 +-64$/m);
    assert.match(text, /all together \+364 bytes\n$/);
  });
});
