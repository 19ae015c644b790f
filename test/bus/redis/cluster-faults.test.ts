import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import type { RedisCluster } from '../../../stack/redis-cluster.ts';
import { HASH_TAGS, tagIndexOf } from '../../../src/bus/redis/cluster/hash-tags.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { Continuity } from '../../../src/gateway/fanout/continuity.ts';
import type { Skips } from '../../../src/bus/publisher.ts';
import { BusUnavailableError, FencedError } from '../../../src/base/errors.ts';
import { moveSlot } from '../../support/cluster-slots.ts';
import { randomName, redisCluster } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';

const TOPIC = 'bids';
/** Enough for every shard to have many. */
const CHANNELS = 96;
const HISTORY = { entries: 10_000, bytes: 10_000_000, seconds: 600 };
/** A fault and its repair fit in. */
const PATIENCE = { timeout: 180_000 };

async function startBus(t: TestContext, cluster: RedisCluster): Promise<RedisBus> {
  const bus = new RedisBus({ url: cluster.url, prefix: 'crier:', log: logLines().log, silenceTimeoutMs: 2_000 });
  t.after(() => bus.close());
  await bus.start();
  return bus;
}

/**
 * A worker that publishes chunks over all channels until `stop`, and a gateway that listens to them. Each message has its offset as
 * payload.
 */
