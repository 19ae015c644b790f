import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { ConnectionFacts } from '../../../src/graph/context/connection-facts.ts';
import type { Subscription } from '../../../src/gateway/fanout/subscription.ts';
import { anyOperation } from '../../support/any-operation.ts';
import { openSocket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TRANSPORT_WS } from '../../../src/gateway/websocket/transport-ws.ts';
import { TokenRefreshes } from '../../../src/gateway/websocket/token-refreshes.ts';
import { LIMITS, startBareGateway } from './bare-gateway.ts';

describe('refreshes of one token', () => {
  it('verify one at a time, and only the latest of the others after it', async (t) => {
    const verified: string[] = [];
    const gates: (() => void)[] = [];
    const { url, counts } = await startBareGateway(t, {
      refresh: async (_identity, parameter) => {
        verified.push((parameter as { token: string }).token);
        await new Promise<void>((resolve) => gates.push(resolve));
        return { facts: { id: 'x', claims: {} }, expiresAtMs: Number(verified.at(-1)) };
      },
    });
    const socket = await openSocket(t, url);
    await socket.init();
    const far = Date.now() + 3_600_000;
    for (let i = 1; i <= 4; i++) socket.send({ type: 'ping', payload: { token: `${far + i}` } });
    const replaced = { type: 'pong', payload: { error: 'Replaced by a later token' } };
    assert.deepEqual(await socket.take(2), [replaced, replaced]);
    assert.deepEqual(verified, [`${far + 1}`]);
    gates[0]!();
    assert.equal(((await socket.next()).payload as { expiresAt: number }).expiresAt, far + 1);
    await waitFor('the latest token', () => verified.length === 2);
    assert.equal(verified[1], `${far + 4}`);
    gates[1]!();
    assert.equal(((await socket.next()).payload as { expiresAt: number }).expiresAt, far + 4);
    assert.equal(counts.refreshedTokens, 2);
  });

  it('end with their connection', async (t) => {
    let answer: ((identity: object) => void) | undefined;
    const { url, closes, counts } = await startBareGateway(t, {
      refresh: () => new Promise((resolve) => (answer = resolve)),
    });
    const socket = await openSocket(t, url);
    await socket.init();
    socket.send({ type: 'ping', payload: { token: 'x' } });
    await waitFor('the refresh', () => answer);
    socket.close(1000);
    await waitFor('the close', () => closes.length === 1);
    answer!({ facts: { id: 'x', claims: {} }, expiresAtMs: Date.now() + 60_000 });
    await new Promise(setImmediate);
    assert.equal(counts.refreshedTokens, 0);
  });

  it('are ten at once, then one in five seconds; the others are told when', async (t) => {
    let verified = 0;
    const { url } = await startBareGateway(t, {
      refresh: () => Promise.resolve({ facts: { id: 'x', claims: {} }, expiresAtMs: Date.now() + 60_000 + verified++ }),
    });
    const socket = await openSocket(t, url);
    await socket.init();
    const refresh = async () => {
      socket.send({ type: 'ping', payload: { token: 'x' } });
      return (await socket.next()).payload;
    };
    for (let i = 0; i < 10; i++) assert.ok('expiresAt' in ((await refresh()) as object));
    const tooMany = { error: 'Too many refreshes: try again in 5 s', retryInMs: 5_000 };
    assert.deepEqual([await refresh(), await refresh()], [tooMany, tooMany]);
    assert.equal(verified, 10);
  });

  it('with a revoked token close the connection, and nothing follows', async (t) => {
    const { url, counts } = await startBareGateway(t, { refresh: () => Promise.resolve({ failure: 'token_revoked' }) });
    const socket = await openSocket(t, url);
    await socket.init();
    socket.send({ type: 'ping', payload: { token: 'x' } });
    assert.deepEqual(await socket.expectClose(), { code: 4403, reason: 'Revoked' });
    assert.deepEqual([socket.unread, counts.refreshedTokens], [[], 0]);
  });

  it('are each answered, also those that come in one turn', async () => {
    const answers: string[] = [];
    const owner = {
      isEnded: false,
      verify: () => Promise.resolve({ failure: 'token_invalid' as const, subject: undefined }),
      onRefreshed: () => undefined,
      revoke: () => undefined,
    };
    const refreshes = new TokenRefreshes(owner, { format: TRANSPORT_WS, send: (text) => answers.push(text) > 0 });
    for (let i = 0; i < 10; i++) await refreshes.add({ token: 'x' });
    // These are too many, so that nothing is verified.
    await Promise.all(Array.from({ length: 5 }, () => refreshes.add({ token: 'x' })));
    assert.equal(answers.length, 15);
    assert.equal(refreshes.done, undefined);
  });

  it('pay the message rate: those over it wait', async (t) => {
    const { url } = await startBareGateway(t, {
      limits: { ...LIMITS, maxMessagesPerSecond: 50, maxMessageBurst: 10 },
      refresh: () => Promise.resolve({ failure: 'token_invalid' }),
    });
    const socket = await openSocket(t, url);
    const begunAt = performance.now();
    await socket.init();
    socket.sendTogether(...Array.from({ length: 29 }, () => ({ type: 'ping', payload: { token: 'x' } })));
    await socket.take(29);
    // 30 messages: 10 at once, 20 at 50 a second.
    const seconds = (performance.now() - begunAt) / 1000;
    assert.ok(seconds >= 0.39, `30 messages in ${seconds} s`);
  });
});

