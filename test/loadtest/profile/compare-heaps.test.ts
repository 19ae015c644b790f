import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparisonTable, rungPair, settingsPair } from '../../../loadtest/profile/compare-heaps.ts';
import { HeapCounts, compareHeaps } from '../../../loadtest/profile/heap-comparison.ts';
import type { HeapNode } from '../../../loadtest/profile/heap-comparison.ts';

function counted(...nodes: readonly HeapNode[]): HeapCounts {
  const counts = new HeapCounts();
  for (const node of nodes) counts.add(node);
  return counts;
}

function object(name: string, bytes: number, type = 'object'): HeapNode {
  return { type, name, bytes };
}

const before = counted(object('Location', 64), object('Location', 64), object('Socket', 300));
const after = counted(
  object('Location', 64),
  ...[object('Socket', 300), object('Socket', 300)],
  ...[object('hello', 40, 'string'), object('hello world', 32, 'concatenated string')],
  object('onMessage', 56, 'closure'),
);

describe('compareHeaps', () => {
  it('counts the objects of two heaps by constructor, largest difference in bytes first, without equal ones', () => {
    const rows = compareHeaps(before, after).map(({ constructorName, before, after }) => [
      constructorName,
      before.objects,
      after.objects,
    ]);
    assert.deepEqual(rows, [['Socket', 1, 2], ['(string)', 0, 2], ['Location', 2, 1], ['(closure)', 0, 1]]); // prettier-ignore
    assert.deepEqual(compareHeaps(before, before), []);
    assert.deepEqual(before.total, { objects: 3, bytes: 428 });
  });

  it('prints counts, bytes and the whole heap as a table', () => {
    const table = comparisonTable(before, after);
    assert.deepEqual(table[3], ['`Location`', '2', '1', '-1', '128', '64', '-64']);
    assert.deepEqual(table.at(-1), ['whole heap', '3', '6', '+3', '428', '792', '+364']);
  });
});

describe('the pods of a heap comparison', () => {
  it('are two rungs of the ladder, or crier with settings and without', async () => {
    const [first, second] = settingsPair('DISABLE=compact-ast,document-cache APQ=true');
    assert.equal(first!.environment?.['DISABLE'], 'compact-ast,document-cache');
    assert.equal(first!.environment?.['APQ'], 'true');
    assert.equal(second!.environment?.['DISABLE'], undefined);
    assert.throws(() => settingsPair('DISABLE'), /--before: expected NAME=value \.\.\., got "DISABLE"/);
    await assert.rejects(rungPair('in-place'), /--rungs: expected two of baseline, .*in-place/);
    await assert.rejects(rungPair('in-place,pubsub'), /--rungs: expected two of/);
  });
});
