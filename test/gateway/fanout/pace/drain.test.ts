import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { defineGraph } from '../../../../src/library/crier.ts';
import { startGraph } from '../../../../src/library/testing.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { openStream } from '../../streams/stream-client.ts';

let mutations = 0;

const graph = defineGraph({
  schema: `
    type Query { hello: String }
    type Mutation { count: Int }
    type Subscription { price: Price @kafka(topic: "prices", pace: { ms: 60000 }) }
    type Price { n: Int later: Int never: Int }`,
  context: { authenticate: () => ({}) },
  resolvers: {
    Mutation: { count: () => ++mutations },
    Price: {
      later: ({ n }: { n: number }) => delay(50, n),
      never: ({ n }: { n: number }) => (n === 1 ? n : new Promise(() => undefined)),
    },
  },
});

interface Result {
  readonly data: { readonly price: { readonly n: number } };
  readonly extensions?: { readonly skipped?: number };
}

/** Subscribes, and resolves with the numbers and the close that the client receives. */
async function subscribe(url: string, selection: string) {
  const mutate = () => socket.send('{"id":"2","type":"subscribe","payload":{"query":"mutation { count }"}}');
  const client = { events: [] as [number, number | undefined][], code: 0, mutate };
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  socket.on('open', () => socket.send('{"type":"connection_init"}'));
  socket.on('message', (data: Buffer) => {
    const { type, payload } = JSON.parse(data.toString()) as { type: string; payload: Result };
    const query = `subscription { price { ${selection} } }`;
    if (type === 'connection_ack') socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    if (type === 'next') client.events.push([payload.data.price.n, payload.extensions?.skipped]);
  });
  socket.on('close', (code) => (client.code = code));
  await waitFor('its socket', () => socket.readyState === WebSocket.OPEN);
  return client;
}

describe('a pod that drains', () => {
  it('sends the events that wait for a pace before it closes their connections', async (t) => {
    const pod = await startGraph(graph);
    t.after(() => pod.close());
    const clients = await Promise.all(['n', 'n later', 'n never'].map((selection) => subscribe(pod.url, selection)));
    const stream = await openStream(t, pod.url, {
      headers: { accept: 'text/event-stream' },
      body: { query: 'subscription { price { n } }' },
    });
    await delay(300);
    for (const n of [1, 2, 3]) await pod.publish('prices', { n }, { key: 'a' });
    await waitFor('the first events', () => clients.every(({ events }) => events.length === 1));
    const closed = pod.close();
    await waitFor('the last events', () => clients[0]!.code > 0);
    // The second that its execution has is not over: its client sends the mutation to another pod.
    clients[2]!.mutate();
    await closed;
    await waitFor('all closes', () => clients.every(({ code }) => code > 0));
    const last = [
      [1, undefined],
      [3, 1],
    ];
    assert.deepEqual(
      clients.map(({ events }) => events),
      // An execution that takes more than a second is not waited for.
      [last, last, last.slice(0, 1)],
    );
    assert.deepEqual(
      clients.map(({ code }) => code),
      [1001, 1001, 1001],
    );
    assert.equal(mutations, 0);
    await stream.ended();
    assert.match(stream.text, /"n":3.*"skipped":1/);
  });
});
