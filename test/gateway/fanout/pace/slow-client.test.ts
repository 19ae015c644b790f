import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { defineGraph } from '../../../../src/library/crier.ts';
import { startGraph } from '../../../../src/library/testing.ts';
import type { TestGraph } from '../../../../src/library/testing.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TICKS = 1800;
/** Bytes a second that the slow client reads. */
const READ_RATE = 100_000;
const TEXT = 'x'.repeat(16_000);

const graphOf = (slow: 'LATEST' | 'CLOSE') =>
  defineGraph({
    schema: `
      type Query { hello: String }
      type Subscription {
        tick(id: ID!): Tick @kafka(topic: "ticks", match: [{ arg: "id", key: true }], history: {}, slow: ${slow})
      }
      type Tick { n: Int at: Float text: String }`,
    context: { authenticate: () => ({}) },
  });

/** A stock client that reads `rate` bytes a second, and comes back with its cursor when it is closed. */
function openClient(t: TestContext, url: string, rate: number) {
  const client = { closes: [] as number[], ages: [] as number[], skipped: 0, last: -1, rate };
  let cursor: string | undefined;
  let socket: WebSocket | undefined;
  let isOver = false;
  const open = () => {
    socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
    socket.on('open', () => socket!.send('{"type":"connection_init"}'));
    socket.on('message', onMessage);
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      if (isOver) return;
      client.closes.push(code);
      setTimeout(open, 50);
    });
    socket.on('upgrade', ({ socket: stream }) => throttle(stream, () => client.rate));
  };
  const onMessage = (data: Buffer) => {
    const { type, payload } = JSON.parse(data.toString()) as {
      type: string;
      payload?: {
        data: { tick: { n: number; at: number } };
        extensions: { cursor: string; skipped?: number; resumed?: boolean };
      };
    };
    if (type === 'connection_ack') {
      const extensions = cursor === undefined ? {} : { resume: { cursor } };
      const query = 'subscription { tick(id: "1") { n at text } }';
      socket!.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, extensions } }));
    }
    if (type !== 'next') return;
    const { data: result, extensions } = payload!;
    client.ages.push(Date.now() - result.tick.at);
    assert.ok(result.tick.n > client.last || extensions.resumed !== undefined);
    client.last = result.tick.n;
    client.skipped += extensions.skipped ?? 0;
    ({ cursor } = extensions);
  };
  open();
  t.after(() => {
    isOver = true;
    socket!.terminate();
  });
  return client;
}

/** Lets the socket be read at a rate in bytes a second. */
function throttle(stream: Socket, rate: () => number): void {
  if (rate() === Infinity) return;
  const startedAt = performance.now();
  const isAhead = () => stream.bytesRead > ((performance.now() - startedAt) / 1000) * rate();
  stream.on('data', () => isAhead() && stream.pause());
  const timer = setInterval(() => {
    if (stream.destroyed) clearInterval(timer);
    else if (!isAhead()) stream.resume();
  }, 10);
}

async function publishTicks(graph: TestGraph): Promise<number> {
  const startedAt = performance.now();
  for (let n = 0; n < TICKS; n++) {
    while (performance.now() - startedAt < (n * 1000) / 300) await delay(1);
    await graph.publish('ticks', { n, at: Date.now(), text: TEXT }, { key: '1' });
  }
  return TICKS - 1;
}

async function play(t: TestContext, slow: 'LATEST' | 'CLOSE') {
  const graph = await startGraph(graphOf(slow), { maxQueueBytes: 262_144 });
  t.after(() => graph.close());
  const slowClient = openClient(t, graph.url, READ_RATE);
  const healthy = openClient(t, graph.url, Infinity);
  await delay(300);
  const last = await publishTicks(graph);
  await waitFor('the last event', () => healthy.last === last);
  return { slowClient, healthy, last };
}

describe('a client that reads 100 KB of 4.8 MB a second', { concurrency: true }, () => {
  it('lives with slow: LATEST, with the newest values and nothing older than 2 s', async (t) => {
    const { slowClient, healthy, last } = await play(t, 'LATEST');
    await waitFor('the newest value', () => slowClient.last === last);
    assert.deepEqual(slowClient.closes, []);
    assert.deepEqual(healthy.closes, []);
    assert.ok(slowClient.ages.length > 10, `${slowClient.ages.length} events`);
    assert.equal(slowClient.skipped + slowClient.ages.length, healthy.skipped + healthy.ages.length);
    assert.ok(Math.max(...slowClient.ages) < 2000, `${Math.max(...slowClient.ages)} ms old`);
  });

  it('is closed with 1013 without it, after old values (D-6)', async (t) => {
    const { slowClient, healthy } = await play(t, 'CLOSE');
    assert.ok(Math.max(...slowClient.ages) > 2000, `${Math.max(...slowClient.ages)} ms old`);
    // The close comes after what the kernels hold.
    slowClient.rate = Infinity;
    await waitFor('a close', () => slowClient.closes.length > 0);
    // 1006: the server has given up waiting before the client has read as far as the close frame.
    assert.ok([1013, 1006].includes(slowClient.closes[0]!), slowClient.closes.join());
    assert.deepEqual(healthy.closes, []);
    assert.equal(healthy.skipped, 0);
  });
});
