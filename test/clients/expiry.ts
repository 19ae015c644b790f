import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client as WebSocketClient } from 'graphql-ws';
import { SignJWT } from 'jose';
import { createServer } from '../../src/library/create-server.ts';
import { defineGraph } from '../../src/library/define-graph.ts';
import { metricOf } from '../support/metric.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Client } from './client.ts';
import { resumeModule, socketOptions } from './javascript-clients.ts';

const SCHEMA = `
  type Subscription {
    order_updated(id: ID!): Order @kafka(topic: "orders", match: { arg: "id", path: "id" }, history: {})
  }
  type Order { id: ID! status: String }`;
/** Its name is that of the fixture of Relay. */
const OPERATION = 'subscription ordersSubscription($id: ID!) { order_updated(id: $id) { id status } }';

const EXPIRIES = 4;
/** Of a connection, in s at most, and how long crier accepts a token after its `exp`. */
const LIFE = 2;
const TOLERANCE = 60;
const SECRET = 'of the tests, which is long enough for HS256';

const signed = (): Promise<string> =>
  new SignJWT({ sub: 'ida' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(Math.floor(Date.now() / 1000) + LIFE - TOLERANCE)
    .sign(Buffer.from(SECRET));

/** @param install returns what the page makes of a resuming client of graphql-ws */
export function itLosesNothingByExpiry(
  name: string,
  install: () => Promise<(client: WebSocketClient) => Client>,
): void {
  it(`${name} has each event once, in order, though its token expires ${EXPIRIES} times`, async (t) => {
    const server = await createServer({
      host: '127.0.0.1',
      port: 0,
      logLevel: 'silent',
      jwtSecret: SECRET,
      graph: defineGraph({ schema: SCHEMA }),
    });
    const codes: number[] = [];
    const socketClient = (await resumeModule()).createResumingClient({
      ...socketOptions(server.url!),
      connectionParams: async () => ({ token: await signed() }),
      retryWait: () => delay(300),
      on: { closed: (event) => codes.push((event as { code: number }).code) },
    });
    const client = (await install())(socketClient);
    const { events, errors, stop } = client.subscribe(OPERATION, { id: '7' });
    t.after(async () => {
      stop();
      await client.close();
      await server.close();
    });
    await waitFor('the subscription', async () => (await metricOf(server.adminUrl, 'crier_channels')) === 1);
    const publish = async (status: string) => {
      for (const id of ['7', '8']) await server.publish('orders', { value: { id, status } });
    };
    const statuses = () => events.map((data) => (data as { order_updated: { status: string } }).order_updated.status);
    // Before its first event a client has no cursor.
    await waitFor('the first event', () => publish('first').then(() => events.length > 0));
    const published: string[] = [];
    const last = codes.length + EXPIRIES;
    while (codes.length < last) {
      published.push(`${published.length}`);
      await publish(published.at(-1)!);
      await delay(20);
    }
    await waitFor('the last event', () => errors.length > 0 || statuses().at(-1) === published.at(-1));
    assert.deepEqual(errors, []);
    assert.deepEqual(
      statuses().filter((status) => status !== 'first'),
      published,
    );
    assert.deepEqual(new Set(codes), new Set([4403]));
  });
}
