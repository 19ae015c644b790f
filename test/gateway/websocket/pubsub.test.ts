import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { metricOf } from '../../support/metric.ts';
import { redisServer } from '../../support/services.ts';
import { openSocket } from '../../support/socket.ts';
import { watch } from '../../support/stock-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { crier } from './crier.ts';
import { startGateway } from './redis-gateway.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { hello: String }
    type Mutation { say(room: ID!, text: String!): Boolean! type(room: ID!, user: String!): Boolean! listen: Boolean }
    type Subscription {
      said(room: ID!): Message
      loud(room: ID!): Message
      closed: Message
      unread(room: ID!): Message
      typing(room: ID!): Typing @redis(channel: "typing.{room}")
    }
    type Message { text: String! }
    type Typing { user: String! }
  `,
  'resolvers.js': `
    export const Mutation = {
      say: async (_, { room, text }, { pubsub }) => (await pubsub.publish('said.' + room, { said: { text } }), true),
      type: async (_, { room, user }, { pubsub }) => (await pubsub.publish('typing.' + room, { user }), true),
      listen: (_, args, { pubsub }) => void pubsub.asyncIterableIterator('said.a'),
    };
    export const Subscription = {
      said: { subscribe: (_, { room }, { pubsub }) => pubsub.asyncIterableIterator('said.' + room) },
      closed: {
        authorize: (_, { pubsub }) => (pubsub.asyncIterableIterator('asked'), false),
        subscribe: (_, args, { pubsub }) => pubsub.asyncIterableIterator('said.a'),
      },
      unread: {
        async *subscribe(_, { room }, { pubsub }) {
          pubsub.asyncIterator('said.' + room);
          for await (const event of pubsub.asyncIterator('never')) yield event;
        },
      },
      loud: {
        async *subscribe(_, { room }, { pubsub }) {
          for await (const { said } of pubsub.asyncIterator('said.' + room)) {
            yield { loud: { text: said.text.toUpperCase() } };
          }
        },
      },
    };
  `,
};
const SAID = 'subscription ($room: ID!) { said(room: $room) { text } }';
const LOUD = 'subscription ($room: ID!) { loud(room: $room) { text } }';

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

async function post(port: number, query: string): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as Answer;
}

async function startPod(t: TestContext, redis: Awaited<ReturnType<typeof redisServer>>) {
  const { server } = await startGateway(t, { graph: GRAPH, redis });
  return {
    url: `ws://127.0.0.1:${server.port}/graphql`,
    mutate: (field: string) => post(server.port!, `mutation { ${field} }`),
    triggers: () => metricOf(`http://127.0.0.1:${server.adminPort}`, 'crier_pubsub_triggers'),
  };
}

async function startPods(t: TestContext) {
  const redis = await redisServer(t);
  const admin = new Redis(redis.url, { retryStrategy: () => 50 });
  admin.on('error', () => undefined);
  t.after(() => admin.disconnect());
  /** Resolves when so many pods and programs have subscribed to the channel. */
  const hasSubscribers = (channel: string, count: number) =>
    waitFor(
      `${count} on ${channel}`,
      async () => (await admin.pubsub('NUMSUB', channel).catch(() => []))[1] === count,
      30_000,
    );
  return { redis, pods: [await startPod(t, redis), await startPod(t, redis)] as const, hasSubscribers };
}

