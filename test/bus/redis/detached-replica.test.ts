import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import type { RedisBusOptions } from '../../../src/bus/redis/redis-bus.ts';
import { BusUnavailableError } from '../../../src/base/errors.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';
import { TcpProxy } from './tcp-proxy.ts';

const PATIENCE_MS = 30_000;
const NEVER_MS = 2 ** 31 - 1;

function client(t: TestContext, url: string): Redis {
  const made = new Redis(url);
  made.on('error', () => undefined);
  t.after(() => made.disconnect());
  return made;
}

type Intervals = Pick<RedisBusOptions, 'probeIntervalMs' | 'silenceTimeoutMs'>;

async function startBus(t: TestContext, url: string, intervals: Intervals = {}) {
  const { log, lines } = logLines();
  const heard: string[] = [];
  let gaps = 0;
  const onGap = (channels: readonly string[]) => assert.deepEqual(channels, ['a'], 'its own channel is not ours');
  const bus = new RedisBus({ url, log, observer: { onGap }, ...intervals });
  t.after(() => bus.close());
  await bus.start();
  await bus.subscribe(
    'a',
    (payload) => heard.push(String(payload)),
    () => gaps++,
  );
  return { bus, heard, lines, gaps: () => gaps };
}

/** A master and a replica behind one address, which leads to the master. */
async function startPair(t: TestContext) {
  // A replica keeps what it copies in its folder.
  const server = async () =>
    redisServer(t, { flags: ['--dir', await temporaryFolder(t), '--repl-diskless-sync-delay', '0'] });
  const [old, young] = [await server(), await server()];
  const [oldAdmin, youngAdmin] = [client(t, old.url), client(t, young.url)];
  await youngAdmin.replicaof('127.0.0.1', old.port);
  const isLinked = async (admin: Redis) => (await admin.info('replication')).includes('master_link_status:up');
  await waitFor('the replica', () => isLinked(youngAdmin), PATIENCE_MS);
  const proxy = await TcpProxy.start(t, old.port);
  /** The replica becomes the master, and the master its replica. Connected clients stay connected, and their commands still work. */
  const failOver = async () => {
    await youngAdmin.replicaof('NO', 'ONE');
    await oldAdmin.replicaof('127.0.0.1', young.port);
    proxy.retarget(young.port);
    await waitFor('the old master to follow', () => isLinked(oldAdmin), PATIENCE_MS);
  };
  /** The new replica loses its master for good, and still serves all other clients. */
  const detach = async () => {
    await oldAdmin.replicaof('127.0.0.1', 1);
    await waitFor('the replica to be detached', async () => !(await isLinked(oldAdmin)), PATIENCE_MS);
  };
  return { url: proxy.url, youngAdmin, failOver, detach };
}

describe(
  'a Redis primary that became a replica, behind a name that leads to the new primary',
  { timeout: 120_000 },
  () => {
    it('loses its clients at the first READONLY, and those that never write within 5 s, with a gap reported', async (t) => {
      const pair = await startPair(t);
      const writer = await startBus(t, pair.url, { probeIntervalMs: NEVER_MS, silenceTimeoutMs: NEVER_MS });
      const { bus, heard, gaps, lines } = await startBus(t, pair.url, { probeIntervalMs: NEVER_MS });
      const publisher = publisherOf(writer.bus);
      await publisher.publish([{ channel: 'a', payload: 'before' }]);
      const plain: string[] = [];
      const listener = client(t, `redis://127.0.0.1:${pair.youngAdmin.options.port}`);
      await listener.subscribe('plain');
      listener.on('message', (_, text) => plain.push(text));
      await pair.failOver();
      const began = performance.now();

      const isReadOnly = (error: unknown) => error instanceof BusUnavailableError && error.reason === 'READONLY';
      await assert.rejects(publisher.publish([{ channel: 'a', payload: 'refused' }]), isReadOnly);
      await waitFor('the writer', () => writer.bus.isAvailable && writer.gaps() === 1, PATIENCE_MS);
      await waitFor('the other', () => bus.isAvailable && gaps() === 1, PATIENCE_MS);
      const tookMs = performance.now() - began;
      assert.ok(tookMs < 5_000, `${tookMs} ms`);
      await publisher.publish([{ channel: 'a', payload: 'after' }]);
      await bus.send('plain', 'to all');
      await waitFor('the event', () => [writer.heard, heard].every((texts) => texts.at(-1) === 'after'));
      await waitFor('the plain message', () => plain.join() === 'to all');
      assert.ok(lines.some(({ reason }) => reason === 'it is a replica; REDIS_URL must lead to the primary'));
    });

    it('is no server that a bus starts on, until it is promoted', async (t) => {
      const { youngAdmin } = await startPair(t);
      const { log, lines } = logLines();
      const bus = new RedisBus({ url: `redis://127.0.0.1:${youngAdmin.options.port}`, log });
      t.after(() => bus.close());
      await bus.start();
      assert.equal(bus.isAvailable, false);
      await assert.rejects(publisherOf(bus).publish([{ channel: 'a', payload: 'x' }]), { reason: 'READONLY' });
      assert.ok(lines.some(({ reason }) => reason === 'it is a replica; REDIS_URL must lead to the primary'));
      await youngAdmin.replicaof('NO', 'ONE');
      await waitFor('the primary', () => bus.isAvailable);
    });
  },
);

describe('a Redis replica that was detached', { timeout: 120_000 }, () => {
  it('loses its clients to the new master within 15 s, with a gap reported (twin: without the probe a bus starves on it)', async (t) => {
    const pair = await startPair(t);
    const probing = await startBus(t, pair.url, { silenceTimeoutMs: NEVER_MS });
    const twin = await startBus(t, pair.url, { probeIntervalMs: NEVER_MS, silenceTimeoutMs: NEVER_MS });
    await pair.failOver();
    await pair.youngAdmin.publish('a', 'through the replica');
    await waitFor('both', () => [probing, twin].every(({ heard }) => heard.length === 1));
    await pair.detach();
    const began = performance.now();
    await waitFor(
      'delivery',
      async () => {
        await pair.youngAdmin.publish('a', 'on');
        return probing.heard.length > 1;
      },
      PATIENCE_MS,
    );
    const tookMs = Math.round(performance.now() - began);
    t.diagnostic(`delivery was back after ${tookMs} ms`);
    assert.ok(tookMs < 15_000, `${tookMs} ms`);
    assert.equal(probing.gaps(), 1);
    await waitFor('the publishing link', () => probing.bus.isAvailable);
    await publisherOf(probing.bus).publish([{ channel: 'a', payload: 'published' }]);
    await waitFor('what it publishes', () => probing.heard.at(-1) === 'published');

    assert.equal(twin.bus.isAvailable, true, 'its links look healthy');
    assert.deepEqual(twin.heard, ['through the replica']);
  });
});

describe('the probe of a bus', () => {
  it("keeps links on which messages arrive, and links where Redis refuses the probe's channel", async (t) => {
    const server = await redisServer(t);
    const admin = client(t, server.url);
    const rights = ['resetchannels', '&a', '+@all'];
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>word', ...rights);
    const buses = [
      await startBus(t, server.url, { probeIntervalMs: 100 }),
      await startBus(t, server.url.replace('//', '//app:word@'), { probeIntervalMs: 100 }),
    ];
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))![1]);
    const before = await connections();
    await waitFor('some probes', async () => (await connections()) >= before + 10, PATIENCE_MS);
    await admin.publish('a', 'x');
    await waitFor('the message', () => buses.every(({ heard }) => heard.length === 1));
    for (const { gaps } of buses) assert.equal(gaps(), 0);
  });
});
