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

interface Row {
  /** Installs the client and returns what starts it. */
  readonly install: () => StartClient | Promise<StartClient>;
  /** Subscribes again by itself when its pod drains. Otherwise it tells its application that the subscription is over. */
  readonly returns: boolean;
}

const CLIENTS: Readonly<Record<string, Row>> = {
  "Python's gql": { install: () => installGql('websocket'), returns: false },
  "Python's gql over multipart": { install: () => installGql('multipart'), returns: false },
  "Hasura's go-graphql-client": { install: installGoClient, returns: true },
  'Spring for GraphQL': { install: installSpring, returns: false },
  Relay: { install: installRelay, returns: true },
  'Apollo Client over a WebSocket': { install: () => apolloOverWebSocket, returns: true },
  'Apollo Client over multipart': { install: () => apolloOverMultipart, returns: false },
  'urql over a WebSocket': { install: () => urqlOverWebSocket, returns: true },
  'urql over server-sent events': { install: () => urqlOverEvents, returns: false },
};

/** Programs of other languages start in seconds, on a busy machine. */
const PATIENCE_MS = 60_000;

describe('clients of other projects', { timeout: 900_000 }, () => {
  let crier: Server;

  const startCrier = (port: number) =>
    createServer({
      host: '127.0.0.1',
      port,
      logLevel: 'fatal',
      drainDelayMs: 0,
      drainSpreadMs: 0,
      graph: defineGraph({ schema: SCHEMA }),
    });

  before(async () => {
    crier = await startCrier(0);
  });

  after(() => crier.close());

  /** Resolves when the pod has this count of operations, or the client an error. */
  const operations = (count: number, { errors }: Subscription) =>
    waitFor(
      `${count} operations`,
      async () => errors.length > 0 || (await metricOf(crier.adminUrl, 'crier_subscriptions')) === count,
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

  for (const [name, { install, returns }] of Object.entries(CLIENTS)) {
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

      const title = returns ? 'subscribes again by itself' : 'tells its application';
      it(`${title} when its pod drains and another one takes over`, async () => {
        const told = client.subscribe(operation('id status'), { id: '7' });
        await operations(1, told);
        await receiveFive(told);
        await crier.close();
        crier = await startCrier(Number(new URL(crier.url!).port));
        const isOver = () => told.errors.length > 0 || told.isComplete;
        const isBack = async () => {
          await crier.publish('orders', { value: { id: '7', status: 'back' } });
          return JSON.stringify(told.events.at(-1)).includes('back');
        };
        await waitFor('the client', async () => isOver() || (await isBack()), PATIENCE_MS);
        assert.equal(isOver(), !returns, JSON.stringify(told));
        if (returns) told.stop();
        await operations(0, told);
      });
    });
  }
});
