import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { Pod } from '../end-to-end/pod.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { watch } from '../support/stock-client.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { importRouter, installRouters } from './install-routers.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@external", "@requires"])`;

/** Knows orders, which its samples update all the time. Has no Query type of its own. */
const ORDERS = {
  'schema.graphql': `${LINK}
    type Subscription {
      order_updated(id: ID!): Order @kafka(topic: "orders", match: [{ arg: "id", path: "order.id" }], payload: "order")
    }
    type Order @key(fields: "id") { id: ID! total: Int customer: Customer caller: String }
    type Customer @key(fields: "id", resolvable: false) { id: ID! }`,
  'resolvers.js': `export const Order = {
    __resolveReference: ({ id }) => (id === 'none' ? null : { id, total: 40 + Number(id), customer: { id: 'c' + id } }),
    caller: (order, args, context) => context.connection.headers['x-caller'],
  };`,
  'samples.js': `export function* records() {
    for (let total = 1; ; total++) yield { topic: 'orders', value: { order: { id: '2', total, customer: { id: 'c2' } } } };
  }`,
};

/** Knows customers, and the priority of an order by its total. */
const CUSTOMERS = {
  'schema.graphql': `${LINK}
    type Query { favourites: [Order] }
    type Subscription { never: Customer @kafka(topic: "customers") }
    type Customer @key(fields: "id") { id: ID! name: String }
    type Order @key(fields: "id") { id: ID! total: Int @external priority: String @requires(fields: "total") }`,
  'resolvers.js': `
    export const Query = { favourites: () => ['1', 'none', '2'].map((id) => ({ id })) };
    export const Customer = { __resolveReference: ({ id }) => ({ id, name: 'Name of ' + id }) };
    export const Order = { priority: ({ total }) => (total > 41 ? 'HIGH' : total ? 'LOW' : null) };`,
};

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
}

interface Subgraph {
  readonly name: string;
  readonly pod: Pod;
}

async function startSubgraphs(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<readonly Subgraph[]> {
  const graphs = { orders: ORDERS, customers: CUSTOMERS };
  return Promise.all(
    Object.entries(graphs).map(async ([name, files]) => ({
      name,
      pod: await spawnPod(t, { GRAPH: await graphFolder(t, files), ...settings }).started(),
    })),
  );
}

/** What a router composes, as it asks for it. */
async function sdlOf({ pod }: Subgraph): Promise<string> {
  const response = await fetch(pod.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'query { _service { sdl } }' }),
  });
  return ((await response.json()) as { data: { _service: { sdl: string } } }).data._service.sdl;
}

describe('crier behind Apollo Gateway', { timeout: 300_000 }, () => {
  before(installRouters);

  it('is composed, and answers the entity fetches of query plans across two subgraphs', async (t) => {
    const subgraphs = await startSubgraphs(t);
    const { ApolloGateway, IntrospectAndCompose, RemoteGraphQLDataSource } = await importRouter<{
      ApolloGateway: new (options: object) => object;
      IntrospectAndCompose: new (options: object) => object;
      RemoteGraphQLDataSource: new (options: object) => object;
    }>('@apollo/gateway');
    const { ApolloServer } = await importRouter<{
      ApolloServer: new (options: object) => {
        start(): Promise<void>;
        stop(): Promise<void>;
        executeOperation(request: { query: string }): Promise<{ body: { singleResult: Answer } }>;
      };
    }>('@apollo/server');
    const fetches: string[] = [];
    const gateway = new ApolloGateway({
      supergraphSdl: new IntrospectAndCompose({
        subgraphs: subgraphs.map(({ name, pod }) => ({ name, url: pod.endpoint })),
      }),
      buildService: ({ name, url }: { name: string; url: string }) =>
        new RemoteGraphQLDataSource({
          url,
          willSendRequest: ({ request }: { request: { query: string; http: { headers: Map<string, string> } } }) => {
            fetches.push(`${name}: ${request.query.includes('_entities') ? 'entities' : 'query'}`);
            request.http.headers.set('x-caller', 'ida');
          },
        }),
    });
    const server = new ApolloServer({ gateway });
    await server.start();
    t.after(() => server.stop());
    fetches.length = 0;
    const query = '{ favourites { id total priority caller customer { name } } }';
    const { body } = await server.executeOperation({ query });
    const orderOf = (id: number, priority: string) => ({
      id: `${id}`,
      total: 40 + id,
      priority,
      caller: 'ida',
      customer: { name: `Name of c${id}` },
    });
    const unknown = { id: 'none', total: null, priority: null, caller: null, customer: null };
    assert.deepEqual(JSON.parse(JSON.stringify(body.singleResult)), {
      data: { favourites: [orderOf(1, 'LOW'), unknown, orderOf(2, 'HIGH')] },
    });
    assert.deepEqual(fetches.toSorted(), [
      'customers: entities',
      'customers: entities',
      'customers: query',
      'orders: entities',
    ]);
  });
});

