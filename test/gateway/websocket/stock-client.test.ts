import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createClient } from 'graphql-ws';
import type { Client, ClientOptions, FormattedExecutionResult, SubscribePayload } from 'graphql-ws';
import { WebSocket, WebSocketServer } from 'ws';
import { TRANSPORT_WS } from '../../support/socket.ts';
import type { ProtocolMessage } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createProbe } from './probe.ts';
import { crier } from './crier.ts';
import { reference } from './reference.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';
const TICKS = { query: 'subscription ($count: Int!) { ticks(count: $count) }' };

/** A stock client that never waits before a retry. `waits` counts the skipped waits. */
function stockClient(t: TestContext, options: ClientOptions): { client: Client; waits: () => number } {
  let waits = 0;
  const client = createClient({
    webSocketImpl: WebSocket,
    retryWait: () => {
      waits++;
      return Promise.resolve();
    },
    ...options,
  });
  t.after(() => client.dispose());
  return { client, waits: () => waits };
}

interface Subscription {
  readonly results: FormattedExecutionResult<Record<string, unknown>, unknown>[];
  /** Resolves with undefined at `complete`, or with the error that ended the operation. */
  readonly ended: Promise<unknown>;
  readonly unsubscribe: () => void;
}

function subscribe(client: Client, payload: SubscribePayload): Subscription {
  const results: FormattedExecutionResult<Record<string, unknown>, unknown>[] = [];
  let unsubscribe = () => {};
  const ended = new Promise<unknown>((resolve) => {
    unsubscribe = client.subscribe(payload, {
      next: (result) => void results.push(result),
      error: resolve,
      complete: () => resolve(undefined),
    });
  });
  return { results, ended, unsubscribe };
}

for (const kind of [reference, crier]) {
  describe(`a stock graphql-ws client of ${kind.name}`, () => {
    it('receives its own results and its complete, beside another client', async (t) => {
      const target = await kind.start({});
      t.after(() => target.close());
      await Promise.all(
        [2, 5].map(async (count) => {
          const { client } = stockClient(t, { url: target.url });
          const { results, ended } = subscribe(client, { ...TICKS, variables: { count } });
          assert.equal(await ended, undefined);
          assert.deepEqual(
            results,
            Array.from({ length: count }, (_, i) => ({ data: { ticks: i + 1 } })),
          );
        }),
      );
    });

    it('causes return() of its source when it unsubscribes', async (t) => {
      const target = await kind.start({});
      t.after(() => target.close());
      const probe = createProbe(t);
      const { client } = stockClient(t, { url: target.url });
      const subscription = subscribe(client, { query: LIVE, variables: { token: probe.token } });
      await waitFor('the source', () => probe.starts === 1);
      subscription.unsubscribe();
      assert.equal(await subscription.ended, undefined);
      await waitFor('return() of the source', () => probe.returns === 1);
    });

    it('subscribes again at another server when its server shuts down', async (t) => {
      let target = await kind.start({});
      t.after(() => target.close());
      const probe = createProbe(t);
      const codes: number[] = [];
      const { client } = stockClient(t, {
        url: () => target.url,
        on: { closed: (event) => codes.push((event as { code: number }).code) },
      });
      const { results } = subscribe(client, { query: LIVE, variables: { token: probe.token } });
      await waitFor('the first source', () => probe.starts === 1);
      probe.push(1);
      await waitFor('the first event', () => results.length === 1);

      const old = target;
      target = await kind.start({});
      await old.close();
      await waitFor('the second source', () => probe.starts === 2);
      probe.push(2);
      await waitFor('the event after the reconnect', () => results.length === 2);
      assert.deepEqual(results, [{ data: { live: { value: 1 } } }, { data: { live: { value: 2 } } }]);
      assert.deepEqual(codes, [1001]);
      // Before the servers close, so that the client does not look for a third one.
      await client.dispose();
    });

    it('reconnects with new connection parameters after a refusal', async (t) => {
      const target = await kind.start({});
      t.after(() => target.close());
      const answers = ['reject', 'reject', 'accept'];
      const { client } = stockClient(t, {
        url: target.url,
        connectionParams: () => ({ auth: answers.shift() }),
      });
      const { results, ended } = subscribe(client, { ...TICKS, variables: { count: 1 } });
      assert.equal(await ended, undefined);
      assert.deepEqual(results, [{ data: { ticks: 1 } }]);
      assert.deepEqual(answers, []);
    });
  });
}

interface Script {
  readonly url: string;
  /** The `subscribe` messages received over all connections. */
  readonly subscribes: ProtocolMessage[];
}

