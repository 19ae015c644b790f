import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { BackgroundJoins } from '../../../../src/kafka/client/patches/background-joins.ts';
import type { JoiningGroup, OffsetManager, Runner } from '../../../../src/kafka/client/patches/runner.ts';

const require = createRequire(import.meta.url);
/** Of kafkajs: they are what the patch keeps in step. */
const KafkaOffsetManager = require('kafkajs/src/consumer/offsetManager') as new (options: object) => Offsets;
const SeekOffsets = require('kafkajs/src/consumer/seekOffsets') as new () => Map<string, unknown> & {
  set(topic: string, partition: number, offset: string): void;
  has(topic: string, partition: number): boolean;
};

interface Offsets extends OffsetManager {
  resolveOffsets(): Promise<void>;
  resolveOffset(position: object): void;
  uncommittedOffsets(): { topics: { topic: string; partitions: { partition: string; offset: string }[] }[] };
}

/** A member of a group, whose commits are 100 for partition 0 and 5 for partition 1. */
function createMember() {
  const commits = ['100', '5'];
  const coordinator = {
    isConnected: () => true,
    offsetFetch: ({ topics }: { topics: { topic: string; partitions: { partition: number }[] }[] }) =>
      Promise.resolve({
        responses: topics.map(({ topic, partitions }) => ({
          topic,
          partitions: partitions.map(({ partition }) => ({ partition, offset: commits[partition] })),
        })),
      }),
  };
  const cluster = { committedOffsets: () => ({}), fetchTopicsOffset: () => Promise.resolve([]) };
  let manager: Offsets | null = null;
  const batches: unknown[] = [];
  const seekOffset = new SeekOffsets();
  const group = {
    generationId: 1,
    offsetManager: null as OffsetManager | null,
    seekOffset,
    joinAndSync: () => Promise.resolve(),
    resolveOffset: (position: object) => manager!.resolveOffset(position),
  };
  const runner = {
    running: true,
    consumerGroup: group as unknown as JoiningGroup,
    onCrash: assert.fail,
    heartbeat: () => Promise.resolve(),
    handleBatch: (batch: unknown) => Promise.resolve(void batches.push(batch)),
  } as unknown as Runner;
  const joins = new BackgroundJoins(() => undefined);
  joins.attach(runner);
  const join = (generationId: number, partitions: readonly number[]): Offsets => {
    const options = { cluster, coordinator, autoCommit: false, topicConfigurations: { t: {} }, groupId: 'g' };
    const next = { ...options, generationId, memberId: 'm', memberAssignment: { t: partitions } };
    manager = new KafkaOffsetManager({ ...next, instrumentationEmitter: { emit: () => undefined } });
    group.offsetManager = manager;
    return manager;
  };
  const receive = async (partition: number, fetchedOffset: string) => {
    await runner.handleBatch({ topic: 't', partition, fetchedOffset });
    return batches.length;
  };
  const resolve = (partition: number, offset: string) => group.resolveOffset({ topic: 't', partition, offset });
  return { joins, join, resolve, receive, seekOffset };
}

const committable = (offsets: Offsets) =>
  offsets.uncommittedOffsets().topics.flatMap(({ partitions }) => partitions.map(({ partition }) => partition));

describe('BackgroundJoins', () => {
  it('commits the partitions that are read, beside one that is kept and was never fetched', async () => {
    const { join, resolve } = createMember();
    const first = join(1, [0, 1]);
    await first.resolveOffsets();
    resolve(0, '110');
    const second = join(2, [0, 1]);
    assert.deepEqual(committable(second), ['0']);
    await second.resolveOffsets();
    assert.deepEqual(committable(second), ['0']);
    assert.equal(second.resolvedOffsets['t']?.[0], '111');
  });

  it('reads a partition whose ownership begins anew from its commit on, and drops what was fetched of it', async () => {
    const { joins, join, resolve, receive, seekOffset } = createMember();
    await join(1, [0, 1]).resolveOffsets();
    resolve(0, '110');
    resolve(1, '49');
    seekOffset.set('t', 1, '0');
    const second = join(2, [0, 1]);
    assert.deepEqual(committable(second), ['0', '1']);
    joins.reset([{ topic: 't', partition: 1 }]);
    assert.equal(seekOffset.has('t', 1), false);
    assert.deepEqual(committable(second), ['0']);
    assert.equal(await receive(1, '50'), 0);
    assert.equal(await receive(1, '0'), 0);
    await second.resolveOffsets();
    assert.equal(await receive(1, '50'), 0);
    assert.equal(await receive(1, '5'), 1);
    assert.equal(await receive(0, '111'), 2);
    assert.deepEqual(committable(second), ['0']);
  });
});