/** Where Hive Gateway receives posts, below its address. */
const CALLBACK = '/callback';

/** Options of Hive Gateway's transport to subgraphs, by its own address, and the streams that crier then has. */
const TRANSPORTS = {
  'a WebSocket': { optionsOf: () => ({ subscriptions: { kind: 'ws' } }), streams: {} },
  'server-sent events': { optionsOf: () => ({ method: 'POST' }), streams: { sse: 1 } },
  'HTTP callbacks': {
    optionsOf: (address: string) => ({
      subscriptions: {
        kind: 'http-callback',
        // The shortest: a check comes before the interval is over.
        options: { public_url: `${address}${CALLBACK}`, path: CALLBACK, heartbeat_interval: 1000 },
      },
    }),
    streams: { callback: 1 },
  },
};

for (const [transport, { optionsOf, streams }] of Object.entries(TRANSPORTS)) {
  describe(`crier behind Hive Gateway, over ${transport}`, { timeout: 300_000 }, () => {
    before(installRouters);

    it('feeds subscriptions of the router, whose events the router completes from another subgraph', async (t) => {
      const server = await listening(t);
      const { port } = server.address() as AddressInfo;
      const address = `http://127.0.0.1:${port}`;
      const { supergraph, orders } = await composed(t, { CALLBACK_URLS: `${address}${CALLBACK}` });
      await startHiveGateway(t, server, supergraph, optionsOf(address));
      const url = `ws://127.0.0.1:${port}/graphql`;
      const query = 'subscription { order_updated(id: "2") { total priority customer { name } } }';
      for (let round = 0; round < 2; round++) {
        const subscription = watch(t, url, query);
        const { order_updated: order } = (await subscription.event(5)) as {
          order_updated: { total: number; priority: string };
        };
        assert.deepEqual(order, {
          total: order.total,
          priority: order.total > 41 ? 'HIGH' : 'LOW',
          customer: { name: 'Name of c2' },
        });
        for (const name of ['sse', 'multipart', 'callback'])
          assert.equal(
            await orders.metric(`crier_streams{transport="${name}"}`),
            (streams as Readonly<Record<string, number>>)[name] ?? 0,
          );
        assert.deepEqual(subscription.failures, []);
        await subscription.close();
        await orders.until('no operation', async () => (await orders.metric('crier_operations')) === 0);
      }
    });
  });
}

/** Two pods, and their supergraph as Hive's tool composes it. */
async function composed(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly supergraph: string; readonly orders: Pod }> {
  const subgraphs = await startSubgraphs(t, settings);
  const { parse } = await importRouter<{ parse: (text: string) => object }>('graphql');
  const { composeServices } = await importRouter<{
    composeServices: (services: object[]) => { supergraphSdl?: string; errors?: readonly { message: string }[] };
  }>('@theguild/federation-composition');
  const services = await Promise.all(
    subgraphs.map(async (one) => ({ name: one.name, url: one.pod.endpoint, typeDefs: parse(await sdlOf(one)) })),
  );
  const { supergraphSdl: supergraph, errors } = composeServices(services);
  assert.ok(supergraph, JSON.stringify(errors));
  return { supergraph, orders: subgraphs[0]!.pod };
}

/** A server whose port is known before what it serves. */
async function listening(t: TestContext): Promise<Server> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/**
 * Starts the gateway with a WebSocket for its clients.
 * @param options of its transport to subgraphs
 */
async function startHiveGateway(t: TestContext, server: Server, supergraph: string, options: object): Promise<void> {
  const { createGatewayRuntime, getGraphQLWSOptions } = await importRouter<{
    createGatewayRuntime: (
      options: object,
    ) => RequestListener & { getSchema(): Promise<unknown>; [Symbol.asyncDispose](): Promise<void> };
    getGraphQLWSOptions: (gateway: object, context: (context: object) => object) => Parameters<typeof useServer>[0];
  }>('@graphql-hive/gateway-runtime');
  const { MemPubSub } = await importRouter<{ MemPubSub: new () => object }>('@graphql-hive/pubsub');
  const gateway = createGatewayRuntime({
    supergraph,
    logging: false,
    transportEntries: { '*.http': { options } },
    transports: {
      http: await importRouter('@graphql-mesh/transport-http'),
      ws: await importRouter('@graphql-mesh/transport-ws'),
      'http-callback': await importRouter('@graphql-mesh/transport-http-callback'),
    },
    pubsub: new MemPubSub(),
    webhooks: true,
  });
  await gateway.getSchema();
  server.on('request', gateway);
  const sockets = useServer(
    getGraphQLWSOptions(gateway, (context) => ({ ...context })),
    new WebSocketServer({ server, path: '/graphql' }),
  );
  t.after(async () => {
    await sockets.dispose();
    await gateway[Symbol.asyncDispose]();
  });
}
