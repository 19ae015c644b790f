import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { startRedisServer } from '../../../stack/redis-server.ts';
import type { RedisServer } from '../../../stack/redis-server.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import type { RedisBusOptions } from '../../../src/bus/redis/redis-bus.ts';
import { parseMessage } from '../../../src/bus/redis/message-header.ts';
import { BusUnavailableError } from '../../../src/base/errors.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { blockLoop } from '../../support/block-loop.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A promise that never settles fails its suite. Its tests wait most of the time. */
const HANGS_FAIL = { timeout: 180_000, concurrency: 8 };
/** Longer than what is bounded takes on any machine. */
const HANG_MS = 10_000;

/** A started bus that counts its gaps (each as the channels that it named) and reconnects. */
async function startBus(t: TestContext, url: string, options: Partial<RedisBusOptions> = {}) {
  const { log, lines } = logLines();
  const gaps: (readonly string[])[] = [];
  const counts = { reconnects: 0 };
  const bus = new RedisBus({
    url,
    log,
    observer: { onGap: (channels) => gaps.push(channels), onReconnect: () => counts.reconnects++ },
    ...options,
  });
  t.after(() => bus.close());
  await bus.start();
  return { bus, lines, gaps, counts };
}

/** A plain client, for looking at Redis from outside and for negative twins. */
function plainClient(t: TestContext, url: string): Redis {
  const client = new Redis(url, { retryStrategy: () => 50 });
  client.on('error', () => undefined);
  t.after(() => client.disconnect());
  return client;
}

/** The channels that exactly one connection is subscribed to. */
async function subscribedOnce(redis: Redis, channels: readonly string[]): Promise<number> {
  const reply = await redis.pubsub('NUMSUB', ...channels);
  return reply.filter((value, i) => i % 2 === 1 && Number(value) === 1).length;
}

/** Publishes until it is accepted. Returns how often it was refused. */
async function publishUntilAccepted(
  bus: RedisBus,
  messages: readonly { channel: string; payload: string }[],
): Promise<number> {
  for (let refusals = 0; ; refusals++) {
    try {
      await publisherOf(bus).publish(messages);
      return refusals;
    } catch (error) {
      assert.ok(error instanceof BusUnavailableError, String(error));
      await delay(20);
    }
  }
}

/** The payload of a message as Redis delivers it. */
const payloadOf = (message: string) => String(parseMessage(Buffer.from(message)).payload);

const numbered = (channel: string, count: number, mark = '') =>
  Array.from({ length: count }, (_, i) => ({ channel, payload: `${mark}${i}` }));

