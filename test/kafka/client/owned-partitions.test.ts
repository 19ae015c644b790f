import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDice } from '../../../examples/auction/dice.ts';
import { ownedIn, ownedText } from '../../../src/kafka/client/owned-partitions.ts';
import type { OwnedPartitions } from '../../../src/kafka/client/owned-partitions.ts';

const idsUpTo = (count: number) => Array.from({ length: count }, (_, id) => id);

const owned = (ids: readonly number[]): OwnedPartitions => ({ generation: 7, partitions: new Map([['t', ids]]) });

describe('ownedText', () => {
  it('has ranges, whatever the order of the partitions', () => {
    const { generation, partitions } = ownedText(owned([7, 1, 0, 2, 9, 8]));
    assert.deepEqual([generation, partitions], [7, { t: '0-2,7-9' }]);
  });

  it('leaves out topics without partitions, which the leader of another version may assign', () => {
    assert.deepEqual(ownedIn(ownedText(owned([]))), { generation: 7, partitions: new Map() });
  });

  it('is read as it was', () => {
    const dice = createDice(1);
    for (let i = 0; i < 200; i++) {
      const partitions = new Map(
        idsUpTo(dice.between(0, 4)).map((topic) => [
          `topic-${topic}`,
          idsUpTo(dice.between(1, 60)).filter((id) => id === 0 || dice.chance(60)),
        ]),
      );
      const text = JSON.stringify(ownedText({ generation: i, partitions }));
      assert.deepEqual(ownedIn(JSON.parse(text)), { generation: i, partitions });
    }
  });

  it('takes less than 6 bytes for each of 10,000 partitions, and as good as nothing for consecutive ones', () => {
    const bytes = (ids: readonly number[]) => Buffer.byteLength(JSON.stringify(ownedText(owned(ids))));
    const every = (step: number) => idsUpTo(10_000).map((id) => id * step);
    assert.ok(bytes(every(1)) < 60, `${bytes(every(1))}`);
    assert.ok(bytes(every(4)) < 60_000, `${bytes(every(4))}`);
  });
});

describe('ownedIn', () => {
  it('is undefined for what another program or version may send', () => {
    const of = (ranges: unknown) => ({ generation: 1, partitions: { t: ranges } });
    for (const value of [
      ...[undefined, null, 1, 'text', [], {}, { generation: 1 }, { generation: '1', partitions: {} }],
      ...[
        { generation: 1, partitions: null },
        { generation: 0.5, partitions: {} },
      ],
      ...['', '0-', '-1', '3-1', '1,1', '0-5,3', '0-9999999', '1e3', ' 1', [0, 1], 5].map(of),
    ])
      assert.equal(ownedIn(value), undefined, JSON.stringify(value));
  });
});
