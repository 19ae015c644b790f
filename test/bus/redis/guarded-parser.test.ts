import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { guardParser } from '../../../src/bus/redis/guarded-parser.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { checkRedis } from '../../../src/ops/check/redis-check.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';
import { TcpProxy } from './tcp-proxy.ts';

const NESTED = '*1\r\n'.repeat(10_000);
/** Whole replies. */
const nested = (depth: number) => `${'*1\r\n'.repeat(depth)}:1\r\n`;

/** Answers whatever it receives with nested arrays. */
async function nestingServer(t: TestContext): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(NESTED));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a reply of Redis that cannot be read', { concurrency: 4, timeout: 60_000 }, () => {
  for (const [what, reply, reason] of [
    ['is of arrays nested 10,000 deep', NESTED, /^it sent a reply that cannot be read: Maximum call stack/],
    [
      'is of arrays nested 65 deep',
      nested(65),
      /^it sent a reply that cannot be read: its arrays are nested more than 64/,
    ],
    ['has an impossible length', '*99999999999\r\n', /^it sent a reply that cannot be read: Invalid array length/],
    ['is no array', '$-5\r\n', undefined],
    ['never ends', '*50000000\r\n', /^a reply does not end within 1000 ms/],
  ] as const) {
    it(`ends the links, which come back, if it ${what}`, async (t) => {
      const server = await redisServer(t);
      const proxy = await TcpProxy.start(t, server.port);
      const { log, lines } = logLines();
      const bus = new RedisBus({ url: proxy.url, log, silenceTimeoutMs: 200, probeIntervalMs: 2 ** 31 - 1 });
      t.after(() => bus.close());
      await bus.start();
      const heard: string[] = [];
      await bus.subscribe('a', (payload) => heard.push(String(payload)));
      proxy.inject(reply);
      await waitFor('both links', () => bus.links.every(({ isUp, reconnects }) => isUp && reconnects > 0));
      await publisherOf(bus).publish([{ channel: 'a', payload: 'x' }]);
      await waitFor('the message', () => heard.length === 1);
      if (reason) assert.ok(lines.some((line) => reason.test(line.reason ?? '')));
    });
  }

  it('is one of arrays nested 65 deep, and none of 64 (twin)', async (t) => {
    const server = await redisServer(t);
    const client = guardParser(new Redis(server.url, { lazyConnect: true, retryStrategy: () => null }));
    client.on('error', () => undefined);
    await client.connect();
    const reply = (depth: number) => client.eval(`return ${'{'.repeat(depth)}1${'}'.repeat(depth)}`, 0);
    assert.equal(JSON.stringify(await reply(64)), `${'['.repeat(64)}1${']'.repeat(64)}`);
    const closed = new Promise((resolve) => client.once('close', resolve));
    await assert.rejects(reply(65));
    await closed;
  });

  it('is a finding of the check, and keeps a bus away, for one server and a cluster', async (t) => {
    const address = await nestingServer(t);
    for (const url of [`redis://${address}`, `redis+cluster://${address}`]) {
      const [finding] = await checkRedis(url, '', undefined);
      assert.match(finding!.text, /it sent a reply that cannot be read/);
      const bus = new RedisBus({ url, log: logLines().log });
      t.after(() => bus.close());
      await bus.start();
      assert.deepEqual(bus.awayServers, [address]);
    }
  });
});