describe('a Redis that restarts', HANGS_FAIL, () => {
  it('restores 2,000 channels after each restart, and reports one gap', async (t) => {
    let server: RedisServer = await redisServer(t);
    const { bus, gaps, counts, lines } = await startBus(t, server.url);
    const channels = Array.from({ length: 2_000 }, () => randomName());
    const heard = new Set<string>();
    await Promise.all(
      channels.map((channel) => bus.subscribe(channel, (payload) => heard.add(channel + String(payload)))),
    );
    for (let restart = 1; restart <= 5; restart++) {
      await server.stop();
      await waitFor('the bus to notice', () => !bus.isAvailable);
      await assert.rejects(publisherOf(bus).publish(numbered(channels[0]!, 10)), BusUnavailableError);
      server = await startRedisServer({ port: server.port });
      t.after(() => server.stop());
      await waitFor('the links to be back', () => bus.isAvailable);
      const admin = plainClient(t, server.url);
      await waitFor('every channel', async () => (await subscribedOnce(admin, channels)) === 2_000);
      await waitFor('the gap', () => gaps.length === restart);
      assert.equal(new Set(gaps.at(-1)).size, 2_000);
      await publisherOf(bus).publish(channels.map((channel) => ({ channel, payload: `${restart}` })));
      await waitFor('a message on each', () => heard.size === restart * 2_000);
    }
    assert.equal(counts.reconnects, 10, 'two links, five times');
    assert.ok(!lines.some((line) => /queue state/.test(line.reason ?? '')));
  });

  it('is used as soon as it has loaded its data, before the next check of the link', async (t) => {
    const flags = ['--dir', await temporaryFolder(t)];
    const server = await redisServer(t, { flags });
    const { bus, lines } = await startBus(t, server.url, { silenceTimeoutMs: 30_000 });
    const admin = plainClient(t, server.url);
    for (let i = 0; i < 30; i++) await admin.set(`key-${i}`, 'x'.repeat(4096));
    await admin.save();
    await server.stop();
    // About 1.5 s, in which it answers everybody that it is loading.
    const isSlow = ['--key-load-delay', '50000', '--loading-process-events-interval-bytes', '1024'];
    const again = await startRedisServer({ port: server.port, flags: [...flags, ...isSlow] });
    t.after(() => again.stop());
    await waitFor('the links to be back', () => bus.isAvailable);
    assert.ok(lines.some(({ reason }) => reason?.startsWith('LOADING')));
  });

  it('allows channels to be subscribed and unsubscribed while it is down', async (t) => {
    const server = await redisServer(t);
    const { bus } = await startBus(t, server.url, { subscribeTimeoutMs: 30_000 });
    const names = [randomName('stays'), randomName('leaves'), randomName('comes')] as const;
    const heard: string[] = [];
    await bus.subscribe(names[0], (payload) => heard.push(String(payload)));
    const leave = await bus.subscribe(names[1], () => assert.fail('left'));
    await server.stop();
    await waitFor('the bus to notice', () => !bus.isAvailable);
    leave();
    const coming = bus.subscribe(names[2], (payload) => heard.push(String(payload)));
    const secondListener = bus.subscribe(names[0], (payload) => heard.push(String(payload)));
    let isSecondLive = false;
    void secondListener.then(() => (isSecondLive = true));
    await nextTurn();
    assert.equal(isSecondLive, false, 'an acknowledgement of the lost link counts no more');
    const again = await startRedisServer({ port: server.port });
    t.after(() => again.stop());
    await Promise.all([coming, secondListener]);
    const admin = plainClient(t, again.url);
    assert.deepEqual(await admin.pubsub('NUMSUB', ...names), [names[0], 1, names[1], 0, names[2], 1]);
    await publishUntilAccepted(
      bus,
      names.map((channel) => ({ channel, payload: channel })),
    );
    await waitFor('three messages', () => heard.length === 3);
    assert.deepEqual(heard.sort(), [names[0], names[0], names[2]].sort());
  });

  it('raises no spurious errors when the link drops in the middle of resubscribing; plain ioredis does', async (t) => {
    const server = await redisServer(t);
    const channels = Array.from({ length: 2_000 }, () => randomName());
    const admin = plainClient(t, server.url);

    const rawProxy = await TcpProxy.start(t, server.port);
    const raw = plainClient(t, rawProxy.url);
    let spurious = 0;
    raw.on('error', (error: Error) => (spurious += /queue state/.test(error.message) ? 1 : 0));
    await raw.subscribe(...channels);
    rawProxy.cutNextAfter(30_000);
    rawProxy.cut();
    await waitFor('spurious errors', () => spurious > 100);
    raw.disconnect();
    await waitFor('no subscriber', async () => (await subscribedOnce(admin, channels)) === 0);

    const proxy = await TcpProxy.start(t, server.port);
    const { bus, lines, gaps } = await startBus(t, proxy.url);
    await Promise.all(channels.map((channel) => bus.subscribe(channel, () => undefined)));
    proxy.cutNextAfter(30_000, 30_000, 30_000, 30_000);
    proxy.cut();
    await waitFor('the gap', () => gaps.length > 0);
    assert.equal(await subscribedOnce(admin, channels), 2_000);
    assert.deepEqual([...gaps.flat()].sort(), channels.sort());
    assert.ok(!lines.some((line) => /queue state/.test(line.reason ?? '')));
  });
});

