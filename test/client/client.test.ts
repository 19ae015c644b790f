import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createClient as createStockClient } from 'graphql-ws';
import { WebSocket, WebSocketServer } from 'ws';
import { backoffMs } from '../../client/backoff.ts';
import { BusUnavailableError } from '../../src/base/errors.ts';
import { CLOSE_CODES } from '../../src/gateway/connections/close-codes.ts';
import { TcpProxy } from '../bus/redis/tcp-proxy.ts';
import { TRANSPORT_WS } from '../support/socket.ts';
import type { ProtocolMessage } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { helperClient, Received } from './received.ts';
import { createStage, silentPort, TICKS } from './stage.ts';
import type { RunningGateway, Stage } from './stage.ts';

const RETRIED_CODES: readonly number[] = [1001, 1006, 1012, 1013, 4403, 4408];
const FATAL_CODES: readonly number[] = [1008, 1009, 4400, 4401, 4406, 4409, 4429, 4500];

/** A client that does not wait before a retry. */
function hastyStockClient(t: TestContext, url: string) {
  const client = createStockClient({ url, webSocketImpl: WebSocket, retryWait: () => Promise.resolve() });
  t.after(() => void Promise.resolve(client.dispose()).catch(() => undefined));
  return client;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** Replaces this pod by another one. `meanwhile` runs while no pod listens. */
async function replace(
  stage: Stage,
  pod: RunningGateway,
  meanwhile: () => Promise<unknown> | void = () => undefined,
): Promise<RunningGateway> {
  const before = stage.subscriptions;
  await pod.close();
  await meanwhile();
  const next = await stage.gateway({ PORT: `${pod.port}` });
  await waitFor('the client on the next pod', () => stage.subscriptions > before);
  return next;
}

describe('the client of crier', { concurrency: 4 }, () => {
  it('resumes after the last event at each reconnect', async (t) => {
    const stage = await createStage(t);
    let pod = await stage.gateway();
    const received = new Received(helperClient(t, { url: pod.url }));
    await waitFor('the subscription', () => stage.subscriptions === 1);
    await stage.publish(5);
    await waitFor('the first events', () => received.numbers.length === 5);
    for (let move = 1; move <= 3; move++) {
      pod = await replace(stage, pod, () => stage.publish(20));
      await stage.publish(5);
      await waitFor('all events', () => received.numbers.length >= 5 + move * 25);
    }
    assert.deepEqual(received.numbers, range(0, 80));
    assert.deepEqual(received.resumed, [true, true, true]);
    assert.deepEqual(received.endings, []);
  });

  it('receives resumed: false if it had received no event before the reconnect', async (t) => {
    const stage = await createStage(t);
    const pod = await stage.gateway();
    const received = new Received(helperClient(t, { url: pod.url }));
    await waitFor('the subscription', () => stage.subscriptions === 1);
    await replace(stage, pod, () => stage.publish());
    await stage.publish();
    await waitFor('the event', () => received.numbers.length === 1);
    assert.deepEqual([received.numbers, received.resumed], [[1], [false]]);
  });

  it('gives an iterator every event once, also those not requested before the reconnect', async (t) => {
    const stage = await createStage(t);
    const pod = await stage.gateway();
    const client = helperClient(t, { url: pod.url });
    const iterator = client.iterate<{ tick: { n: number } }>({ query: TICKS });
    await waitFor('the subscription', () => stage.subscriptions === 1);
    const take = async () => ((await iterator.next()).value as { data: { tick: { n: number } } }).data.tick.n;
    await stage.publish(5);
    assert.equal(await take(), 0);
    await replace(stage, pod, () => stage.publish(5));
    await stage.publish(2);
    const numbers = [0];
    while (numbers.length < 12) numbers.push(await take());
    assert.deepEqual(numbers, range(0, 12));
    const pending = iterator.next();
    await iterator.return!();
    assert.deepEqual(await pending, { done: true, value: undefined });
    assert.deepEqual(await iterator.next(), { done: true, value: undefined });
  });

  it('calls connectionParams with true after 4403, and again if that fails', async (t) => {
    const stage = await createStage(t);
    const { url } = await stage.gateway();
    const asked: boolean[] = [];
    const problems: unknown[] = [];
    const client = helperClient(t, {
      url,
      connectionParams: (isRefused) => {
        asked.push(isRefused);
        if (asked.length === 3) throw new Error('no token to be had');
        return { token: asked.length < 5 ? 'stale' : 'fresh' };
      },
      on: { error: (error) => problems.push((error as Error).message) },
    });
    const received = new Received(client);
    await waitFor('the subscription', () => stage.subscriptions === 1);
    assert.deepEqual(asked, [false, true, true, true, true]);
    assert.deepEqual(problems, ['no token to be had']);
    assert.deepEqual(received.endings, []);
  });

  it('retries longer than a stock client while no server listens', async (t) => {
    const stage = await createStage(t);
    const { port, url } = await stage.gateway().then(async (pod) => {
      await pod.close();
      return pod;
    });
    let attempts = 0;
    const stock = new Received(createStockClient({ url, webSocketImpl: WebSocket }));
    const received = new Received(helperClient(t, { url, on: { connecting: () => attempts++ } }));
    await waitFor('attempts', () => attempts > 10);
    await stage.gateway({ PORT: `${port}` });
    await waitFor('the subscription', () => stage.subscriptions === 1);
    assert.deepEqual(received.endings, []);
    assert.equal(stock.endings.length, 1);
  });

  it('detects a dead connection within one and a half times keepAlive and resumes; a stock client keeps it', async (t) => {
    const stage = await createStage(t);
    const pod = await stage.gateway();
    const proxy = await TcpProxy.start(t, pod.port);
    const url = `${proxy.url.replace('redis', 'ws')}/graphql`;
    const codes: number[] = [];
    const onClosed = (event: unknown) => codes.push((event as { code: number }).code);
    const keepAlive = 500;
    const stockClient = createStockClient({ url, webSocketImpl: WebSocket, keepAlive });
    t.after(() => stockClient.terminate());
    const stock = new Received(stockClient);
    const received = new Received(helperClient(t, { url, keepAlive, on: { closed: onClosed } }));
    for (let count = 1; stock.numbers.length === 0 || received.numbers.length === 0; count++) {
      assert.ok(count < 500);
      await stage.publish();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    proxy.freeze();
    const frozenAt = stage.published;
    await stage.publish(5);
    await waitFor('the reconnect', () => codes.length > 0);
    await stage.publish(5);
    await waitFor('all events', () => received.numbers.at(-1) === stage.published - 1);
    assert.deepEqual(received.numbers, range(received.numbers[0]!, stage.published));
    assert.deepEqual([...new Set(codes)], [4499]);
    assert.deepEqual([...new Set(received.resumed)], [true]);
    assert.ok(stock.numbers.at(-1)! < frozenAt, 'the stock client still waits');
  });

  it('abandons a server that accepts the connection and stays silent, without an uncaught error of `ws`', async (t) => {
    const stage = await createStage(t);
    const pod = await stage.gateway();
    const silent = await silentPort(t);
    const urls = [`ws://127.0.0.1:${silent}/graphql`, `ws://127.0.0.1:${silent}/graphql`];
    const url = () => urls.shift() ?? pod.url;
    const received = new Received(helperClient(t, { url, connectionAckWaitTimeout: 100 }));
    await waitFor('the subscription', () => stage.subscriptions === 1);
    assert.deepEqual(received.endings, []);
  });

  it('retries to subscribe while Redis is unavailable, and can be unsubscribed meanwhile', async (t) => {
    const stage = await createStage(t);
    const { url } = await stage.gateway();
    const subscribe = stage.bus.subscribe.bind(stage.bus);
    let refusals = 0;
    let isAway = true;
    stage.bus.subscribe = (...parameters) => {
      if (!isAway) return subscribe(...parameters);
      refusals++;
      return Promise.reject(new BusUnavailableError('away'));
    };
    const received = new Received(helperClient(t, { url }));
    const left = new Received(helperClient(t, { url }));
    await waitFor('two refusals', () => refusals >= 2);
    left.leave();
    isAway = false;
    await waitFor('the subscription', () => stage.subscriptions === 1, 20_000);
    await waitFor('the end of the other subscription', () => left.endings.length === 1);
    await stage.publish();
    await waitFor('the event', () => received.numbers.length === 1);
    assert.deepEqual([received.endings, left.endings, left.numbers], [[], ['complete'], []]);
  });

  it('waits a random time below a bound that doubles up to 30 s', () => {
    for (const [attempt, bound] of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
      const waits = Array.from({ length: 1000 }, () => backoffMs(attempt));
      assert.ok(Math.min(...waits) < bound * 0.05 && Math.max(...waits) > bound * 0.95 && Math.max(...waits) < bound);
    }
    assert.ok(backoffMs(Infinity) <= 30_000);
  });
});

describe('a stock client of a field with a history', () => {
  it('receives every event with its cursor, and after a reconnect only new ones', async (t) => {
    const stage = await createStage(t);
    const pod = await stage.gateway();
    const client = createStockClient({ url: pod.url, webSocketImpl: WebSocket, shouldRetry: () => true });
    t.after(() => void client.dispose());
    const received = new Received(client);
    await waitFor('the subscription', () => stage.subscriptions === 1);
    await stage.publish(2);
    await waitFor('the first events', () => received.numbers.length === 2);
    await replace(stage, pod, () => stage.publish());
    await stage.publish(2);
    await waitFor('the last events', () => received.numbers.length === 4);
    assert.deepEqual(received.numbers, [0, 1, 3, 4]);
    assert.ok(received.extensions.every((extensions) => typeof extensions?.cursor === 'string'));
    assert.deepEqual([received.resumed, received.endings], [[], []]);
  });
});

interface Script {
  readonly url: string;
  /** Accepted sockets, oldest first. */
  readonly sockets: WebSocket[];
  /** The `subscribe` messages received over all connections. */
  readonly subscribes: ProtocolMessage[];
}

/** A server that acknowledges connections and sends nothing else. */
async function scriptedServer(
  t: TestContext,
  onSocket: (socket: WebSocket) => void = () => undefined,
): Promise<Script> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => TRANSPORT_WS });
  const subscribes: ProtocolMessage[] = [];
  const sockets: WebSocket[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    onSocket(socket);
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as ProtocolMessage;
      if (message.type === 'connection_init') socket.send('{"type":"connection_ack"}');
      if (message.type === 'subscribe') subscribes.push(message);
    });
  });
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, subscribes };
}

