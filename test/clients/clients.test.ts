import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createServer } from '../../src/library/create-server.ts';
import type { Server } from '../../src/library/create-server.ts';
import { defineGraph } from '../../src/library/define-graph.ts';
import { metricOf } from '../support/metric.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Client, Subscription } from './client.ts';
import { apolloOverMultipart, apolloOverWebSocket, urqlOverEvents, urqlOverWebSocket } from './javascript-clients.ts';
import type { StartClient } from './javascript-clients.ts';
import { installGoClient, installGql, installSpring } from './programs.ts';
import { installRelay } from './relay.ts';

const SCHEMA = `
  type Subscription {
    order_updated(id: ID!): Order @kafka(topic: "orders", match: [{ arg: "id", path: "id" }])
  }
  type Order { id: ID! status: String }`;

/** The operation's name is that of the fixture of Relay. */
const operation = (fields: string) =>
  `subscription ordersSubscription($id: ID!) { order_updated(id: $id) { ${fields} } }`;

/** Each installs its client and returns what starts it. */
const CLIENTS: Readonly<Record<string, () => StartClient | Promise<StartClient>>> = {
  "Python's gql": installGql,
  "Hasura's go-graphql-client": installGoClient,
  'Spring for GraphQL': installSpring,
  Relay: installRelay,
  'Apollo Client over a WebSocket': () => apolloOverWebSocket,
  'Apollo Client over multipart': () => apolloOverMultipart,
  'urql over a WebSocket': () => urqlOverWebSocket,
  'urql over server-sent events': () => urqlOverEvents,
};

/** Programs of other languages start in seconds, on a busy machine. */
const PATIENCE_MS = 60_000;

describe('clients of other projects', { timeout: 900_000 }, () => {
  let crier: Server;

  before(async () => {
    const graph = defineGraph({ schema: SCHEMA });
    crier = await createServer({ host: '127.0.0.1', port: 0, logLevel: 'fatal', graph });
  });

  after(() => crier.close());

  /** Resolves when the pod has this count of operations, or the client an error. */
  const operations = (count: number, { errors }: Subscription) =>
    waitFor(
      `${count} operations`,
      async () => errors.length > 0 || (await metricOf(crier.adminUrl, 'crier_operations')) === count,
      PATIENCE_MS,
    );

  /** Publishes five records of order 7, each after the event of the one before it, and one of another order before each. */
  async function receiveFive(told: Subscription): Promise<void> {
    for (let n = 1; n <= 5; n++) {
      for (const id of ['8', '7']) await crier.publish('orders', { value: { id, status: `${n}` } });
      await waitFor(`event ${n}`, () => told.errors.length > 0 || told.events.length === n);
    }
    assert.deepEqual(told.errors, []);
    const orders = told.events.map((data) => (data as { order_updated: { id: string; status: string } }).order_updated);
    assert.deepEqual(
      orders.map(({ id, status }) => ({ id, status })),
      ['1', '2', '3', '4', '5'].map((status) => ({ id: '7', status })),
    );
  }

  for (const [name, install] of Object.entries(CLIENTS)) {
    describe(name, () => {
      let client: Client;
      before(async () => {
        client = (await install())(crier.url!);
      });
      after(() => client.close());

      it('receives five events, stops, and subscribes again on the same client', async () => {
        for (let round = 0; round < 2; round++) {
          const told = client.subscribe(operation('id status'), { id: '7' });
          await operations(1, told);
          await receiveFive(told);
          told.stop();
          await operations(0, told);
          assert.deepEqual(told.errors, []);
        }
      });

      it('is told why its document is refused', async () => {
        const { events, errors } = client.subscribe(operation('id colour'), { id: '7' });
        await waitFor('the error', () => errors.length > 0, PATIENCE_MS);
        assert.deepEqual([events, errors], [[], ['Cannot query field "colour" on type "Order".']]);
      });
    });
  }
});
