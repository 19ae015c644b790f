import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { resultBytesOf } from '../../../src/gateway/fanout/outbox/frame.ts';
import type { Subscription } from '../../../src/gateway/fanout/subscription.ts';
import { TokenExpiries } from '../../../src/gateway/connections/token-expiries.ts';
import { anyOperation } from '../../support/any-operation.ts';
import { blockLoop } from '../../support/block-loop.ts';
import { openSocket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startBareGateway } from '../websocket/bare-gateway.ts';

const OPERATION = anyOperation();

const HOUR_MS = 3_600_000;
/** A whole minute. */
const START_MS = 1_800_000_000_000;

/** Expiries on a clock that the test moves. */
function startExpiries(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: START_MS });
  const expiries = new TokenExpiries<Peer>();
  const closed: Peer[] = [];
  class Peer {
    tokenExpiresAtMs: number;
    constructor(inMs: number) {
      this.tokenExpiresAtMs = START_MS + inMs;
      expiries.add(this);
    }
    onTokenExpired(): void {
      closed.push(this);
      expiries.delete(this);
    }
  }
  expiries.start();
  t.after(() => expiries.close());
  return { expiries, closed, add: (inMs: number) => new Peer(inMs), pass: (ms: number) => t.mock.timers.tick(ms) };
}

type Peer = ReturnType<ReturnType<typeof startExpiries>['add']>;

describe('the expiries of tokens', () => {
  it('close each connection before its expiry, and 1 s before it at most', (t) => {
    const { closed, add, pass } = startExpiries(t);
    const peers = [500, 59_999, 60_000, 61_500, 120_000, HOUR_MS].map(add);
    const closedAt = new Map<Peer, number>();
    for (let ms = 250; ms <= HOUR_MS; ms += 250) {
      pass(250);
      for (const peer of closed.splice(0)) closedAt.set(peer, START_MS + ms);
    }
    for (const peer of peers.slice(1)) {
      const earlyMs = peer.tokenExpiresAtMs - closedAt.get(peer)!;
      assert.ok(earlyMs >= 0 && earlyMs <= 1_000, `${peer.tokenExpiresAtMs}: ${earlyMs}`);
    }
    assert.ok(closedAt.has(peers[0]!));
  });

  it('close 100 connections in one turn of the event loop, and not those that have left or have a later token', async (t) => {
    const { expiries, closed, add, pass } = startExpiries(t);
    const peers = Array.from({ length: 250 }, () => add(30_000));
    pass(28_500);
    assert.equal(closed.length, 0);
    pass(500);
    const firstTurn = closed.length;
    expiries.delete(peers[200]!);
    expiries.delete(peers[201]!);
    peers[201]!.tokenExpiresAtMs += HOUR_MS;
    expiries.add(peers[201]!);
    await nextTurn();
    const secondTurn = closed.length;
    await nextTurn();
    assert.deepEqual([firstTurn, secondTurn, closed.length], [100, 200, 248]);
    assert.ok(!closed.includes(peers[200]!) && !closed.includes(peers[201]!));
  });

  it('begin the earlier the more connections expire together, the first to expire first (S-15)', (t) => {
    const { closed, add, pass } = startExpiries(t);
    const late = Array.from({ length: 20_000 }, () => add(HOUR_MS));
    const early = add(HOUR_MS - 100);
    pass(HOUR_MS - 3_500);
    assert.equal(closed.length, 0);
    pass(500);
    assert.deepEqual([closed.length, closed[0] === early, closed[1] === late[0]], [100, true, true]);
  });

  it('close at once, when an event leaves, whatever has expired by then', (t) => {
    const { expiries, closed, add } = startExpiries(t);
    const [one, , other] = [add(10_000), add(20_000), add(10_000)];
    expiries.closeExpired();
    assert.equal(closed.length, 0);
    t.mock.timers.setTime(START_MS + 10_000);
    expiries.closeExpired();
    assert.deepEqual(closed, [one, other]);
  });

  it('follow a clock that jumps', (t) => {
    const { expiries, closed, add, pass } = startExpiries(t);
    const [soon, later] = [add(60_000), add(HOUR_MS)];
    t.mock.timers.setTime(START_MS - HOUR_MS);
    pass(60_000);
    assert.deepEqual(closed, []);
    t.mock.timers.setTime(START_MS + 2 * HOUR_MS);
    pass(1_000);
    assert.deepEqual(closed, [soon, later]);
    expiries.closeExpired();
    assert.equal(closed.length, 2);
  });

  it('keep a connection whose token expires in the far future', (t) => {
    const { closed, add, pass } = startExpiries(t);
    for (const ms of [2 ** 31, 2 ** 32, 8.64e15 - START_MS, 1e300, Infinity]) add(ms);
    pass(HOUR_MS);
    assert.equal(closed.length, 0);
  });
});

/** A client with a live operation whose token expires soon. */
async function startSubscribed(t: TestContext, inMs: number) {
  let subscription: Subscription | undefined;
  const gateway = await startBareGateway(t, {
    authenticate: ({ id }) => Promise.resolve({ facts: { id }, expiresAtMs: Date.now() + inMs }),
    runtime: { findPrepared: () => OPERATION, subscribe: () => Promise.resolve({ channels: ['channel'] }) },
    hub: {
      join: (_channel: string, _sharingKey: string, joined: Subscription) => {
        subscription = joined;
        return Promise.resolve(() => undefined);
      },
    },
  });
  const socket = await openSocket(t, gateway.url);
  await socket.init();
  socket.subscribe('a', 'subscription { a }');
  await socket.roundTrip();
  const deliver = () => subscription!.deliver(resultBytesOf([Buffer.from('{"data":{"a":1}')]));
  return { ...gateway, socket, deliver };
}

describe('a connection whose token expires while the event loop is blocked', () => {
  it('receives no event of that turn', async (t) => {
    const { socket, deliver, counts } = await startSubscribed(t, 1_500);
    blockLoop(1_600);
    deliver();
    assert.deepEqual(await socket.expectClose(), { code: 4403, reason: 'Token expired' });
    assert.deepEqual([socket.unread, counts.expiredTokens], [[], 1]);
  });

  it('would receive it if only the timer closed connections', async (t) => {
    const { socket, deliver, writer } = await startSubscribed(t, 1_500);
    writer.beforeWrites = undefined;
    blockLoop(1_600);
    deliver();
    assert.equal((await socket.expectClose()).code, 4403);
    assert.equal(socket.unread.length, 1);
  });
});

describe('a connection whose token expires during a drain', () => {
  it('is closed with 4403 if the drain has not closed it before', async (t) => {
    const fastShutdown = new AbortController();
    const { gateway, url } = await startBareGateway(t, {
      authenticate: ({ id }) => Promise.resolve({ facts: { id }, expiresAtMs: Date.now() + 3_000 }),
      drainSpreadMs: HOUR_MS,
      fastShutdown: fastShutdown.signal,
    });
    const sockets = await Promise.all(Array.from({ length: 5 }, () => openSocket(t, url)));
    for (const socket of sockets) await socket.init();
    const closing = gateway.close();
    const codes = (await Promise.all(sockets.map((socket) => socket.expectClose()))).map(({ code }) => code);
    fastShutdown.abort();
    assert.deepEqual(await closing, { closed: 1, left: 4, terminated: 0 });
    assert.deepEqual(codes.toSorted(), [1001, 4403, 4403, 4403, 4403]);
    await waitFor('no connection', () => gateway.connections.size === 0);
  });
});