describe('a Redis that is down', HANGS_FAIL, () => {
  it('does not prevent the bus from starting; a publish fails at once, a subscribe within its bound', async (t) => {
    const server = await redisServer(t);
    await server.stop();
    const { bus, lines } = await startBus(t, server.url, { subscribeTimeoutMs: 400 });
    assert.equal(bus.isAvailable, false);
    const refusals: string[] = [];
    const accepted = () => assert.fail('accepted');
    const refused = (what: string) => (error: Error) => {
      assert.ok(error instanceof BusUnavailableError);
      refusals.push(`${what}: ${error.message}`);
    };
    await Promise.all([
      ...[1, 2].map(() => bus.subscribe('a', () => undefined).then(accepted, refused('subscribe'))),
      publisherOf(bus).publish(numbered('a', 1)).then(accepted, refused('publish')),
    ]);
    assert.match(refusals[0]!, /^publish: /);
    for (const refusal of refusals.slice(1)) assert.match(refusal, /^subscribe: .*within 400 ms/);
    const again = await startRedisServer({ port: server.port });
    t.after(() => again.stop());
    await waitFor('the bus to be available', () => bus.isAvailable);
    assert.equal(await subscribedOnce(plainClient(t, again.url), ['a']), 0, 'nobody wants the channel any more');
    assert.ok(lines.filter((line) => line.level >= 40).length <= 6, 'log lines are limited');
  });

  it('may have a host name that does not resolve', async (t) => {
    // Longer than any resolver takes to say so.
    const options = { subscribeTimeoutMs: 200, silenceTimeoutMs: 120_000 };
    const { bus, lines } = await startBus(t, 'redis://no-such-host.invalid', options);
    await assert.rejects(publisherOf(bus).publish(numbered('a', 1)), BusUnavailableError);
    await assert.rejects(
      bus.subscribe('a', () => undefined),
      BusUnavailableError,
    );
    assert.ok(lines.some((line) => /no-such-host\.invalid/.test(line.reason ?? '')));
  });

  it('does not keep close waiting, with subscribes pending and between two attempts', async (t) => {
    const server = await redisServer(t);
    const { bus } = await startBus(t, server.url, { subscribeTimeoutMs: 60_000 });
    await bus.subscribe('live', () => undefined);
    await server.stop();
    await waitFor('the bus to notice', () => !bus.isAvailable);
    await delay(300);
    const pending = Promise.allSettled([bus.subscribe('a', () => undefined), bus.subscribe('live', () => undefined)]);
    const began = performance.now();
    await bus.close();
    assert.ok(performance.now() - began < HANG_MS);
    for (const wait of await pending)
      assert.ok(wait.status === 'rejected' && wait.reason instanceof BusUnavailableError);
  });

  for (const [lost, type] of [
    ['publishing', 'normal'],
    ['listening', 'pubsub'],
  ] as const) {
    it(`makes the bus unavailable when only the ${lost} link is lost`, async (t) => {
      const server = await redisServer(t);
      const proxy = await TcpProxy.start(t, server.port);
      const { bus } = await startBus(t, proxy.url, { probeIntervalMs: 3_600_000 });
      await bus.subscribe('a', () => undefined);
      assert.equal(bus.isAvailable, true);
      proxy.retarget(1);
      assert.equal(await plainClient(t, server.url).client('KILL', 'TYPE', type, 'SKIPME', 'yes'), 1);
      await waitFor('the bus to notice', () => !bus.isAvailable);
      proxy.retarget(server.port);
      await waitFor('the link to be back', () => bus.isAvailable);
    });
  }

  it('is used once it accepts clients again after maxclients was reached', async (t) => {
    const server = await redisServer(t, { flags: ['--maxclients', '1'] });
    const admin = plainClient(t, server.url);
    await admin.ping();
    const { bus, lines } = await startBus(t, server.url);
    assert.equal(bus.isAvailable, false);
    await waitFor('the reason', () => lines.some((line) => line.reason?.includes('max number of clients')));
    await admin.config('SET', 'maxclients', '100');
    await waitFor('room', () => bus.isAvailable);
  });
});