const OPERATION = anyOperation();

/** A client with 100 live operations, whose later tokens have these claims. */
async function startWithOperations(t: TestContext, claims: object) {
  const subscriptions: Subscription[] = [];
  /** The turn of the event loop of each time that an operation was authorised. */
  const authorisedAt: number[] = [];
  let turn = 0;
  const countTurns = () => {
    turn++;
    timer = setImmediate(countTurns);
  };
  let timer = setImmediate(countTurns);
  t.after(() => clearImmediate(timer));
  const factsWith = (given: object) => ({ id: 'x', claims: { sub: 'ida', tenant: 'north', ...given } });
  const gateway = await startBareGateway(t, {
    authenticate: () => Promise.resolve({ facts: factsWith({ exp: 1, iat: 0, jti: 'a' }) }),
    refresh: () => Promise.resolve({ facts: factsWith(claims), expiresAtMs: Date.now() + 60_000 }),
    runtime: {
      findPrepared: () => OPERATION,
      subscribe: () => {
        authorisedAt.push(turn);
        return Promise.resolve({ channels: ['channel'] });
      },
    },
    hub: {
      has: () => true,
      join: (_channel: string, _sharingKey: string, joined: Subscription) => {
        subscriptions.push(joined);
        return Promise.resolve(() => undefined);
      },
    },
  });
  const socket = await openSocket(t, gateway.url);
  await socket.init();
  for (let i = 0; i < 100; i++) socket.subscribe(`${i}`, 'subscription { a }');
  await socket.roundTrip();
  const refresh = async () => {
    authorisedAt.splice(0);
    socket.send({ type: 'ping', payload: { token: 'x' } });
    assert.ok('expiresAt' in ((await socket.next()).payload as object));
  };
  const claimsInUse = () => new Set(subscriptions.map(({ facts }: { facts: ConnectionFacts }) => facts.claims));
  return { refresh, authorisedAt, claimsInUse };
}

describe('a refresh of a connection with 100 operations', () => {
  it('that grants the same authorises none of them again, and their executions have the new token', async (t) => {
    const renewed = { exp: 2, iat: 1, nbf: 1, jti: 'b' };
    const { refresh, authorisedAt, claimsInUse } = await startWithOperations(t, renewed);
    await refresh();
    await new Promise(setImmediate);
    assert.equal(authorisedAt.length, 0);
    assert.deepEqual([...claimsInUse()], [{ sub: 'ida', tenant: 'north', ...renewed }]);
  });

  it('with other claims authorises all of them, ten in one turn of the event loop', async (t) => {
    const { refresh, authorisedAt, claimsInUse } = await startWithOperations(t, { tenant: 'south' });
    await refresh();
    assert.deepEqual([...claimsInUse()], [{ sub: 'ida', tenant: 'south' }]);
    await waitFor('all operations', () => authorisedAt.length === 100);
    const perTurn = new Map<number, number>();
    for (const turn of authorisedAt) perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1);
    assert.deepEqual([...perTurn.values()], Array(10).fill(10));
  });
});