const nextMessage = (id: string, n: number, cursor?: string) =>
  JSON.stringify({ id, type: 'next', payload: { data: { tick: { n } }, ...(cursor && { extensions: { cursor } }) } });

describe('the client of crier on the wire', { concurrency: 4 }, () => {
  it("sends the application's extensions at first, then the cursor of the last event, or null", async (t) => {
    const { url, sockets, subscribes } = await scriptedServer(t);
    const client = helperClient(t, { url });
    const numbers: number[] = [];
    const extensions = { trace: 1, resume: { cursor: 'kept' } };
    const payload = { query: TICKS, extensions };
    const sink = { next: () => void numbers.push(1), error: assert.fail, complete: () => undefined };
    client.subscribe(payload, sink);
    for (const cursor of [undefined, 'c1', 'c2', '']) {
      const turn = sockets.length || 1;
      await waitFor('the subscribe', () => subscribes.length === turn);
      if (cursor !== undefined) sockets.at(-1)!.send(nextMessage(subscribes[0]!.id!, 0, cursor));
      sockets.at(-1)!.close(1001);
      await waitFor('the next connection', () => sockets.length === turn + 1);
    }
    await waitFor('the last subscribe', () => subscribes.length === 5);
    assert.deepEqual(
      subscribes.map((message) => (message.payload as typeof payload).extensions),
      ['kept', 'kept', 'c1', 'c2', null].map((cursor) => ({ trace: 1, resume: { cursor } })),
    );
    assert.deepEqual(extensions, { trace: 1, resume: { cursor: 'kept' } });
    assert.equal(new Set(subscribes.map(({ id }) => id)).size, 1);
    assert.equal(numbers.length, 3);
  });

  it('sends the payload of the application, however often the application reads it', async (t) => {
    const { url, sockets, subscribes } = await scriptedServer(t);
    const generateID = (payload: object) => `hash of ${JSON.stringify(payload)}${JSON.stringify({ payload })}`;
    const jsonMessageReplacer = (key: string, value: unknown) => (key === 'kept' ? 'replaced' : value);
    const client = helperClient(t, { url, generateID, jsonMessageReplacer });
    const payload = { query: TICKS, variables: { kept: 1 } };
    client.subscribe(payload, { next: () => undefined, error: assert.fail, complete: () => undefined });
    await waitFor('the subscribe', () => subscribes.length === 1);
    sockets[0]!.close(1001);
    await waitFor('the second subscribe', () => subscribes.length === 2);
    const sent = { query: TICKS, variables: { kept: 'replaced' } };
    assert.deepEqual(
      subscribes.map((message) => message.payload),
      [sent, { ...sent, extensions: { resume: { cursor: null } } }],
    );
    assert.deepEqual(payload, { query: TICKS, variables: { kept: 1 } });
  });

  it('closes a connection that is not acknowledged in time with 4504, and retries', async (t) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => TRANSPORT_WS });
    await once(server, 'listening');
    t.after(() => server.close());
    const codes: number[] = [];
    server.on('connection', (socket) => socket.on('close', (code) => codes.push(code)));
    const closed: number[] = [];
    const client = helperClient(t, {
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      connectionAckWaitTimeout: 50,
      on: { closed: (event) => closed.push((event as { code: number }).code) },
    });
    const received = new Received(client);
    // A server that is slow to answer the close is abandoned, which both ends see as something else.
    const count = (list: readonly number[]) => list.filter((code) => code === 4504).length;
    await waitFor('two attempts', () => count(codes) >= 2 && count(closed) >= 2);
    assert.deepEqual(
      [...codes, ...closed].filter((code) => ![4504, 1006, 4499].includes(code)),
      [],
    );
    assert.deepEqual(received.endings, []);
  });

  it('abandons a connection that neither is acknowledged nor answers the close', async (t) => {
    const { url, sockets, subscribes } = await scriptedServer(t, (socket) => socket.pause());
    new Received(helperClient(t, { url, connectionAckWaitTimeout: 50 }));
    await waitFor('the second connection', () => sockets.length === 2);
    assert.equal(subscribes.length, 0);
  });

  for (const [kind, expected] of [
    ['helper', [2]],
    ['stock', [1, 2]],
  ] as const) {
    const title = kind === 'helper' ? 'ignores' : 'would receive, as a stock client does,';
    it(`${title} messages of a terminated connection that recovers`, async (t) => {
      const { url, sockets, subscribes } = await scriptedServer(t);
      const client = kind === 'helper' ? helperClient(t, { url }) : hastyStockClient(t, url);
      const received = new Received(client);
      await waitFor('the subscribe', () => subscribes.length === 1);
      // Simulates a dead link: the client's close frame is not read.
      sockets[0]!.pause();
      client.terminate();
      await waitFor('the second subscribe', () => subscribes.length === 2);
      const { id } = subscribes[1]!;
      await new Promise<void>((resolve) => sockets[0]!.send(nextMessage(id!, 1), () => resolve()));
      sockets[0]!.resume();
      await waitFor('the end of the first connection', () => sockets[0]!.readyState === WebSocket.CLOSED);
      sockets[1]!.send(nextMessage(id!, 2));
      await waitFor('an event', () => received.numbers.includes(2));
      assert.deepEqual(received.numbers, expected);
    });
  }

  it('handles the end of a connecting socket, where a stock client with `ws` ends the process', async (t) => {
    const port = await silentPort(t);
    const program = (module: string) => `
      import { WebSocket } from 'ws';
      const { createClient } = await import(${JSON.stringify(pathToFileURL(resolve(module)).href)});
      const client = createClient({ url: 'ws://127.0.0.1:${port}', webSocketImpl: WebSocket });
      client.subscribe({ query: '{ a }' }, { next() {}, error() {}, complete() {} });
      setTimeout(() => client.terminate(), 300);
      setTimeout(() => process.exit(7), 1000);`;
    const codes = ['dist/client/client.js', 'node_modules/graphql-ws/dist/client.js'].map(async (module) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program(module)], { stdio: 'ignore' });
      const [code] = (await once(child, 'exit')) as [number];
      return code;
    });
    assert.deepEqual(await Promise.all(codes), [7, 1]);
  });

  for (const code of RETRIED_CODES) {
    it(`reconnects after ${code}`, async (t) => {
      const { url, sockets, subscribes } = await scriptedServer(t);
      const received = new Received(helperClient(t, { url }));
      await waitFor('the subscribe', () => subscribes.length === 1);
      if (code === 1006) sockets[0]!.terminate();
      else sockets[0]!.close(code);
      await waitFor('the second subscribe', () => subscribes.length === 2);
      assert.deepEqual(received.endings, []);
    });
  }

  for (const code of FATAL_CODES) {
    it(`gives up after ${code}`, async (t) => {
      const { url, sockets, subscribes } = await scriptedServer(t);
      const received = new Received(helperClient(t, { url }));
      await waitFor('the subscribe', () => subscribes.length === 1);
      sockets[0]!.close(code);
      await waitFor('the end', () => received.endings.length === 1);
      assert.equal((received.endings[0] as { code: number }).code, code);
      assert.equal(sockets.length, 1);
    });
  }

  it('is tested with every close code of crier', () => {
    const codes = [...RETRIED_CODES, ...FATAL_CODES];
    assert.deepEqual(
      Object.values(CLOSE_CODES).filter((code) => !codes.includes(code)),
      [],
    );
  });

  it('ends with the error that a listener of the application throws', async (t) => {
    const { url, sockets, subscribes } = await scriptedServer(t);
    const client = helperClient(t, { url });
    const endings: unknown[] = [];
    const next = () => {
      throw new Error('a bug');
    };
    client.subscribe({ query: TICKS }, { next, error: (error) => endings.push(error), complete: () => undefined });
    await waitFor('the subscribe', () => subscribes.length === 1);
    sockets[0]!.send(nextMessage(subscribes[0]!.id!, 1));
    await waitFor('the end', () => endings.length === 1);
    assert.equal((endings[0] as Error).message, 'a bug');
    assert.equal(sockets.length, 1);
  });
});
