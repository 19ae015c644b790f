import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { openSocket } from '../../support/socket.ts';
import { switches } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CallbackRouter } from '../callback/callback-router.ts';
import { startRedisGateway } from '../websocket/redis-gateway.ts';
import { partsOf } from './parts.ts';
import { openStream } from './stream-client.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription { thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }]) }
    type Thing { id: ID seq: Int text: String tenant: String }
  `,
  'resolvers.js': `
    export const Thing = { tenant: (_, __, { connection }) => connection.headers['x-tenant'] };
  `,
};
const KEPT = { ...GRAPH, 'schema.graphql': GRAPH['schema.graphql'].replace('"id" }])', '"id" }], history: {})') };
const QUERY = 'subscription { thing(id: 1) { seq text tenant } }';
const CHANNEL = 'things{id="1"}';
const EVENTS = 20;
const TEXT = 'two\nlines, "quotes", an é and a 😀';

interface Reply {
  readonly events: readonly { readonly data: object }[];
  readonly cursor: string | null;
  readonly resumed: boolean;
}

/** The results that a client has received so far. */
type Received = () => unknown[];

/** Opens a client of a tenant. */
type Open = (t: TestContext, endpoint: string, tenant: string) => Promise<Received>;

const webSocket: Open = async (t, endpoint, tenant) => {
  const socket = await openSocket(t, endpoint.replace('http', 'ws'), { headers: { 'x-tenant': tenant } });
  await socket.init();
  socket.subscribe('1', QUERY);
  return () => socket.unread.map(({ payload }) => payload);
};

const serverSentEvents: Open = async (t, endpoint, tenant) => {
  const stream = await openStream(t, endpoint, { headers: { 'x-tenant': tenant }, body: { query: QUERY } });
  return () => stream.events.map(({ data }) => data);
};

const reservedStream: Open = async (t, endpoint, tenant) => {
  const token = await (await fetch(endpoint, { method: 'PUT', headers: { 'x-tenant': tenant } })).text();
  const stream = await openStream(t, `${endpoint}?token=${token}`, { method: 'GET' });
  const body = JSON.stringify({ query: QUERY, extensions: { operationId: tenant } });
  const headers = { 'content-type': 'application/json', 'x-graphql-event-stream-token': token };
  assert.equal((await fetch(endpoint, { method: 'POST', headers, body })).status, 202);
  return () =>
    stream.events.map(({ data }) => {
      const { id, payload } = data as { id: string; payload: unknown };
      assert.equal(id, tenant);
      return payload;
    });
};

const multipart: Open = async (t, endpoint, tenant) => {
  const headers = { accept: 'multipart/mixed;subscriptionSpec=1.0', 'x-tenant': tenant };
  const stream = await openStream(t, endpoint, { headers, body: { query: QUERY } });
  return () => partsOf(stream).map((part) => (part as { payload: unknown }).payload);
};

/** @param router the one of the test */
const callbackOf =
  (router: CallbackRouter): Open =>
  async (_t, endpoint, tenant) => {
    const { subscription } = await router.subscribe(endpoint, QUERY, { headers: { 'x-tenant': tenant } });
    return () => subscription.payloads;
  };

describe('subscribers of several transports and tenants', () => {
  it('receive the results of their own tenant, each executed once for all transports', async (t) => {
    const { router, endpoint, worker, hasChannel, metric } = await CallbackRouter.beside(t, (url) =>
      startRedisGateway(t, { graph: GRAPH, settings: { CALLBACK_URLS: url } }),
    );
    const transports = [webSocket, serverSentEvents, reservedStream, multipart, callbackOf(router)];
    const clients: { readonly tenant: string; readonly received: Received }[] = [];
    for (const tenant of ['a', 'b']) {
      for (const open of [...transports, ...transports])
        clients.push({ tenant, received: await open(t, endpoint, tenant) });
    }
    await hasChannel(CHANNEL);
    await waitFor('all', async () => (await metric('crier_subscriptions')) === clients.length);
    for (let seq = 0; seq < EVENTS; seq++) await worker.publish(CHANNEL, { id: 1, seq, text: TEXT });
    await waitFor('all events', () => clients.every(({ received }) => received().length === EVENTS));
    const [first] = clients;
    for (const { tenant, received } of clients) {
      const results = received() as { data: object; extensions: object }[];
      assert.deepEqual(
        results.map(({ data }) => data),
        Array.from({ length: EVENTS }, (_, seq) => ({ thing: { seq, text: TEXT, tenant } })),
      );
      assert.deepEqual(
        results.map(({ extensions }) => extensions),
        (first!.received() as typeof results).map(({ extensions }) => extensions),
      );
    }
    if (switches.SHARING) assert.equal(await metric('crier_executions_total'), 2 * EVENTS);
  });

  it('receive in one reply what they have missed, of their own tenant alone', async (t) => {
    const { endpoint, worker, metric } = await startRedisGateway(t, { graph: KEPT });
    const publish = (seq: number) => worker.publish(CHANNEL, { id: 1, seq, text: TEXT }, HISTORY_DEFAULTS);
    await publish(-1);
    const ask = async (tenant: string, cursor: string | null, wait: number) => {
      const params = new URLSearchParams({ query: QUERY, extensions: JSON.stringify({ resume: { cursor, wait } }) });
      const headers = { 'x-tenant': tenant, 'apollo-require-preflight': 'true' };
      return (await (await fetch(`${endpoint}?${params.toString()}`, { headers })).json()) as Reply;
    };
    const { cursor: begun } = await ask('a', null, 0);
    const follow = async (tenant: string) => {
      const results: Reply['events'][number][] = [];
      let cursor = begun;
      while (results.length < EVENTS) {
        const { events, cursor: next, resumed } = await ask(tenant, cursor, 5);
        assert.equal(resumed, true);
        results.push(...events);
        cursor = next;
      }
      assert.deepEqual(
        results.map(({ data }) => data),
        Array.from({ length: EVENTS }, (_, seq) => ({ thing: { seq, text: TEXT, tenant } })),
      );
    };
    const clients = ['a', 'b', 'a', 'b', 'a', 'b'].map(follow);
    for (let seq = 0; seq < EVENTS; seq++) await publish(seq);
    await Promise.all(clients);
    await waitFor('their end', async () => (await metric('crier_operations')) === 0);
  });
});