describe('a silent link', HANGS_FAIL, () => {
  it('fails a publish to a frozen Redis in bounded time (twin: plain ioredis waits for ever)', async (t) => {
    const server = await redisServer(t);
    const { bus } = await startBus(t, server.url, { silenceTimeoutMs: 800, subscribeTimeoutMs: 500 });
    await publisherOf(bus).lease();
    const raw = plainClient(t, server.url);
    await raw.ping();
    server.process.kill('SIGSTOP');
    t.after(() => server.process.kill('SIGCONT'));
    let isRawSettled = false;
    raw
      .publish('a', 'x')
      .finally(() => (isRawSettled = true))
      .catch(() => undefined);
    const began = performance.now();
    await assert.rejects(publisherOf(bus).publish(numbered('a', 1_000)), BusUnavailableError);
    assert.ok(performance.now() - began < HANG_MS, 'about silenceTimeoutMs');
    assert.equal(bus.isAvailable, false);
    await assert.rejects(
      bus.subscribe('a', () => undefined),
      BusUnavailableError,
    );
    assert.equal(isRawSettled, false);
    server.process.kill('SIGCONT');
    await publishUntilAccepted(bus, numbered('a', 1));
  });

  it('keeps commands that a frozen Redis had not read from running between a retry and its successors', async (t) => {
    const server = await redisServer(t);
    const { bus } = await startBus(t, server.url, { silenceTimeoutMs: 600 });
    await publisherOf(bus).lease();
    const channel = randomName();
    const seen: string[] = [];
    const outside = plainClient(t, server.url);
    await outside.subscribe(channel);
    outside.on('message', (_channel, message: string) => seen.push(payloadOf(message).slice(0, 12).trim()));
    server.process.kill('SIGSTOP');
    t.after(() => server.process.kill('SIGCONT'));
    const batch = (mark: string) =>
      numbered(channel, 2_000, mark).map((message) => ({ ...message, payload: message.payload.padEnd(1_000) }));
    await assert.rejects(publisherOf(bus).publish(batch('first-')), BusUnavailableError);
    const retrying = publishUntilAccepted(bus, batch('retry-'));
    server.process.kill('SIGCONT');
    await retrying;
    await waitFor('the last message', () => seen.at(-1) === 'retry-1999');
    const retry = seen.indexOf('retry-0');
    assert.ok(!seen.slice(retry).some((payload) => payload.startsWith('first-')));
    assert.deepEqual(
      seen.slice(seen.lastIndexOf('retry-0')),
      numbered(channel, 2_000, 'retry-').map((message) => message.payload),
    );
    assert.deepEqual(
      seen.slice(0, retry),
      numbered(channel, retry, 'first-').map((message) => message.payload),
    );
  });

  it('starts and closes within bounds when Redis is frozen from the beginning', async (t) => {
    const server = await redisServer(t);
    server.process.kill('SIGSTOP');
    t.after(() => server.process.kill('SIGCONT'));
    const began = performance.now();
    const { bus } = await startBus(t, server.url, { silenceTimeoutMs: 400 });
    assert.equal(bus.isAvailable, false);
    await bus.close();
    assert.ok(performance.now() - began < HANG_MS);
  });

  it('closes within bounds with a publish in flight to a Redis that has just frozen', async (t) => {
    const server = await redisServer(t);
    const { bus } = await startBus(t, server.url, { silenceTimeoutMs: 60_000 });
    await publisherOf(bus).lease();
    server.process.kill('SIGSTOP');
    t.after(() => server.process.kill('SIGCONT'));
    const publishing = assert.rejects(publisherOf(bus).publish(numbered('a', 10)), BusUnavailableError);
    const began = performance.now();
    await bus.close();
    assert.ok(performance.now() - began < HANG_MS);
    await publishing;
  });

  it('reconnects a half-open link and reports the gap (twin: plain ioredis starves)', async (t) => {
    const server = await redisServer(t);
    const proxy = await TcpProxy.start(t, server.port);
    const { bus, gaps, lines } = await startBus(t, proxy.url, { silenceTimeoutMs: 600 });
    const raw = plainClient(t, proxy.url);
    const rawHeard: string[] = [];
    await raw.subscribe('a');
    raw.on('message', (_channel, payload: string) => rawHeard.push(payload));
    const heard: string[] = [];
    await bus.subscribe('a', (payload) => heard.push(String(payload)));
    proxy.freeze();
    await waitFor('the gap', () => gaps.length > 0);
    assert.ok(lines.some(({ reason }) => reason === 'no answer within 600 ms'));
    await waitFor('delivery', async () => {
      await publishUntilAccepted(bus, numbered('a', 1));
      return heard.length > 0;
    });
    assert.equal(raw.status, 'ready');
    assert.deepEqual(rawHeard, []);
  });

  it('is distinguished from a slow Redis by its first reply', async (t) => {
    const server = await redisServer(t);
    const proxy = await TcpProxy.start(t, server.port, 400);
    const { bus, lines, counts } = await startBus(t, proxy.url, { silenceTimeoutMs: 4_000 });
    for (let round = 1; round <= 6; round++) {
      proxy.cut();
      await waitFor('the links to be back', () => counts.reconnects === 2 * round);
    }
    await publishUntilAccepted(bus, numbered('a', 10));
    assert.ok(!lines.some((line) => /no answer/.test(line.reason ?? '')));
  });
});