describe('context.pubsub', () => {
  it('carries events between pods, and to and from a stock RedisPubSub', async (t) => {
    const { redis, pods, hasSubscribers } = await startPods(t);
    const [one, other] = pods;
    const watches = [watch(t, one.url, SAID, { room: 'a' }), watch(t, other.url, SAID, { room: 'a' })];
    const loud = watch(t, other.url, LOUD, { room: 'a' });
    const elsewhere = watch(t, other.url, SAID, { room: 'b' });
    const stock = new RedisPubSub({ publisher: new Redis(redis.url), subscriber: new Redis(redis.url) });
    t.after(() => stock.close());
    const heard: unknown[] = [];
    await stock.subscribe('said.a', (payload) => heard.push(payload));
    await hasSubscribers('said.a', 3);
    await hasSubscribers('said.b', 1);

    assert.deepEqual(await one.mutate('say(room: "a", text: "hi")'), { data: { say: true } });
    for (const one of watches) assert.deepEqual(await one.event(1), { said: { text: 'hi' } });
    assert.deepEqual(await loud.event(1), { loud: { text: 'HI' } });
    await waitFor('the stock subscriber', () => heard.length === 1);
    assert.deepEqual(heard, [{ said: { text: 'hi' } }]);

    await stock.publish('said.a', { said: { text: 'yo' } });
    for (const one of watches) assert.deepEqual(await one.event(2), { said: { text: 'yo' } });
    assert.deepEqual(await loud.event(2), { loud: { text: 'YO' } });
    assert.deepEqual(elsewhere.events, []);
  });

  it('publishes to fields with @redis', async (t) => {
    const { pods, hasSubscribers } = await startPods(t);
    const typing = watch(t, pods[1].url, 'subscription { typing(room: "a") { user } }');
    await hasSubscribers('typing.a', 1);
    await pods[0].mutate('type(room: "a", user: "Ann")');
    assert.deepEqual(await typing.event(), { typing: { user: 'Ann' } });
  });

  it('ends with its client, also in a generator that waits for an event', async (t) => {
    const { pods, hasSubscribers } = await startPods(t);
    const [pod] = pods;
    const socket = await openSocket(t, pod.url);
    await socket.init();
    socket.subscribe('1', LOUD, { room: 'a' });
    socket.subscribe('2', SAID, { room: 'b' });
    await hasSubscribers('said.a', 1);
    await hasSubscribers('said.b', 1);
    socket.complete('1');
    await hasSubscribers('said.a', 0);
    socket.close();
    await hasSubscribers('said.b', 0);
    assert.equal(await pod.triggers(), 0);
  });

  it('ends with a refusal of `authorize`, which has opened an iterator', async (t) => {
    const { pods } = await startPods(t);
    const socket = await openSocket(t, pods[0].url);
    await socket.init();
    socket.subscribe('1', 'subscription { closed { text } }');
    assert.equal((await socket.next()).type, 'error');
    assert.equal(await pods[0].triggers(), 0);
  });

  it('counts events that wait towards MAX_CONNECTION_BYTES, so the memory guard knows who keeps them', async (t) => {
    const { redis, pods, hasSubscribers } = await startPods(t);
    const socket = await openSocket(t, pods[0].url);
    await socket.init();
    const unread = 'subscription { unread(room: "a") { text } }';
    socket.subscribe('1', unread);
    socket.subscribe('2', unread);
    socket.subscribe('3', SAID, { room: 'a' });
    await waitFor('both', async () => (await pods[0].triggers()) === 2);
    await hasSubscribers('said.a', 1);
    const publisher = new Redis(redis.url);
    t.after(() => publisher.disconnect());
    await publisher.publish('said.a', JSON.stringify({ said: { text: 'a' }, more: 'b'.repeat(600 * 1024) }));
    assert.equal((await socket.next()).type, 'next');
    socket.subscribe('4', SAID, { room: 'b' });
    const { id, payload } = await socket.next();
    const [error] = payload as { extensions: { code: string } }[];
    assert.deepEqual([id, error?.extensions.code], ['4', 'OPERATION_LIMIT']);
    socket.complete('1');
    socket.subscribe('5', SAID, { room: 'b' });
    await hasSubscribers('said.b', 1);
  });

  it('survives a Redis that restarts: clients receive gap: true, a mutation an error meanwhile', async (t) => {
    const { redis, pods, hasSubscribers } = await startPods(t);
    const [pod] = pods;
    const socket = await openSocket(t, pod.url, { patienceMs: 30_000 });
    await socket.init();
    socket.subscribe('said', SAID, { room: 'a' });
    socket.subscribe('loud', LOUD, { room: 'b' });
    await hasSubscribers('said.a', 1);
    await hasSubscribers('said.b', 1);
    await redis.stop();
    const refusal = await pod.mutate('say(room: "a", text: "lost")');
    assert.equal(refusal.errors?.[0]?.extensions.code, 'BUS_UNAVAILABLE');
    socket.subscribe('new', SAID, { room: 'c' });
    const { type, payload } = await socket.next();
    assert.equal(type, 'error');
    assert.match(JSON.stringify(payload), /"BUS_UNAVAILABLE"/);
    // Leaves while Redis is away.
    socket.complete('loud');
    await socket.roundTrip();

    await redisServer(t, { port: redis.port });
    await hasSubscribers('said.a', 1);
    await waitFor('an accepted publish', async () => !(await pod.mutate('say(room: "a", text: "back")')).errors);
    assert.deepEqual((await socket.next()).payload, {
      data: { said: { text: 'back' } },
      extensions: { gap: true },
    });
    await hasSubscribers('said.b', 0);
  });

  it('only publishes outside of `subscribe`', async (t) => {
    const { pods } = await startPods(t);
    assert.equal((await pods[0].mutate('listen')).errors?.[0]?.extensions.code, 'INTERNAL_SERVER_ERROR');
    assert.equal(await pods[0].triggers(), 0);
  });

  it('works in one process in the embedded mode', async (t) => {
    const server = await crier.start({ GRAPH: await graphFolder(t, GRAPH) });
    t.after(() => server.close());
    const { url } = server;
    const said = watch(t, url, SAID, { room: 'a' });
    const typing = watch(t, url, 'subscription { typing(room: "a") { user } }');
    const port = Number(new URL(url).port);
    await waitFor('both events', async () => {
      await post(port, 'mutation { say(room: "a", text: "hi") type(room: "a", user: "Ann") }');
      return said.events.length > 0 && typing.events.length > 0;
    });
    assert.deepEqual([said.events[0], typing.events[0]], [{ said: { text: 'hi' } }, { typing: { user: 'Ann' } }]);
  });
});
