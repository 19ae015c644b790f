import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../../src/log.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TcpProxy } from './tcp-proxy.ts';

const PATIENCE_MS = 30_000;
const NEVER_MS = 2 ** 31 - 1;

function client(t: TestContext, url: string): Redis {
  const made = new Redis(url);
  made.on('error', () => undefined);
  t.after(() => made.disconnect());
  return made;
}

async function startBus(t: TestContext, url: string, probeIntervalMs?: number) {
  const heard: string[] = [];
  let gaps = 0;
  const onGap = (channels: readonly string[]) => assert.deepEqual(channels, ['a'], 'its own channel is not ours');
  const bus = new RedisBus({
    url: url,
    log: createLog('silent'),
    observer: { onGap },
    ...(probeIntervalMs && { probeIntervalMs }),
  });
  t.after(() => bus.close());
  await bus.start();
  await bus.subscribe(
    'a',
    (payload) => heard.push(String(payload)),
    () => gaps++,
  );
  return { bus, heard, gaps: () => gaps };
}

/** A master and a replica behind one address, which leads to the master. */
async function startPair(t: TestContext) {
  // A replica keeps what it copies in its folder.
  const server = async () => redisServer(t, { flags: ['--dir', await temporaryFolder(t)] });
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

describe('a Redis replica that was detached', { timeout: 120_000 }, () => {
  it('loses its clients to the new master within 15 s, with a gap reported (twin: without the probe a bus starves on it)', async (t) => {
    const pair = await startPair(t);
    const probing = await startBus(t, pair.url);
    const twin = await startBus(t, pair.url, NEVER_MS);
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
    const buses = [await startBus(t, server.url, 100), await startBus(t, server.url.replace('//', '//app:word@'), 100)];
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))![1]);
    const before = await connections();
    await waitFor('some probes', async () => (await connections()) >= before + 10, PATIENCE_MS);
    await admin.publish('a', 'x');
    await waitFor('the message', () => buses.every(({ heard }) => heard.length === 1));
    for (const { gaps } of buses) assert.equal(gaps(), 0);
  });
});
