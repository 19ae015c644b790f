import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AssignedPartitions } from '../../src/kafka/assigned-partitions.ts';

const assignment = (partitions: Record<string, number[]>) =>
  new Map(
    Object.entries(partitions).map(([topic, numbers]) => [topic, new Map(numbers.map((one) => [one, undefined]))]),
  );

const at = (partition: number, position: number, end: number) => ({
  topic: 't',
  partition,
  position,
  end,
  high: end,
  isPaused: false,
});

/** The partitions 0 and 1 of a topic, assigned at 0 ms. */
function createPartitions() {
  const partitions = new AssignedPartitions();
  partitions.assign(assignment({ t: [0, 1] }), 0);
  const rows = () => partitions.list.map(({ partition, lag, progressedAt }) => [partition, lag, progressedAt]);
  return { partitions, rows };
}

describe('AssignedPartitions', () => {
  it('does not know a lag before it is measured, and not again after the positions are lost', () => {
    const { partitions, rows } = createPartitions();
    assert.deepEqual(rows(), [
      [0, NaN, 0],
      [1, NaN, 0],
    ]);
    partitions.measure([at(0, 5, 7), at(1, 3, 3)], 10);
    assert.deepEqual(rows(), [
      [0, 2, 0],
      [1, 0, 10],
    ]);
    partitions.loseLags();
    assert.deepEqual(rows(), [
      [0, NaN, 0],
      [1, NaN, 10],
    ]);
  });

  it('does not know the lag of a partition whose position the brokers do not report', () => {
    const { partitions, rows } = createPartitions();
    partitions.measure([at(0, 5, 7), at(1, 3, 4)], 10);
    partitions.measure([at(0, 6, 7)], 20);
    assert.deepEqual(rows(), [
      [0, 1, 0],
      [1, NaN, 0],
    ]);
  });

  it('takes a position beyond the end, which was read earlier, for no lag', () => {
    const { partitions, rows } = createPartitions();
    partitions.measure([at(0, 8, 7)], 10);
    assert.deepEqual(rows()[0], [0, 0, 10]);
  });

  it('forgets a partition that a join takes away, and keeps the last progress of one that stays', () => {
    const { partitions, rows } = createPartitions();
    partitions.progress('t', 1, 5);
    partitions.progress('t', 7, 5);
    partitions.assign(assignment({ t: [1, 2] }), 10);
    assert.deepEqual(rows(), [
      [1, NaN, 5],
      [2, NaN, 10],
    ]);
    partitions.measure([at(0, 5, 7)], 20);
    assert.equal(rows().length, 2);
  });
});
