import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { HASH_TAGS, tagIndexOf } from '../../../src/bus/redis/cluster/hash-tags.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../../src/base/log.ts';
import type { RecordContent } from '../../../src/kafka/batch.ts';
import type { RedisCluster } from '../../../stack/redis-cluster.ts';
import { randomName, redisCluster } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createConsumer, withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';
import { FakeGateways } from '../fake-gateways.ts';

const CHANNELS = 12;
/** Of these, channels of the shard that is lost. */
const LOST_CHANNELS = 4;
const HISTORY = { entries: 1000, bytes: 1_000_000, seconds: 600 };
/** A shard is lost and found again. */
const PATIENCE = { timeout: 120_000 };

describe('a worker whose bus has skipped messages', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('reads them again, also if its batch waits for gateways when the bus accepts them', PATIENCE, async (t) => {
    const topic = await outside.createTopic(randomName('topic'), 1);
    await outside.sendValues(topic, ['0', '1', '2', '3']);
    let from: number | undefined;
    let canRetake = false;
    let retakes = 0;
    const isBack = () => {
      if (canRetake) retakes++;
      return canRetake;
    };
    const published: number[] = [];
    const gateways = new FakeGateways();
    gateways.grant(topic, 0, 1);
    const { groupId, consumer } = createConsumer(t, outside.brokers, [topic], {
      environment: { KAFKA_FROM_BEGINNING: 'true' },
      gateways,
      ports: {
        convert: ({ value }) => ({ payload: String(value), destinations: [{ channel: topic }] }),
        publish: gateways.before((messages) => {
          published.push(...messages.map(({ offset }) => offset));
          return Promise.resolve();
        }),
        acquire: ({ keepsSkips }) => {
          if (!keepsSkips) from = undefined;
          return Promise.resolve({ from: () => from, canRetake: isBack, positions: () => '' });
        },
      },
    });
    await consumer.start();
    await waitFor('the first record', () => published.length === 1 && gateways.waiting(topic, 0) === 1, 30_000);
    from = 0;
    canRetake = true;
    await waitFor('the retake', () => retakes > 0);
    // kafkajs has applied the seek by then.
    await delay(2_000);
    gateways.grant(topic, 0, 1_000);
    await waitFor('the whole commit', async () => (await outside.committed(groupId, topic)) === 4, 30_000);
    assert.equal(published.filter((offset) => offset === 0).length, 2);
  });
});