/** Alone, for it blocks the event loop. */
describe('a link of a blocked event loop', HANGS_FAIL, () => {
  it('is not silent: a reply that waits in the socket counts', async (t) => {
    const server = await redisServer(t);
    const { bus, lines } = await startBus(t, server.url, { silenceTimeoutMs: 2_000 });
    // As often as the probe, so that each block comes between a probe and its answer.
    let blocks = 0;
    const blocking = setInterval(() => {
      blocks++;
      blockLoop(1_200);
    }, 1_000);
    t.after(() => clearInterval(blocking));
    await waitFor('some blocks', () => blocks === 3);
    clearInterval(blocking);
    await publisherOf(bus).publish(numbered('a', 1));
    const warnings = lines.filter((line) => line.level >= 40);
    assert.deepEqual(warnings, []);
  });
});

describe('a link that drops in the middle of a publish', HANGS_FAIL, () => {
  it('rejects the whole publish, which may then be repeated', async (t) => {
    const server = await redisServer(t);
    const proxy = await TcpProxy.start(t, server.port);
    const { bus } = await startBus(t, proxy.url);
    await publisherOf(bus).lease();
    const channel = randomName();
    const outside = plainClient(t, server.url);
    const seen: string[] = [];
    await outside.subscribe(channel);
    outside.on('message', (_channel, message: string) => seen.push(payloadOf(message)));
    proxy.cutNextAfter(2_000, 2_000, 2_000, 2_000);
    proxy.cut();
    const refusals = await publishUntilAccepted(bus, numbered(channel, 3_000));
    assert.ok(refusals > 0);
    await waitFor('the last message', () => seen.at(-1) === '2999');
    assert.deepEqual(
      seen.slice(-3_000),
      numbered(channel, 3_000).map((message) => message.payload),
    );
  });

  it('rejects the publish also if no reply had arrived yet', async (t) => {
    const server = await redisServer(t);
    const proxy = await TcpProxy.start(t, server.port);
    const { bus } = await startBus(t, proxy.url);
    await publisherOf(bus).lease();
    proxy.freeze();
    const publishing = assert.rejects(publisherOf(bus).publish(numbered('a', 10)), BusUnavailableError);
    proxy.cut();
    await publishing;
  });
});

