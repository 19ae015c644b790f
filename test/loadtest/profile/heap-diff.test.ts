import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparisonTable, rungPair, settingsPair } from '../../../loadtest/profile/compare-heaps.ts';
import { HeapCounts, compareHeaps, totalOf } from '../../../loadtest/profile/heap-comparison.ts';
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

describe('compareHeaps', () => {
  const counted = (nodes: readonly HeapNode[]) => {
    const counts = new HeapCounts();
    for (const node of nodes) counts.add(node);
    return counts;
  };
  // Ids of two processes say nothing about each other.
  const heaps = [counted(before), counted(after.map((node) => ({ ...node, id: node.id + 100 })))] as const;

  it('counts the objects of two processes by constructor, largest difference in bytes first, without equal ones', () => {
    const rows = compareHeaps(...heaps).map(({ constructorName, before, after }) => [
      constructorName,
      before.objects,
      after.objects,
    ]);
    assert.deepEqual(rows, [['Socket', 1, 2], ['(string)', 0, 2], ['Location', 2, 1], ['(closure)', 0, 1]]); // prettier-ignore
    assert.deepEqual(compareHeaps(heaps[0], heaps[0]), []);
    assert.deepEqual(totalOf(heaps[0]), { objects: 3, bytes: 428 });
  });

  it('prints counts, bytes and the whole heap as a table', () => {
    const lines = comparisonTable(...heaps).split('\n');
    assert.equal(lines[4], '| `Location` | 2 | 1 | -1 | 128 | 64 | -64 |');
    assert.equal(lines.at(-2), '| whole heap | 3 | 6 | +3 | 428 | 792 | +364 |');
  });
});

describe('the pods of a heap comparison', () => {
  it('are two rungs of the ladder, or crier with settings and without', async () => {
    const pair = settingsPair('AST_LOCATIONS=on,DOCUMENT_CACHE_ENTRIES=0');
    assert.equal(pair.before.environment?.['AST_LOCATIONS'], 'on');
    assert.equal(pair.before.environment?.['DOCUMENT_CACHE_ENTRIES'], '0');
    assert.equal(pair.after.environment?.['AST_LOCATIONS'], undefined);
    assert.throws(() => settingsPair('AST_LOCATIONS'), /--before: expected NAME=value,\.\.\., got "AST_LOCATIONS"/);
    await assert.rejects(rungPair('in-place'), /--rungs: expected two of baseline, .*in-place/);
    await assert.rejects(rungPair('in-place,pubsub'), /--rungs: expected two of/);
  });
});