async function startFlow(t: TestContext, cluster: RedisCluster) {
  const [worker, gateway] = [await startBus(t, cluster), await startBus(t, cluster)];
  const prefix = randomName();
  const channels = Array.from({ length: CHANNELS }, (_, i) => `crier:${TOPIC}{id="${prefix}${i}"}`);
  const heard = new Map<string, number[]>(channels.map((channel) => [channel, []]));
  const sent = new Map<string, number[]>(channels.map((channel) => [channel, []]));
  /** Offsets after which a channel had a gap. */
  const gaps = new Map<string, number[]>(channels.map((channel) => [channel, []]));
  const epochs = new Map<string, Set<number>>(channels.map((channel) => [channel, new Set()]));
  for (const channel of channels) {
    // As the fan-out does: a frozen primary that wakes executes what waited in its sockets, and passes it on to its replacement.
    const continuity = new Continuity();
    await gateway.subscribe(
      channel,
      (payload, coordinates) => {
        if (continuity.observe(coordinates!) === 'stale') return;
        heard.get(channel)!.push(Number(payload));
        epochs.get(channel)!.add(coordinates!.epoch);
      },
      () => gaps.get(channel)!.push(heard.get(channel)!.at(-1) ?? -1),
    );
  }
  let accepted = -1;
  let isStopped = false;
  let refusals = 0;
  const acquire = () => worker.acquire({ topic: TOPIC, partition: 0, position: accepted });
  await acquire();
  const flow = (async () => {
    while (!isStopped) {
      const first = accepted + 1;
      const messages = channels
        .filter((_, i) => (i + first) % 4 === 0)
        .map((channel, i) => {
          return { channel, payload: `${first + i}`, offset: first + i, timestamp: 0, history: HISTORY };
        });
      const upTo = first + messages.length - 1;
      for (let isAccepted = false; !isAccepted;) {
        try {
          await worker.publish(messages, { topic: TOPIC, partition: 0, offset: upTo });
          isAccepted = true;
        } catch (error) {
          refusals++;
          if (error instanceof FencedError) await acquire().catch(() => undefined);
          else assert.ok(error instanceof BusUnavailableError, String(error));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
      for (const { channel, offset } of messages) sent.get(channel)!.push(offset);
      accepted = upTo;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const progress = async (offsets: number) => {
    const from = accepted;
    await waitFor('the flow', () => accepted >= from + offsets, 60_000);
  };
  /** Ends the flow. Nothing is doubled or out of order, and what is missing follows a gap that was told and is in the history. */
  const settle = async () => {
    isStopped = true;
    await flow;
    await waitFor('the bus', () => gateway.isAvailable, 60_000);
    await Promise.all(channels.map((channel) => gateway.subscribe(channel, () => undefined)));
    let missing = 0;
    for (const channel of channels) {
      const all = sent.get(channel)!;
      await waitFor('the last message, or a gap', () => {
        const told = gaps.get(channel)!.length > 0;
        return heard.get(channel)!.at(-1) === all.at(-1) || told;
      });
      const received = heard.get(channel)!;
      assert.deepEqual(
        received,
        [...new Set(received)].sort((a, b) => a - b),
        'once, in order',
      );
      const lost = all.filter((offset) => !received.includes(offset));
      missing += lost.length;
      if (lost.length === 0) continue;
      assert.ok(gaps.get(channel)!.length > 0, `${channel} misses ${lost.join()} and was told of no gap`);
      const query = { from: '0-1', maxEntries: 10_000, maxBytes: 10_000_000 };
      const kept = (await gateway.history(channel, query)).entries.map(({ payload }) => Number(payload));
      if (epochs.size === 1)
        assert.deepEqual(
          lost.filter((offset) => !kept.includes(offset)),
          [],
          'kept for a replay',
        );
    }
    return {
      missing,
      refusals,
      gaps: [...gaps.values()].flat().length,
      epochs: Math.max(...[...epochs.values()].map(({ size }) => size)),
    };
  };
  return { worker, gateway, channels, progress, settle };
}

/** The channels of the shard that has a slot. */
function tagOf(channel: string) {
  return HASH_TAGS[tagIndexOf(channel)]!;
}

function clientOf(t: TestContext, { url }: { url: string }): Redis {
  const client = new Redis(url);
  client.on('error', () => undefined);
  t.after(() => client.disconnect());
  return client;
}

/** Moves the tags of a shard without keys to another one, and takes its node out of the cluster. */
async function takeOut({ primaries }: RedisCluster, out: number, others: readonly number[]): Promise<void> {
  const tags = HASH_TAGS.filter(({ slot }) => Math.floor((slot * 3) / 16_384) === out);
  for (const { slot } of tags) await moveSlot(slot, primaries[out]!, primaries[others[0]!]!);
  const node = new Redis(primaries[out]!.url);
  const id = await node.cluster('MYID');
  for (const other of others) {
    const client = new Redis(primaries[other]!.url);
    await client.call('CLUSTER', 'FORGET', id);
    client.disconnect();
  }
  await node.call('CLUSTER', 'RESET');
  node.disconnect();
}

describe('a Redis Cluster with a fault', { concurrency: 4 }, () => {
  it('continues after a primary was killed, with the replica that has its slots', PATIENCE, async (t) => {
    const cluster = await redisCluster(t);
    const { gateway, progress, settle } = await startFlow(t, cluster);
    await progress(500);
    cluster.primaries[0]!.process.kill('SIGKILL');
    await waitFor('the failure', () => !gateway.isAvailable);
    await waitFor('the replica', () => gateway.isAvailable, 60_000);
    await progress(500);
    const { refusals, gaps } = await settle();
    assert.ok(refusals > 0 && gaps > 0);
  });

  it('continues after a primary was frozen, and without it when it wakes as a replica', PATIENCE, async (t) => {
    const cluster = await redisCluster(t);
    const { gateway, progress, settle } = await startFlow(t, cluster);
    await progress(500);
    const frozen = cluster.primaries[1]!;
    frozen.process.kill('SIGSTOP');
    t.after(() => frozen.process.kill('SIGCONT'));
    await waitFor('the failure', () => !gateway.isAvailable, 60_000);
    await waitFor('the replica', () => gateway.isAvailable, 60_000);
    await progress(500);
    frozen.process.kill('SIGCONT');
    await progress(500);
    await settle();
  });

  it('moves the channels of a slot that moves under load, keys and all', PATIENCE, async (t) => {
    const cluster = await redisCluster(t, { replicas: 0 });
    const { channels, progress, settle } = await startFlow(t, cluster);
    await progress(500);
    const [from, to] = cluster.primaries;
    const slots = new Set(channels.map((channel) => tagOf(channel).slot).filter((slot) => slot < 5_461));
    for (const slot of [...slots].slice(0, 4)) {
      await moveSlot(slot, from!, to!);
      await progress(100);
    }
    const { gaps, epochs } = await settle();
    assert.ok(gaps > 0, 'the gateway was told');
    assert.equal(epochs, 1, 'no data is lost');
  });

  it('refuses a chunk before it publishes anything for a slot that is about to move', PATIENCE, async (t) => {
    const cluster = await redisCluster(t, { replicas: 0 });
    const [worker, gateway] = [await startBus(t, cluster), await startBus(t, cluster)];
    const channel = `crier:${TOPIC}{id="${randomName()}"}`;
    const { slot, name } = tagOf(channel);
    const owner = cluster.primaries.findIndex((_, i) => slot < Math.floor(((i + 1) * 16_384) / 3));
    const other = (owner + 1) % 3;
    const heard: string[] = [];
    await gateway.subscribe(channel, (payload) => heard.push(String(payload)));
    await worker.acquire({ topic: TOPIC, partition: 0, position: -1 });
    const [from, to] = [clientOf(t, cluster.primaries[owner]!), clientOf(t, cluster.primaries[other]!)];
    const id = await to.cluster('MYID');
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await from.cluster('MYID'));
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', id);
    const publish = () =>
      worker.publish([{ channel, payload: 'x', offset: 0, timestamp: 0, history: HISTORY }], {
        topic: TOPIC,
        partition: 0,
        offset: 0,
      });
    await assert.rejects(publish(), BusUnavailableError);
    // Twin: a script without the first key publishes, and is refused at the key of the history.
    const twin = `redis.call('SPUBLISH', ARGV[1], 'twin') redis.call('XADD', ARGV[1] .. '.x', '*', 'a', 'b')`;
    await assert.rejects(from.eval(twin, 1, `${name}crier:owners`, name + channel));
    await from.call('CLUSTER', 'SETSLOT', slot, 'STABLE');
    await to.call('CLUSTER', 'SETSLOT', slot, 'STABLE');
    await publish();
    await publish();
    await waitFor('the message', () => heard.includes('x'));
    assert.deepEqual(heard, ['twin', 'x']);
  });

  it('delivers a chunk once that one shard refused at first', PATIENCE, async (t) => {
    const cluster = await redisCluster(t, { replicas: 0 });
    const { progress, settle, gateway } = await startFlow(t, cluster);
    await progress(200);
    const full = clientOf(t, cluster.primaries[2]!);
    await full.config('SET', 'maxmemory', '1');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await full.config('SET', 'maxmemory', '0');
    await progress(500);
    const { missing, refusals, epochs } = await settle();
    assert.ok(refusals > 0);
    assert.deepEqual([missing, epochs], [0, 1]);
    assert.ok(gateway.isAvailable);
  });

  it('tells the next worker no position of a shard that was away when the records began again', PATIENCE, async (t) => {
    const cluster = await redisCluster(t, { replicas: 0 });
    const [worker, next, gateway] = [
      await startBus(t, cluster),
      await startBus(t, cluster),
      await startBus(t, cluster),
    ];
    const prefix = randomName();
    const channels = Array.from({ length: CHANNELS }, (_, i) => `crier:${TOPIC}{id="${prefix}${i}"}`);
    const lost = channels.filter((channel) => tagOf(channel).slot < 5_461);
    const message = (channel: string, offset: number) => {
      return { channel, payload: `${offset}`, offset, timestamp: 0, history: HISTORY };
    };
    const upTo = { topic: TOPIC, partition: 0, offset: CHANNELS - 1 };
    await worker.acquire({ topic: TOPIC, partition: 0, position: -1, startId: 'one' });
    await worker.publish(channels.map(message), upTo);
    const { process } = cluster.primaries[0]!;
    process.kill('SIGSTOP');
    t.after(() => process.kill('SIGCONT'));
    const start = { topic: TOPIC, partition: 0, position: -1, startId: 'two' };
    const granted: (Skips | undefined)[] = [];
    await waitFor(
      'a lease of the other shards',
      () =>
        worker.acquire(start).then(
          (skips) => granted.push(skips) > 0,
          () => false,
        ),
      30_000,
    );
    await worker.publish(
      [...channels.keys()].filter((i) => !lost.includes(channels[i]!)).map((i) => message(channels[i]!, i)),
      upTo,
    );
    const positions = granted[0]!.positions();
    process.kill('SIGCONT');
    await waitFor('the shard', () => next.isAvailable && gateway.isAvailable, 30_000);
    await next.acquire({ ...start, position: CHANNELS - 1, positions });
    await next.publish(channels.map(message), upTo);
    for (const [i, channel] of channels.entries()) {
      const { entries } = await gateway.history(channel, { from: '0-1', maxEntries: 9, maxBytes: 999 });
      assert.deepEqual(
        entries.map(({ payload }) => Number(payload)),
        [i, i],
        channel,
      );
    }
  });

  it(
    'subscribes plain channels at another node when theirs is taken out of the cluster and still runs',
    PATIENCE,
    async (t) => {
      const cluster = await redisCluster(t, { replicas: 0 });
      const bus = await startBus(t, cluster);
      const channel = randomName('typing');
      const heard: string[] = [];
      let gaps = 0;
      await bus.subscribe(
        channel,
        (payload) => heard.push(String(payload)),
        () => gaps++,
      );
      const admins = cluster.primaries.map((primary) => clientOf(t, primary));
      const counts = await Promise.all(admins.map((admin) => admin.pubsub('NUMSUB', channel)));
      const out = counts.findIndex(([, count]) => count === 1);
      const others = [0, 1, 2].filter((i) => i !== out);
      await takeOut(cluster, out, others);
      await waitFor('the gap', () => gaps === 1, 30_000);
      await admins[others[0]!]!.publish(channel, '"x"');
      await waitFor('the message', () => heard.length === 1);
      assert.deepEqual(await admins[out]!.pubsub('NUMSUB', channel), [channel, 0]);
    },
  );

  it('asks a node no more that was taken out of the cluster, unless REDIS_URL names it', PATIENCE, async (t) => {
    const cluster = await redisCluster(t, { replicas: 0 });
    const former = clientOf(t, cluster.primaries[0]!);
    let asked = 0;
    // Refuses, so that the others are asked.
    const seed = createServer((socket) => {
      asked++;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    t.after(() => seed.close());
    await once(seed, 'listening');
    const { port } = seed.address() as AddressInfo;
    const url = `redis+cluster://127.0.0.1:${port},127.0.0.1:${cluster.primaries[1]!.port}`;
    const bus = await startBus(t, { ...cluster, url });
    await takeOut(cluster, 0, [1, 2]);
    const formerLabel = `127.0.0.1:${cluster.primaries[0]!.port}`;
    await waitFor('the new map', () => !bus.links.some(({ label }) => label === formerLabel), 30_000);
    for (const { process } of cluster.primaries.slice(1)) process.kill('SIGKILL');
    await waitFor('the loss', () => !bus.isAvailable);
    const connections = async () => /total_connections_received:(\d+)/.exec(await former.info('stats'))![1];
    const before = await connections();
    const from = asked;
    await waitFor('three rounds', () => asked > from + 3, 30_000);
    assert.equal(await connections(), before);
  });

  it('starts although the first node of REDIS_URL was taken out of the cluster and still runs', PATIENCE, async (t) => {
    const cluster = await redisCluster(t, { replicas: 0 });
    await takeOut(cluster, 0, [1, 2]);
    const bus = await startBus(t, cluster);
    const labels = new Set(bus.links.map(({ label }) => label));
    assert.deepEqual(labels, new Set(cluster.primaries.slice(1).map(({ port }) => `127.0.0.1:${port}`)));
    assert.ok(bus.isAvailable);
  });
});
