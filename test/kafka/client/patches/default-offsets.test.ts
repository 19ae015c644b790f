import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PartitionAssigner } from 'kafkajs';
import { withoutDefaultOffsets } from '../../../../src/kafka/client/patches/default-offsets.ts';

it('asks no leader for the offsets of partitions without a commit (twin: kafkajs does)', async () => {
  const asked: unknown[] = [];
  const cluster = {
    fetchTopicsOffset: (topics: unknown) => Promise.resolve(asked.push(topics)),
  };
  const tools = { cluster } as unknown as Parameters<PartitionAssigner>[0];
  const topics = [{ topic: 'bids', partitions: [{ partition: 0 }] }];
  await cluster.fetchTopicsOffset(topics);
  assert.deepEqual(asked.splice(0), [topics]);
  withoutDefaultOffsets(() => undefined as unknown as ReturnType<PartitionAssigner>)(tools);
  assert.deepEqual(await cluster.fetchTopicsOffset(topics), [{ topic: 'bids', partitions: [] }]);
  assert.deepEqual(asked, []);
});