describe('a worker on a Redis Cluster that has lost a shard without a replica', { concurrency: 4 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** A worker, and a pod that reads what each of the channels got. Record n is for channel n % 12. */
  async function createStage(t: TestContext) {
    const cluster = await redisCluster(t, { replicas: 0, nodeTimeoutMs: 1_000 });
    const prefix = randomName('prefix');
    const topic = await outside.createTopic(randomName('topic'), 1);
    const groupId = randomName('group');
    const startBus = async () => {
      const bus = new RedisBus({ url: cluster.url, prefix, log: createLog('silent'), silenceTimeoutMs: 2_000 });
      t.after(() => bus.close());
      await bus.start();
      return bus;
    };
    const pod = await startBus();
    const names = Array.from({ length: 20 * CHANNELS }, (_, i) => `${prefix}${topic}{i="${i}"}`);
    // Of names at random, all could be of one shard.
    const lost = names.filter((channel) => shardOf(channel) === 0).slice(0, LOST_CHANNELS);
    const others = names.filter((channel) => shardOf(channel) !== 0).slice(0, CHANNELS - LOST_CHANNELS);
    const channels = [...lost, ...others];
    const query = { from: '0-1', maxEntries: 1000, maxBytes: 1_000_000 };
    const received = async (channel: string) =>
      (await pod.history(channel, query)).entries.map(({ payload }) => Number(payload));
    const convert = ({ value }: RecordContent) => {
      const text = String(value);
      if (text === 'poison') return { poison: 'not_json' as const };
      return { payload: text, destinations: [{ channel: channels[Number(text) % CHANNELS]!, history: HISTORY }] };
    };
    const startWorker = async () => {
      const bus = await startBus();
      const setup = createConsumer(t, outside.brokers, [topic], {
        groupId,
        environment: { KAFKA_FROM_BEGINNING: 'true' },
        ports: {
          convert,
          publish: (messages, upTo) => bus.publish(messages, upTo),
          acquire: (lease) => bus.acquire(lease),
        },
      });
      await setup.consumer.start();
      return setup;
    };
    let sent = 0;
    const send = async (count: number) => {
      const values = Array.from({ length: count }, () => `${sent++}`);
      await outside.sendValues(topic, values);
    };
    /** What each channel must have got by now. */
    const expected = (channel: string) =>
      Array.from({ length: sent }, (_, n) => n).filter((n) => channels[n % CHANNELS] === channel);
    const haveAll = async (some: readonly string[]) => {
      const all = await Promise.all(some.map((channel) => received(channel).catch(() => [])));
      return some.every((channel, i) => all[i]!.length >= expected(channel).length);
    };
    assert.equal(channels.length, CHANNELS);
    return { cluster, topic, groupId, channels, expected, received, haveAll, lost, others, send, startWorker };
  }

  function shardOf(channel: string): number {
    return Math.floor((HASH_TAGS[tagIndexOf(channel)]!.slot * 3) / 16_384);
  }

  /** Freezes the first shard, and returns how to wake it. */
  function freeze(t: TestContext, cluster: RedisCluster) {
    const { process } = cluster.primaries[0]!;
    process.kill('SIGSTOP');
    const wake = () => void process.kill('SIGCONT');
    t.after(wake);
    return wake;
  }

  it(
    'publishes to the other shards, and to this one when it is back: nothing is lost, doubled or reordered',
    PATIENCE,
    async (t) => {
      const { cluster, topic, groupId, channels, expected, received, haveAll, others, send, startWorker } =
        await createStage(t);
      const { counts, consumer } = await startWorker();
      await send(24);
      await waitFor('the first records', () => haveAll(channels), 30_000);
      await waitFor('their commit', async () => (await outside.committed(groupId, topic)) === 24);
      const wake = freeze(t, cluster);
      await send(24);
      await waitFor('the other channels', () => haveAll(others), 30_000);
      await waitFor('the count', () => counts.skipped === 1);
      assert.ok(consumer.waits.some((wait) => wait.for === 'a shard of the Redis Cluster'));
      await send(24);
      await waitFor('the other channels, at once', () => haveAll(others), 30_000);
      const committed = await outside.committed(groupId, topic);
      assert.ok(committed >= 24 && committed < 48, `${committed}: a record with a skipped message is not committed`);
      wake();
      await waitFor('the lost channels', () => haveAll(channels), 60_000);
      await waitFor('the whole commit', async () => (await outside.committed(groupId, topic)) === 72, 30_000);
      await waitFor('the count', () => counts.skipped === 0);
      for (const channel of channels) assert.deepEqual(await received(channel), expected(channel));
    },
  );

  it('dead-letters a poison record once, also where its partition is read again', PATIENCE, async (t) => {
    const { cluster, topic, groupId, others, channels, haveAll, send, startWorker } = await createStage(t);
    const { counts } = await startWorker();
    await send(12);
    await waitFor('the first records', () => haveAll(channels), 30_000);
    const wake = freeze(t, cluster);
    await send(12);
    await outside.sendValues(topic, ['poison']);
    await send(12);
    await waitFor('the other channels', () => haveAll(others), 30_000);
    await waitFor('the poison record', () => counts.poison.length > 0);
    wake();
    await waitFor('the lost channels', () => haveAll(channels), 60_000);
    await waitFor('the whole commit', async () => (await outside.committed(groupId, topic)) === 37, 30_000);
    assert.deepEqual(counts.poison, ['not_json']);
  });

  it('leaves the skipped records to the next worker', PATIENCE, async (t) => {
    const { cluster, channels, expected, received, others, haveAll, send, startWorker } = await createStage(t);
    const first = await startWorker();
    await send(12);
    await waitFor('the first records', () => haveAll(channels), 30_000);
    const wake = freeze(t, cluster);
    await send(24);
    await waitFor('the other channels', () => haveAll(others), 30_000);
    await first.consumer.close();
    await startWorker();
    await send(12);
    await waitFor('the other channels', () => haveAll(others), 60_000);
    wake();
    await waitFor('the lost channels', () => haveAll(channels), 60_000);
    for (const channel of channels) assert.deepEqual(await received(channel), expected(channel));
  });

  it(
    'publishes records that begin again to a shard that was away meanwhile, also by the next worker',
    PATIENCE,
    async (t) => {
      const { cluster, topic, groupId, channels, expected, received, lost, others, haveAll, send, startWorker } =
        await createStage(t);
      const first = await startWorker();
      await send(24);
      await waitFor('the first records', () => haveAll(channels), 30_000);
      await first.consumer.close();
      const before = new Map(channels.map((channel) => [channel, expected(channel)]));
      const wake = freeze(t, cluster);
      await outside.ask((admin) => admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '0' }] }));
      const haveAllAgain = async (some: readonly string[]) => {
        const all = await Promise.all(some.map((channel) => received(channel).catch(() => [])));
        return some.every((channel, i) => all[i]!.length >= before.get(channel)!.length + expected(channel).length);
      };
      const second = await startWorker();
      await waitFor('the other channels', () => haveAllAgain(others), 60_000);
      await second.consumer.close();
      await startWorker();
      await send(12);
      await waitFor('the other channels', () => haveAllAgain(others), 60_000);
      wake();
      await waitFor('the lost channels', () => haveAllAgain(lost), 60_000);
      for (const channel of channels)
        assert.deepEqual(await received(channel), [...before.get(channel)!, ...expected(channel)]);
    },
  );
});
