import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startRedisServer } from '../../stack/redis-server.ts';
import type { RedisServer } from '../../stack/redis-server.ts';
import { redisServer } from '../support/services.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Balancer } from './balancer.ts';
import { Fleet } from './fleet.ts';
import type { FleetOptions } from './fleet.ts';
import { isFull } from './form.ts';
import type { Listener } from './listener.ts';

const LANES = 10;
const ENTRIES_PER_SECOND = 40;
const AWAY_MS = isFull ? 10_000 : 2000;
const HALF_OPEN_MS = isFull ? 60_000 : 15_000;
const MAX_RECONNECT_MS = 2000;
const MAX_NOTICE_MS = 12_000;
/** Tolerance for a busy machine. */
const SLACK_MS = isFull ? 0 : 10_000;

/** Two gateways with a stock client and a client of @crier/client per lane, and a running ledger. */
async function startStream(t: TestContext, options: Pick<FleetOptions, 'redisUrl' | 'gatewayRedisUrl'>) {
  const fleet = await Fleet.start(t, { gateways: 2, lanes: LANES, ...options });
  const listeners = [
    ...(await fleet.listen(2 * LANES, { kind: 'stock' })),
    ...(await fleet.listen(2 * LANES, { kind: 'helper' })),
  ];
  fleet.publisher.begin(ENTRIES_PER_SECOND);
  await fleet.until('the first entries', () => listeners.every(({ heard }) => heard.length > 1));
  return { fleet, listeners };
}

/** Resolves with the ms from `since` until every listener had received an entry written after this call. */
async function untilHeard(fleet: Fleet, listeners: readonly Listener[], since: number): Promise<number> {
  const writtenAfter = Date.now();
  const isBack = ({ heard }: Listener) => (heard.at(-1)?.entry.writtenAt ?? 0) >= writtenAfter;
  await fleet.until('a new entry at every listener', () => listeners.every(isBack));
  return performance.now() - since;
}

/** Resolves with the ms from `since` until every pod reported this state of its bus. */
async function untilBusIs(status: 'available' | 'away', fleet: Fleet, since: number): Promise<number> {
  const isSo = async () =>
    (await Promise.all(fleet.pods.map((pod) => pod.readiness()))).every(({ body }) => body['bus'] === status);
  await fleet.until(`the bus to be ${status} at every pod`, isSo);
  return performance.now() - since;
}

async function kill(redis: RedisServer): Promise<void> {
  const gone = once(redis.process, 'exit');
  redis.process.kill('SIGKILL');
  await gone;
}

const shortcomings = (fleet: Fleet, listeners: readonly Listener[]) =>
  listeners.map((listener) => listener.shortcomings(fleet.publisher.written)).filter((text) => text !== '');

const closes = (listeners: readonly Listener[]) =>
  listeners.filter(({ isConnected, absencesMs }) => !isConnected || absencesMs.length > 0).length;

describe('a Redis that is killed', () => {
  it('and restarted with its data costs no client an event', async (t) => {
    const folder = await temporaryFolder(t);
    const flags = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', folder];
    const redis = await redisServer(t, { flags });
    const { fleet, listeners } = await startStream(t, { redisUrl: redis.url });
    await kill(redis);
    await delay(AWAY_MS);
    const again = await startRedisServer({ port: redis.port, flags });
    t.after(() => again.stop());
    const since = performance.now();
    const reconnectMs = await untilBusIs('available', fleet, since);
    const heardMs = await untilHeard(fleet, listeners, since);
    await fleet.finish(listeners);
    t.diagnostic(
      `Redis was back: the pods after ${Math.round(reconnectMs)} ms, events after ${Math.round(heardMs)} ms`,
    );
    assert.deepEqual(shortcomings(fleet, listeners), []);
    assert.equal(closes(listeners), 0);
    assert.ok(reconnectMs <= MAX_RECONNECT_MS + SLACK_MS, `${reconnectMs} ms`);
  });

  it('and restarted empty is reported to every subscriber: no loss is silent', async (t) => {
    const redis = await redisServer(t);
    const link = await Balancer.start(t, [redis.port]);
    const gatewayRedisUrl = `redis://127.0.0.1:${link.port}`;
    const { fleet, listeners } = await startStream(t, { redisUrl: redis.url, gatewayRedisUrl });
    // Events that Redis accepts now are lost with it.
    link.freeze();
    fleet.publisher.round();
    await fleet.until('Redis to have that', () => fleet.publisher.isIdle);
    await kill(redis);
    link.disconnect();
    await delay(AWAY_MS);
    const again = await startRedisServer({ port: redis.port });
    t.after(() => again.stop());
    link.restore();
    const since = performance.now();
    const reconnectMs = await untilBusIs('available', fleet, since);
    const heardMs = await untilHeard(fleet, listeners, since);
    await fleet.finish(listeners);
    const told = listeners.filter(({ heard }) => heard.some(({ extensions }) => extensions?.gap)).length;
    const losses = shortcomings(fleet, listeners);
    t.diagnostic(
      `Redis was back: the pods after ${Math.round(reconnectMs)} ms, events after ${Math.round(heardMs)} ms`,
    );
    t.diagnostic(`${losses.length} of ${listeners.length} clients lost something, ${told} were told`);
    assert.deepEqual([losses.length, told], [listeners.length, listeners.length]);
    for (const text of losses) assert.match(text, /^\d+ lost [^;]*$/);
    assert.deepEqual([...new Set(listeners.map((listener) => listener.silentLosses))], [0]);
    assert.equal(closes(listeners), 0);
    assert.ok(reconnectMs <= MAX_RECONNECT_MS + SLACK_MS, `${reconnectMs} ms`);
  });
});

describe('a link to Redis that is half-open', () => {
  it('is detected and costs no client an event', async (t) => {
    const redis = await redisServer(t);
    const link = await Balancer.start(t, [redis.port]);
    const gatewayRedisUrl = `redis://127.0.0.1:${link.port}`;
    const { fleet, listeners } = await startStream(t, { redisUrl: redis.url, gatewayRedisUrl });
    const frozenAt = performance.now();
    link.freeze();
    const noticedMs = await untilBusIs('away', fleet, frozenAt);
    await delay(Math.max(0, frozenAt + HALF_OPEN_MS - performance.now()));
    link.restore();
    const heardMs = await untilHeard(fleet, listeners, performance.now());
    await fleet.finish(listeners);
    t.diagnostic(
      `noticed after ${Math.round(noticedMs)} ms; events ${Math.round(heardMs)} ms after the link was whole`,
    );
    assert.deepEqual(shortcomings(fleet, listeners), []);
    assert.equal(closes(listeners), 0);
    assert.ok(noticedMs <= MAX_NOTICE_MS + SLACK_MS, `${noticedMs} ms`);
  });
});