describe('a Redis that refuses channels', HANGS_FAIL, () => {
  const RIGHTS = 'allkeys -@all +eval +evalsha +time +hget +hmget +hset +publish +subscribe +unsubscribe +ping'.split(
    ' ',
  );

  async function withUser(t: TestContext) {
    const server = await redisServer(t);
    const admin = plainClient(t, server.url);
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>pw', 'resetchannels', '&crier:*', ...RIGHTS, '+punsubscribe');
    return { server, admin, url: `redis://app:pw@127.0.0.1:${server.port}` };
  }

  it('fails only that subscribe among others of the same turn, with no unhandled rejection', async (t) => {
    const { admin, url } = await withUser(t);
    const { bus } = await startBus(t, url);
    const heard: string[] = [];
    const names = ['crier:a', 'other', 'crier:b', 'crier:c'];
    const waits = await Promise.allSettled(
      names.map((name) => bus.subscribe(name, (payload) => heard.push(String(payload)))),
    );
    assert.deepEqual(
      waits.map((wait) => wait.status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    );
    assert.ok((waits[1] as PromiseRejectedResult).reason instanceof BusUnavailableError);
    assert.deepEqual(await admin.pubsub('NUMSUB', ...names), ['crier:a', 1, 'other', 0, 'crier:b', 1, 'crier:c', 1]);
    await assert.rejects(publisherOf(bus).publish([...numbered('crier:a', 1), ...numbered('other', 1)]), {
      reason: 'NOPERM',
    });
    await waitFor('the message that was accepted', () => heard.length === 1);
    // Refused once is not refused for ever.
    await admin.call('ACL', 'SETUSER', 'app', '&other');
    await bus.subscribe('other', () => undefined);
  });

  it('keeps the other channels when a permission is revoked, and resubscribes the channel when it is granted again', async (t) => {
    const { admin, url } = await withUser(t);
    await admin.call('ACL', 'SETUSER', 'app', '&other');
    const { bus, gaps, lines } = await startBus(t, url);
    const heard: string[] = [];
    for (const name of ['crier:a', 'other']) await bus.subscribe(name, (payload) => heard.push(String(payload)));
    await admin.call('ACL', 'SETUSER', 'app', 'resetchannels', '&crier:*');
    await waitFor('the gap', () => gaps.length === 1);
    assert.deepEqual(gaps, [['crier:a']]);
    assert.ok(lines.some((line) => /refused the channel: NOPERM/.test(line.reason ?? '')));
    await admin.call('ACL', 'SETUSER', 'app', '&other');
    await waitFor('the other gap', () => gaps.length === 2);
    assert.deepEqual(gaps[1], ['other']);
    await publishUntilAccepted(bus, numbered('other', 1));
    await waitFor('the message', () => heard.length === 1);
  });
});

describe('a value that pods agree on', HANGS_FAIL, () => {
  it('is rejected, and not shown, if Redis refuses the command or the link is lost before the reply', async (t) => {
    const server = await redisServer(t);
    const admin = plainClient(t, server.url);
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>pw', '-@all', '+ping');
    const proxy = await TcpProxy.start(t, server.port);
    const refused = await startBus(t, `redis://app:pw@127.0.0.1:${server.port}`);
    const lost = await startBus(t, proxy.url);
    const isRefusal = (reason: RegExp) => (error: Error) =>
      error instanceof BusUnavailableError && reason.test(error.message) && !/pr0posal/.test(inspect(error));
    await assert.rejects(refused.bus.agree('name', 'pr0posal'), isRefusal(/failed to read or set a value: NOPERM/));
    proxy.freeze();
    const agreeing = assert.rejects(lost.bus.agree('name', 'pr0posal'), isRefusal(/failed to read or set a value: /));
    proxy.cut();
    await agreeing;
    assert.equal(await admin.get('name'), null);
  });
});

describe('a channel that is unsubscribed on a closed link', HANGS_FAIL, () => {
  it('leaves no rejection unhandled, before the loss is noticed or after', async (t) => {
    const server = await redisServer(t);
    const { bus } = await startBus(t, server.url);
    const leave = await bus.subscribe('crier:a', () => undefined);
    const second = await bus.subscribe('crier:b', () => undefined);
    await server.stop();
    leave();
    await waitFor('the bus to notice', () => !bus.isAvailable);
    second();
    await bus.close();
    leave();
  });
});

describe('a Redis that disconnects a slow subscriber', HANGS_FAIL, () => {
  it('is reconnected, with the gap reported', async (t) => {
    const server = await redisServer(t);
    const admin = plainClient(t, server.url);
    await admin.config('SET', 'client-output-buffer-limit', 'pubsub 1mb 1mb 1');
    const { bus, gaps } = await startBus(t, server.url);
    let heard = 0;
    let last = '';
    await bus.subscribe('flood', (payload) => {
      heard++;
      last = payload.toString('utf8', 0, 10);
    });
    const flood = `
      import { Redis } from 'ioredis';
      const redis = new Redis(${server.port});
      const payload = 'x'.repeat(65536);
      for (let i = 0; i < 1000; i++) await redis.publish('flood', payload);
      redis.disconnect();`;
    // The event loop stands still while the flood goes on.
    assert.equal(spawnSync('node', ['--input-type=module', '--eval', flood], { stdio: 'inherit' }).status, 0);
    await waitFor('the gap', () => gaps.length > 0);
    assert.deepEqual([...new Set(gaps.flat())], ['flood']);
    assert.ok(heard < 1_000, 'messages were lost, and not in silence');
    await publishUntilAccepted(bus, [{ channel: 'flood', payload: 'afterwards' }]);
    await waitFor('delivery', () => last === 'afterwards');
  });
});
