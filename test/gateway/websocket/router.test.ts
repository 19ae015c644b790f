import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { signWith } from '../identity/identity-provider.ts';
import { clientFrame } from '../../../src/tools/conformance/client-frame.ts';
import { openSocket, subscribeMessage } from '../../support/socket.ts';
import type { ProtocolMessage } from '../../support/socket.ts';
import { switches } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startRedisGateway } from './redis-gateway.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription { thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }]) }
    type Thing { id: ID by: String text: String }
    type Query { hello: String }
  `,
  'resolvers.js': `
    export const Thing = { by: (_, __, { connection }) => connection.claims.sub };
    export const Query = { hello: () => 'world' };
  `,
};
const THING = 'subscription ($id: ID!) { thing(id: $id) { id by } }';
const CHANNELS = 500;
const PATIENCE_MS = 120_000;

const channelOf = (id: number) => `things{id="${id}"}`;
/** An operation for each index; those of a channel share its events. */
const operations = (count: number) =>
  Array.from({ length: count }, (_, i) => subscribeMessage(`${i}`, THING, { id: i % CHANNELS }));

const SECRET = 'a secret of this test, of 32 bytes';
const tokenOf = (claims: object, secret = SECRET) =>
  signWith(Buffer.from(secret), { sub: 'router', ...claims }, { alg: 'HS256' });

/** A gateway that takes tokens, and whose peers may be routers. */
async function stage(t: TestContext, settings: Readonly<Record<string, string>>) {
  const gateway = await startRedisGateway(t, { graph: GRAPH, settings });
  const open = async (params: object = {}, headers: Readonly<Record<string, string>> = {}) => {
    const socket = await openSocket(t, gateway.url, { headers, patienceMs: PATIENCE_MS });
    await socket.init(params);
    return socket;
  };
  const live = (count: number) =>
    waitFor(`${count} operations`, async () => (await gateway.metric('crier_operations')) === count, PATIENCE_MS);
  return { ...gateway, open, live };
}

const codeOf = ({ payload }: ProtocolMessage) =>
  (payload as readonly { readonly extensions: { readonly code: string } }[])[0]!.extensions.code;

const BY_CLAIM = { JWT_SECRET: SECRET, ROUTERS: 'role:router' };
const BY_NETWORK = { ROUTERS: '127.0.0.0/8' };

describe('a router', () => {
  for (const count of [774, 5000])
    for (const settings of [BY_CLAIM, BY_NETWORK]) {
      it(`has ${count} operations on one socket, each of which receives its events, where ROUTERS=${settings.ROUTERS}`, async (t) => {
        const { open, live, worker, counts } = await stage(t, settings);
        const router = await open({ token: await tokenOf({ role: 'router' }) });
        router.sendTogether(...operations(count));
        await live(count);
        await counts('crier_channels', CHANNELS);
        for (let id = 0; id < CHANNELS; id++) await worker.publish(channelOf(id), { id });
        const received = await router.take(count);
        for (const { id, type, payload } of received) {
          assert.equal(type, 'next');
          assert.equal((payload as { data: { thing: { id: string } } }).data.thing.id, `${Number(id) % CHANNELS}`);
        }
        assert.equal(new Set(received.map(({ id }) => id)).size, count);
        router.sendTogether(
          ...Array.from({ length: count }, (_, i) => ({ type: 'complete', id: `${i}` })),
          ...operations(count),
        );
        await live(count);
        assert.deepEqual(await router.roundTrip(), []);
      });
    }

  it('has its operations executed once where nothing differs, by its own token', async (t) => {
    const { open, live, worker, metric, adminUrl } = await stage(t, BY_CLAIM);
    const router = await open({ token: await tokenOf({ role: 'router' }) });
    router.sendTogether(...Array.from({ length: 300 }, (_, i) => subscribeMessage(`${i}`, THING, { id: 1 })));
    const ida = await open({ token: await tokenOf({ sub: 'ida' }) });
    ida.subscribe('1', THING, { id: 1 });
    await live(301);
    const executions = await metric('crier_executions_total');
    await worker.publish(channelOf(1), { id: 1 });
    for (const { payload } of await router.take(300))
      assert.deepEqual((payload as { data: object }).data, { thing: { id: '1', by: 'router' } });
    assert.deepEqual(((await ida.next()).payload as { data: object }).data, { thing: { id: '1', by: 'ida' } });
    assert.equal((await metric('crier_executions_total')) - executions, switches.SHARING ? 2 : 301);
    const { connections } = (await (await fetch(`${adminUrl}/debug/connections?by=operations`)).json()) as {
      connections: readonly { readonly operations: number; readonly is_router?: boolean }[];
    };
    const marks = connections.map(({ operations: count, is_router: isRouter }) => [count, isRouter]);
    assert.deepEqual(marks, [
      [300, true],
      [1, undefined],
    ]);
  });

  it('does not count among the operations and sockets of its user, whose others keep their limits', async (t) => {
    const { open, live, url } = await stage(t, {
      ...BY_CLAIM,
      MAX_OPERATIONS_PER_CONNECTION: '2',
      MAX_CONNECTIONS_PER_USER: '1',
    });
    const tokens = [await tokenOf({ role: 'router' }), await tokenOf({ role: 'reader' })] as const;
    const routers = [await open({ token: tokens[0] }), await open({ token: tokens[0] })];
    for (const router of routers) router.sendTogether(...operations(50));
    await live(100);
    const reader = await open({ token: tokens[1] });
    reader.sendTogether(...operations(3));
    assert.deepEqual(codeOf(await reader.next()), 'OPERATION_LIMIT');
    const other = await openSocket(t, url);
    other.send({ type: 'connection_init', payload: { token: tokens[1] } });
    assert.equal((await other.expectClose()).code, 1013);
  });

  it('gets an error for a subscribe of more than 4 times MAX_MESSAGE_BYTES, which ends the socket of another client', async (t) => {
    const { open } = await stage(t, BY_CLAIM);
    const subscribed = async (role: string) => {
      const socket = await open({ token: await tokenOf({ role }) });
      socket.subscribe('long', THING, { id: 'x'.repeat(300_000) });
      return socket;
    };
    const router = await subscribed('router');
    assert.deepEqual(codeOf(await router.next()), 'BAD_USER_INPUT');
    assert.deepEqual(await router.roundTrip(), []);
    assert.equal((await (await subscribed('reader')).expectClose()).code, 1009);
  });

  it('may send no more than MAX_MESSAGE_BYTES before connection_init, as no other client may', async (t) => {
    for (const settings of [BY_NETWORK, {}]) {
      const { url } = await stage(t, settings);
      const socket = await openSocket(t, url);
      socket.write(clientFrame('', { claimedBytes: 65_537 }));
      const { code, reason } = await socket.expectClose();
      assert.deepEqual([code, reason], [1009, 'A message may have 65536 bytes (MAX_MESSAGE_BYTES)']);
    }
  });

  it('may have more waiting than MAX_QUEUE_BYTES, with which another client is a slow consumer', async (t) => {
    const { open, live, worker, metric } = await stage(t, BY_CLAIM);
    const [operationsOfEach, events, text] = [100, 10, 'x'.repeat(20_000)];
    const open100 = async (role: string) => {
      const socket = await open({ token: await tokenOf({ role }) });
      for (let i = 0; i < operationsOfEach; i++) socket.subscribe(`${i}`, 'subscription { thing(id: 1) { text } }');
      return socket;
    };
    const [router, reader] = [await open100('router'), await open100('reader')];
    await live(2 * operationsOfEach);
    for (const socket of [router, reader]) socket.pause();
    for (let event = 0; event < events; event++) await worker.publish(channelOf(1), { id: 1, text });
    await waitFor('the slow consumer', async () => (await metric('crier_slow_consumers_total')) === 1);
    router.resume();
    assert.equal((await router.take(operationsOfEach * events)).length, operationsOfEach * events);
    reader.resume();
    assert.equal((await reader.expectClose()).code, 1013);
  });

  it('has no limit of its address, which a peer that forwards requests of others has', async (t) => {
    const { open, url } = await stage(t, { ...BY_NETWORK, MAX_CONNECTIONS_PER_ADDRESS: '1' });
    for (let i = 0; i < 3; i++) await open();
    const forwards = { headers: { 'x-forwarded-for': '192.0.2.1' } };
    await open({}, forwards.headers);
    assert.equal((await (await openSocket(t, url, forwards)).expectClose()).code, 1013);
  });

  it('that a claim names counts at its address until its token is known, and again without the claim', async (t) => {
    const { open, url, metric } = await stage(t, { ...BY_CLAIM, MAX_CONNECTIONS_PER_ADDRESS: '1' });
    const isRefused = async () => (await (await openSocket(t, url)).expectClose()).code === 1013;
    const params = { token: await tokenOf({ role: 'router' }) };
    const waiting = await openSocket(t, url);
    assert.ok(await isRefused());
    await waiting.init(params);
    const first = await open(params);
    await open(params);
    first.send({ type: 'ping', payload: { token: await tokenOf({ role: 'reader' }) } });
    assert.equal((await first.next()).type, 'pong');
    assert.ok(await isRefused());
    first.terminate();
    await waitFor('its end', async () => (await metric('crier_connections')) === 2);
    await open(params);
  });

  it('has no limit of its user or address for requests and streams', async (t) => {
    for (const [settings, role, statuses] of [
      [BY_CLAIM, 'router', [200]],
      [BY_NETWORK, 'none', [200]],
      [BY_CLAIM, 'reader', [200, 429]],
    ] as const) {
      const limits = { MAX_REQUESTS_PER_SECOND_PER_USER: '1', MAX_REQUESTS_PER_SECOND_PER_ADDRESS: '1' };
      const { endpoint } = await stage(t, { ...settings, ...limits, MAX_CONNECTIONS_PER_USER: '1' });
      const authorization = `Bearer ${await tokenOf({ role })}`;
      const statusOf = async (query: string) => {
        const headers = { authorization, accept: 'text/event-stream', 'content-type': 'application/json' };
        const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify({ query }) });
        t.after(() => response.body?.cancel());
        return response.status;
      };
      const seen = new Set<number>();
      for (let i = 0; i < 3; i++) seen.add(await statusOf('subscription { thing(id: 1) { id } }'));
      for (let i = 0; i < 20; i++) seen.add(await statusOf('{ hello }'));
      assert.deepEqual([...seen], statuses);
    }
  });

  it('has the limits of a client once a refreshed token does not name it, and those of a router again', async (t) => {
    const { open, live } = await stage(t, { ...BY_CLAIM, MAX_OPERATIONS_PER_CONNECTION: '1' });
    const refresh = async (role: string) => {
      socket.send({ type: 'ping', payload: { token: await tokenOf({ role }) } });
      assert.equal((await socket.next()).type, 'pong');
    };
    const socket = await open({ token: await tokenOf({ role: 'router' }) });
    socket.sendTogether(...operations(3));
    await live(3);
    await refresh('reader');
    socket.subscribe('3', THING, { id: 1 });
    assert.deepEqual(codeOf(await socket.next()), 'OPERATION_LIMIT');
    await refresh('router');
    socket.subscribe('3', THING, { id: 1 });
    await live(4);
  });
});

describe('a client that is no router', () => {
  const forged = async () =>
    `${(await tokenOf({ role: 'router' })).split('.').slice(0, 2).join('.')}.${'A'.repeat(43)}`;
  const rows: readonly (readonly [
    string,
    Readonly<Record<string, string>>,
    { readonly claims?: object; readonly headers?: Readonly<Record<string, string>> },
  ])[] = [
    ['without ROUTERS', {}, {}],
    ['whose token has another claim', BY_CLAIM, { claims: { role: 'routers' } }],
    [
      'that names a router to a server without proxies',
      { ROUTERS: '10.0.0.0/8' },
      { headers: { 'x-forwarded-for': '10.0.0.1' } },
    ],
    ['behind a proxy in the network of routers', BY_NETWORK, { headers: { 'x-forwarded-for': '192.0.2.1' } }],
    [
      'that names a router to its trusted proxy',
      { ROUTERS: '10.0.0.0/8', TRUSTED_PROXIES: '127.0.0.0/8' },
      { headers: { 'x-forwarded-for': '10.0.0.1, 192.0.2.1' } },
    ],
  ];
  for (const [who, settings, { claims = {}, headers = {} }] of rows)
    it(`${who} has 100 operations of 774, the 101st is refused with OPERATION_LIMIT, and its socket stays`, async (t) => {
      const { open, worker, metric } = await stage(t, settings);
      const socket = await open({ token: await tokenOf(claims) }, headers);
      socket.sendTogether(...operations(774));
      const refused = await socket.next();
      assert.deepEqual([refused.id, codeOf(refused)], ['100', 'OPERATION_LIMIT']);
      await waitFor('100 channels', async () => (await metric('crier_channels')) === 100);
      assert.equal(await metric('crier_operations'), 100);
      await worker.publish(channelOf(7), { id: 7 });
      assert.ok(await socket.nextOf('7', PATIENCE_MS));
      assert.ok(socket.isOpen);
    });

  it('is refused with a token that nobody has verified', async (t) => {
    const { url } = await stage(t, BY_CLAIM);
    const socket = await openSocket(t, url);
    socket.send({ type: 'connection_init', payload: { token: await forged() } });
    assert.equal((await socket.expectClose()).code, 4403);
  });

  it('ends operations at once, before messages that wait for their rate', async (t) => {
    const { open, live, hasChannel } = await stage(t, { MAX_MESSAGES_PER_SECOND: '1', MAX_MESSAGE_BURST: '11' });
    const socket = await open();
    socket.sendTogether(...operations(10));
    await live(10);
    const waiting = Array.from({ length: 60 }, (_, i) => subscribeMessage(`q${i}`, '{ hello }'));
    socket.sendTogether(...waiting, { type: 'complete', id: '7' });
    await hasChannel(channelOf(7), false);
    assert.ok(socket.unread.length < 60);
  });
});
