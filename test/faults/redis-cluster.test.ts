import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisServer } from '../../stack/redis-server.ts';
import { startRedisSentinel } from '../../stack/redis-sentinel.ts';
import { channelName } from '../../src/bus/channel.ts';
import { HASH_TAGS, tagIndexOf } from '../../src/bus/redis/cluster/hash-tags.ts';
import type { Pod } from '../end-to-end/pod.ts';
import { moveSlot } from '../support/cluster-slots.ts';
import { kafkaBrokers, redisCluster } from '../support/services.ts';
import { withRedis } from '../support/with-redis.ts';
import { isFull } from './form.ts';
import { LedgerStream } from './ledger-stream.ts';
import { Listener } from './listener.ts';
import { SecureCluster } from './secure-cluster.ts';
import { createStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** Enough for each shard to have some of their channels. */
const LANES = 12;
const ENTRIES_PER_SECOND = isFull ? 500 : 100;
const SHARDS = 3;
const PAUSE_MS = isFull ? 60_000 : 8000;
const MOVES = isFull ? LANES : 3;
/** Holds what the worker publishes at once after the longest fault. */
const HISTORY = { entries: 10_000, bytes: 10_000_000, seconds: 600 };
const MAX_FAILOVER_MS = 15_000;
/** What a replica that lags is behind. */
const LAG_BYTES = 200_000;
const ROTATIONS = isFull ? 3 : 1;

/** A worker, a gateway with a stock client and a client of @crier/client per lane, and a running ledger in Kafka. */
class Flow {
  readonly stage: Stage;
  readonly worker: Pod;
  readonly gateway: Pod;
  readonly stream: LedgerStream;
  readonly listeners: readonly Listener[];

  private constructor(parts: Pick<Flow, 'stage' | 'worker' | 'gateway' | 'stream' | 'listeners'>) {
    this.stage = parts.stage;
    this.worker = parts.worker;
    this.gateway = parts.gateway;
    this.stream = parts.stream;
    this.listeners = parts.listeners;
  }

  static async start(
    t: TestContext,
    redisUrl: string,
    redisSettings: Readonly<Record<string, string>> = {},
  ): Promise<Flow> {
    const brokers = await kafkaBrokers(t);
    const stage = await createStage(t, { brokers, partitions: LANES, history: HISTORY });
    const settings = { REDIS_URL: redisUrl, ...redisSettings };
    const [gateway, worker] = await Promise.all([stage.start('gateway', settings), stage.start('worker', settings)]);
    await stage.hasWorkers(1);
    const { name: topic, partitions } = stage;
    const stream = new LedgerStream(t, { brokers, topic, partitions, recordsPerSecond: ENTRIES_PER_SECOND });
    const url = gateway.url.replace(/^http/, 'ws');
    const listeners = stream.lanes.flatMap((lane) => [
      new Listener(t, { kind: 'stock', url, lanes: [lane] }),
      new Listener(t, { kind: 'helper', url, lanes: [lane] }),
    ]);
    await stage.until(
      'every subscription',
      async () => (await gateway.metric('crier_subscriptions')) === listeners.length,
    );
    stream.start();
    await stage.until('the first entries', () => listeners.every(({ heard }) => heard.length > 1));
    return new Flow({ stage, worker, gateway, stream, listeners });
  }

  /** The slot of the channel of a lane. */
  slotOf(lane: string): number {
    const { name } = this.stage;
    return HASH_TAGS[tagIndexOf(channelName(`${name}:`, name, [{ path: 'lane', value: lane }]))]!.slot;
  }

  /** Resolves when each listener that `isMeant` had received an entry written after this call, with the ms that this took. */
  async hears(what: string, isMeant: (lane: string) => boolean = () => true): Promise<number> {
    const [since, writtenAfter] = [performance.now(), Date.now()];
    const meant = this.listeners.filter(({ lanes }) => isMeant(lanes[0]!));
    await this.stage.until(`${what} at ${meant.length} listeners`, () =>
      meant.every(({ heard }) => (heard.at(-1)?.entry.writtenAt ?? 0) >= writtenAfter),
    );
    return performance.now() - since;
  }

  async gaps(): Promise<number> {
    return this.gateway.metric('crier_bus_gaps_total');
  }

  /** Ends the ledger. Nothing is lost, doubled or out of order, and no socket was closed. */
  async expectWhole(t: TestContext): Promise<void> {
    const { stream, listeners, stage } = this;
    await stream.end();
    const last = new Map(stream.written.map(({ lane, sequence }) => [lane, sequence]));
    const hasLast = ({ lanes, heard }: Listener) => heard.at(-1)?.entry.sequence === last.get(lanes[0]!);
    const missing = await stage
      .until('the last entry at every listener', () => listeners.every(hasLast))
      .then(
        () => [],
        (error: Error) => [error.message],
      );
    const told = listeners.filter(({ heard }) => heard.some(({ extensions }) => extensions?.gap)).length;
    t.diagnostic(`${stream.written.length} entries, ${await this.gaps()} gaps of channels, told to ${told} clients`);
    const faults = listeners.map((listener) => listener.shortcomings(stream.written)).filter((text) => text !== '');
    assert.deepEqual([...faults, ...missing], []);
    assert.deepEqual([...new Set(listeners.map(({ silentLosses }) => silentLosses))], [0]);
    assert.ok(listeners.every(({ isConnected, absencesMs }) => isConnected && absencesMs.length === 0));
  }
}

const shardOf = (slot: number) => Math.floor((slot * SHARDS) / 16_384);

function report(t: TestContext, what: string, ms: number): void {
  t.diagnostic(`${what}: ${(ms / 1000).toFixed(1)} s`);
  if (isFull) assert.ok(ms <= MAX_FAILOVER_MS, `${what}: ${ms} ms`);
}

function pause(t: TestContext, servers: readonly RedisServer[]): () => void {
  const wake = () => servers.forEach(({ process }) => process.kill('SIGCONT'));
  t.after(wake);
  for (const { process } of servers) process.kill('SIGSTOP');
  return wake;
}

describe('a Redis Cluster under a flow of records', () => {
  it('loses no event when a primary is killed: its replica has the channels', async (t) => {
    const cluster = await redisCluster(t);
    const flow = await Flow.start(t, cluster.url);
    cluster.primaries[shardOf(flow.slotOf('0'))]!.process.kill('SIGKILL');
    report(t, 'every lane after the kill', await flow.hears('entries written after the kill'));
    assert.ok((await flow.gaps()) > 0);
    await flow.expectWhole(t);
  });

  it('loses no event when a replica that lags takes over', async (t) => {
    const password = 'pw';
    const cluster = await redisCluster(t, { password });
    const flow = await Flow.start(t, cluster.url.replace('//', `//:${password}@`));
    const shard = shardOf(flow.slotOf('0'));
    const [primary, replica] = [cluster.primaries[shard]!, cluster.replicas[shard]!];
    // The replica is cut off and cannot log in again. It may take over for 30 s from then on.
    await withRedis(replica, { password }, (client) => client.config('SET', 'masterauth', 'another'));
    await withRedis(primary, { password }, (client) => client.call('CLIENT', 'KILL', 'TYPE', 'replica'));
    const offset = async (server: RedisServer) =>
      Number(/master_repl_offset:(\d+)/.exec(await withRedis(server, { password }, (client) => client.info()))![1]);
    const before = await offset(replica);
    await flow.stage.until('the replica to lag', async () => (await offset(primary)) > before + LAG_BYTES);
    assert.equal(await offset(replica), before);
    primary.process.kill('SIGKILL');
    report(t, 'every lane after the kill', await flow.hears('entries written after the kill'));
    await flow.expectWhole(t);
  });

  it('loses no event while a shard is paused with its replica: only its channels wait, and are read again', async (t) => {
    const cluster = await redisCluster(t);
    const flow = await Flow.start(t, cluster.url);
    const lost = shardOf(flow.slotOf('0'));
    const wake = pause(t, [cluster.primaries[lost]!, cluster.replicas[lost]!]);
    const pausedAt = performance.now();
    await flow.worker.counts('crier_skipped_partitions', 1);
    await flow.hears('entries of the other shards', (lane) => shardOf(flow.slotOf(lane)) !== lost);
    const { body } = await flow.worker.readiness();
    assert.match(JSON.stringify(body['waiting_partitions']), /"a shard of the Redis Cluster"/);
    await delay(Math.max(0, PAUSE_MS - (performance.now() - pausedAt)));
    wake();
    report(t, 'every lane after the pause', await flow.hears('entries written after the pause'));
    await flow.stage.until(
      'no skipped partition',
      async () => (await flow.worker.metric('crier_skipped_partitions')) === 0,
    );
    await flow.expectWhole(t);
  });

  it('loses no event while slots move to another shard', async (t) => {
    const cluster = await redisCluster(t, { replicas: 0 });
    const flow = await Flow.start(t, cluster.url);
    const slots = [...new Set(flow.stream.lanes.map((lane) => flow.slotOf(lane)))].slice(0, MOVES);
    for (const slot of slots) {
      const from = shardOf(slot);
      await moveSlot(slot, cluster.primaries[from]!, cluster.primaries[(from + 1) % SHARDS]!);
      report(t, `every lane after slot ${slot} moved`, await flow.hears('entries written after the move'));
    }
    assert.ok((await flow.gaps()) > 0);
    await flow.expectWhole(t);
  });
});

describe('a Redis Cluster whose certificates are rotated', () => {
  it('loses no event and closes no socket, whether links stay open, are cut, or a replica takes over', async (t) => {
    const secure = await SecureCluster.start(t);
    const { cluster, pods } = secure;
    const flow = await Flow.start(t, cluster.tlsUrl, {
      REDIS_TLS_CA_FILE: pods.trusted,
      REDIS_TLS_CERT_FILE: pods.certificate,
      REDIS_TLS_KEY_FILE: pods.key,
    });
    const readings = () =>
      [flow.gateway, flow.worker].map(({ log }) => log.split('the TLS files of Redis have changed').length);
    for (let rotation = 1; rotation <= ROTATIONS; rotation++) {
      let before = readings();
      await secure.rotate(rotation, async () => {
        await flow.stage.until('both pods to read the files', () => readings().every((count, i) => count > before[i]!));
        before = readings();
      });
      assert.equal(await flow.gaps(), 0);
      await flow.hears('entries written after the rotation');
    }
    await secure.cutLinks();
    report(t, 'every lane after the cut', await flow.hears('entries written after the cut'));
    cluster.primaries[shardOf(flow.slotOf('0'))]!.process.kill('SIGKILL');
    report(t, 'every lane after the kill', await flow.hears('entries written after the kill'));
    await flow.expectWhole(t);
  });
});

describe('a Redis with Sentinels under a flow of records', () => {
  it('loses no event when the primary is killed: the replica takes over', async (t) => {
    const redis = await startRedisSentinel();
    t.after(() => redis.stop());
    const flow = await Flow.start(t, redis.url);
    redis.primary.process.kill('SIGKILL');
    report(t, 'every lane after the kill', await flow.hears('entries written after the kill'));
    assert.ok((await flow.gaps()) > 0);
    await flow.expectWhole(t);
  });
});