/** A server that closes its first connection with `code` at the first `subscribe`, and serves the second one. */
async function closingServer(t: TestContext, code: number): Promise<Script> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => TRANSPORT_WS });
  const subscribes: ProtocolMessage[] = [];
  server.on('connection', (socket) => {
    const send = (message: object) => socket.send(JSON.stringify(message));
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as ProtocolMessage;
      if (message.type === 'connection_init') send({ type: 'connection_ack' });
      if (message.type !== 'subscribe') return;
      subscribes.push(message);
      if (subscribes.length === 1) return socket.close(code, 'as the test specifies');
      send({ id: message.id, type: 'next', payload: { data: { hello: 'again' } } });
      send({ id: message.id, type: 'complete' });
    });
  });
  await once(server, 'listening');
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, subscribes };
}

describe('a stock graphql-ws client with a page of 80 live rows', () => {
  it('keeps its connection and all rows when the page is turned at once', async (t) => {
    const target = await crier.start({ MAX_MESSAGES_PER_SECOND: '100', MAX_MESSAGE_BURST: '100' });
    t.after(() => target.close());
    let connections = 0;
    const { client } = stockClient(t, { url: target.url, on: { connected: () => void connections++ } });
    const pages = [createProbe(t), createProbe(t)] as const;
    const openPage = ({ token }: (typeof pages)[0]) =>
      Array.from({ length: 80 }, () => subscribe(client, { query: LIVE, variables: { token } }));
    const first = openPage(pages[0]);
    await waitFor('the rows of the first page', () => pages[0].starts === 80);
    for (const { unsubscribe } of first) unsubscribe();
    const second = openPage(pages[1]);
    await waitFor('the rows of the second page', () => pages[1].starts === 80);
    assert.equal(pages[0].returns, 80);
    pages[1].push(1);
    await waitFor('an event of each row', () => second.every(({ results }) => results.length === 1));
    assert.equal(connections, 1);
    for (const { unsubscribe } of second) unsubscribe();
  });
});

/** The behaviour on which crier's choice of close codes depends. */
describe('a stock graphql-ws client', () => {
  for (const code of [1001, 1012, 1013, 4403, 4408]) {
    it(`waits, connects and subscribes again after ${code}`, async (t) => {
      const { url, subscribes } = await closingServer(t, code);
      const { client, waits } = stockClient(t, { url });
      const { results, ended } = subscribe(client, { query: '{ hello }' });
      assert.equal(await ended, undefined);
      assert.deepEqual(results, [{ data: { hello: 'again' } }]);
      assert.equal(subscribes.length, 2);
      assert.equal(waits(), 1);
    });
  }

  for (const code of [1008, 1009, 1011, 4400, 4401, 4406, 4409, 4429, 4500]) {
    it(`gives up after ${code}`, async (t) => {
      const { url, subscribes } = await closingServer(t, code);
      const { client, waits } = stockClient(t, { url });
      const { ended } = subscribe(client, { query: '{ hello }' });
      assert.equal(((await ended) as { code: number }).code, code);
      assert.equal(subscribes.length, 1);
      assert.equal(waits(), 0);
    });
  }

  it('reconnects after 1000 without a wait, which is why a drain never uses 1000', async (t) => {
    const { url, subscribes } = await closingServer(t, 1000);
    const { client, waits } = stockClient(t, { url });
    assert.equal(await subscribe(client, { query: '{ hello }' }).ended, undefined);
    assert.equal(subscribes.length, 2);
    assert.equal(waits(), 0);
  });

  it('serialises its payload again at a reconnect, so an application can add a cursor', async (t) => {
    const { url, subscribes } = await closingServer(t, 1001);
    const payload = { query: '{ hello }', extensions: { from: 1 } };
    const { client } = stockClient(t, { url, on: { closed: () => (payload.extensions.from = 2) } });
    await subscribe(client, payload).ended;
    assert.deepEqual(
      subscribes.map((message) => (message.payload as typeof payload).extensions),
      [{ from: 1 }, { from: 2 }],
    );
  });

  it('gives up after a refused handshake, which is why overload is never answered with an HTTP status', async (t) => {
    let requests = 0;
    const http = createServer((_, response) => response.writeHead(503).end()).on('upgrade', (_, socket) => {
      requests++;
      socket.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n');
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    t.after(() => void http.close());
    const { client, waits } = stockClient(t, { url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}` });
    assert.notEqual(await subscribe(client, { query: '{ hello }' }).ended, undefined);
    assert.equal(requests, 1);
    assert.equal(waits(), 0);
  });
});
