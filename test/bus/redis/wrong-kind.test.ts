import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { freePorts } from '../../../stack/port.ts';
import type { RedisServer } from '../../../stack/redis-server.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { ConfigError } from '../../../src/base/errors.ts';
import { spawnPod } from '../../end-to-end/pod-process.ts';
import { redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';

/** A Redis Cluster of one node, which has all slots, or only the one of `key`. */
async function clusterNode(
  t: TestContext,
  { port, key, flags = [] }: { port?: number; key?: string; flags?: readonly string[] } = {},
): Promise<RedisServer> {
  const folder = await temporaryFolder(t);
  // Left alone it takes its port plus 10,000, which may be one that the system gave to somebody who connected.
  const [clusterPort] = (await freePorts(1)) as [number];
  const server = await redisServer(t, {
    ...(port !== undefined && { port }),
    flags: [
      ...['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no'],
      ...['--cluster-port', `${clusterPort}`, '--dir', folder, ...flags],
    ],
  });
  const admin = clientOf(t, server);
  const slot = key === undefined ? undefined : await admin.cluster('KEYSLOT', key);
  await admin.call('CLUSTER', 'ADDSLOTSRANGE', slot ?? 0, slot ?? 16_383);
  await waitFor('the cluster', async () => (await admin.cluster('INFO')).includes('cluster_state:ok'));
  return server;
}

function clientOf(t: TestContext, { url }: RedisServer): Redis {
  const client = new Redis(url);
  t.after(() => client.disconnect());
  return client;
}

const REFUSAL = /^REDIS_URL: 127\.0\.0\.1:\d+ .*a node of a Redis Cluster; write redis\+cluster:\/\//;

describe('a node of a Redis Cluster under redis://', { concurrency: 4 }, () => {
  it('is refused by name at the start, also for a user with the least permissions', async (t) => {
    const server = await clusterNode(t);
    await clientOf(t, server).call('ACL', 'SETUSER', 'app', 'on', '>word', '&*', '~*', '-@all', '+ping', '+publish');
    for (const url of [server.url, server.url.replace('//', '//app:word@')]) {
      const bus = new RedisBus({ url: url, log: logLines().log });
      t.after(() => bus.close());
      await assert.rejects(bus.start(), (error) => error instanceof ConfigError && REFUSAL.test(error.message));
      assert.equal(bus.isAvailable, false);
    }
  });

  it('ends the pod with exit code 1 and the reason', async (t) => {
    const { url } = await clusterNode(t);
    const pod = spawnPod(t, { REDIS_URL: url, KAFKA_BROKERS: '127.0.0.1:1' });
    assert.equal(await pod.ended, 1);
    assert.match(pod.log.split('crier: ')[1]!.trimEnd(), REFUSAL);
  });

  it('is not used if it appears after the start, and the log names it', async (t) => {
    const [port] = (await freePorts(1)) as [number];
    const { log, lines } = logLines();
    const bus = new RedisBus({ url: `redis://127.0.0.1:${port}`, log });
    t.after(() => bus.close());
    await bus.start();
    await clusterNode(t, { port });
    await waitFor('the reason', () => lines.some(({ reason }) => reason?.includes('Redis Cluster')));
    assert.equal(bus.isAvailable, false);
  });

  it('refuses publishes if it does not report its mode, and the log says why', async (t) => {
    const { url } = await clusterNode(t, { key: 'owners', flags: ['--rename-command', 'HELLO', ''] });
    const { log, lines } = logLines();
    const reasons: string[] = [];
    const observer = { onPublishFailure: (_messages: number, reason: string) => reasons.push(reason) };
    const bus = new RedisBus({ url: url, log, observer });
    t.after(() => bus.close());
    await bus.start();
    assert.equal(bus.isAvailable, true, 'as of any server that does not tell');
    await bus.acquire({ topic: 'orders', partition: 0, position: -1 });
    const kept = {
      channel: 'a',
      payload: 'x',
      offset: 0,
      timestamp: 0,
      history: { entries: 1, bytes: 100, seconds: 60 },
    };
    const position = { topic: 'orders', partition: 0, offset: 0 };
    await assert.rejects(bus.publish([kept], position), { reason: 'CROSSSLOT' });
    assert.deepEqual(reasons, ['CROSSSLOT']);
    assert.ok(lines.some(({ msg, reason }) => msg === 'Redis did not accept a publish' && reason === 'CROSSSLOT'));
  });
});

describe('a Redis without cluster mode under redis+cluster://', () => {
  it('is refused by name at the start', async (t) => {
    const { url } = await redisServer(t);
    const bus = new RedisBus({ url: url.replace('redis:', 'redis+cluster:'), log: logLines().log });
    t.after(() => bus.close());
    await assert.rejects(bus.start(), (error) => {
      return error instanceof ConfigError && /is no node of a Redis Cluster; write redis:\/\//.test(error.message);
    });
  });
});
