import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import { metricOf } from '../../support/metric.ts';
import { redisServer } from '../../support/services.ts';
import { openSocket } from '../../support/socket.ts';
import { watch } from '../../support/stock-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startGateway } from './redis-gateway.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription {
      typing(room: ID!): Typing @redis(channel: "typing.{room}")
      user(room: ID!): String @redis(channel: "typing.{room}", payload: "user")
    }
    type Typing { room: ID user: String seconds: Float shout: String }
  `,
  'resolvers.js': 'export const Typing = { shout: ({ user }) => user.toUpperCase() };',
};
const TYPING = 'subscription ($room: ID!) { typing(room: $room) { user seconds } }';

async function startStage(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const gateway = await startGateway(t, { graph: GRAPH, settings });
  const { server } = gateway;
  const url = `ws://127.0.0.1:${server.port}/graphql`;
  const admin = new Redis(gateway.redis.url, { retryStrategy: () => 50 });
  admin.on('error', () => undefined);
  t.after(() => admin.disconnect());
  return {
    url,
    redis: gateway.redis,
    prefix: gateway.prefix,
    connect: async () => {
      const socket = await openSocket(t, url, { patienceMs: 30_000 });
      await socket.init();
      return socket;
    },
    /** Resolves when the gateway has subscribed to the channel. */
    hasChannel: (channel: string, isThere = true) =>
      waitFor(
        `channel ${channel}`,
        async () => (await admin.pubsub('NUMSUB', channel).catch(() => []))[1] === Number(isThere),
        30_000,
      ),
    publish: (channel: string, text: string) => admin.publish(channel, text),
    metric: (name: string) => metricOf(`http://127.0.0.1:${server.adminPort}`, name),
  };
}

describe('a field with @redis', () => {
  it('delivers what a stock RedisPubSub and redis-cli publish, to subscribers of that room only', async (t) => {
    const { url, redis, hasChannel } = await startStage(t);
    const lobby = watch(t, url, TYPING, { room: 'lobby' });
    const other = watch(t, url, TYPING, { room: 'other' });
    const user = watch(t, url, 'subscription { user(room: "lobby") }');
    await hasChannel('typing.lobby');
    await hasChannel('typing.other');
    const stock = new RedisPubSub({ publisher: new Redis(redis.url), subscriber: new Redis(redis.url) });
    t.after(() => stock.close());
    await stock.publish('typing.lobby', { user: 'Ann', seconds: 1.5 });
    assert.deepEqual(await lobby.event(1), { typing: { user: 'Ann', seconds: 1.5 } });
    execFileSync('redis-cli', ['-p', `${redis.port}`, 'publish', 'typing.lobby', '{"user":"Bob"}']);
    assert.deepEqual(await lobby.event(2), { typing: { user: 'Bob', seconds: null } });
    await stock.publish('typing.other', { user: 'Cyd' });
    assert.deepEqual(await other.event(1), { typing: { user: 'Cyd', seconds: null } });
    assert.deepEqual(user.events, [{ user: 'Ann' }, { user: 'Bob' }]);
    assert.equal(lobby.events.length, 2);
  });

  it('tells a lost Redis by gap: true, and reaches subscribers again', async (t) => {
    const { connect, redis, hasChannel, publish } = await startStage(t);
    const socket = await connect();
    socket.subscribe('1', TYPING, { room: 'a' });
    await hasChannel('typing.a');
    await redis.stop();
    await redisServer(t, { port: redis.port });
    await hasChannel('typing.a');
    await publish('typing.a', '{"user":"Ann"}');
    assert.deepEqual((await socket.next()).payload, {
      data: { typing: { user: 'Ann', seconds: null } },
      extensions: { gap: true },
    });
    await publish('typing.a', '{"user":"Bob"}');
    assert.deepEqual((await socket.next()).payload, { data: { typing: { user: 'Bob', seconds: null } } });
  });

  it('gives a client that resumes resumed: false, and no cursor', async (t) => {
    const { connect, hasChannel, publish } = await startStage(t);
    const socket = await connect();
    socket.subscribe('1', TYPING, { room: 'a' }, { resume: { cursor: 'a cursor' } });
    await hasChannel('typing.a');
    await publish('typing.a', '{"user":"Ann"}');
    assert.deepEqual((await socket.next()).payload, {
      data: { typing: { user: 'Ann', seconds: null } },
      extensions: { resumed: false },
    });
  });

  it('counts a message that is not JSON or is too long, and delivers the next one', async (t) => {
    const { url, hasChannel, publish, metric } = await startStage(t);
    const lobby = watch(t, url, TYPING, { room: 'a' });
    await hasChannel('typing.a');
    const broken = ['', 'text', '{"user":', '{} {}', '@0 1 2 3\n{"user":"forged"}', '['.repeat(200_000)];
    for (const text of [...broken, JSON.stringify('x'.repeat(1_048_576))]) await publish('typing.a', text);
    await publish('typing.a', '{"user":"Ann"}');
    assert.deepEqual(await lobby.event(1), { typing: { user: 'Ann', seconds: null } });
    assert.equal(await metric('crier_unrecognised_messages_total'), broken.length + 1);
  });

  it('reads what JSON.parse reads, also of JSON that no worker writes', async (t) => {
    const { url, hasChannel, publish } = await startStage(t);
    const lobby = watch(t, url, TYPING, { room: 'a' });
    await hasChannel('typing.a');
    await publish(
      'typing.a',
      ' { "user" : "Ann", "user" :"B\\u006fb", "seconds": 1e400, "__proto__": {"user": "Eve"} } ',
    );
    assert.deepEqual(await lobby.event(1), { typing: { user: 'Bob', seconds: null } });
    await publish('typing.a', '{"seconds":1.50}');
    assert.deepEqual(await lobby.event(2), { typing: { user: null, seconds: 1.5 } });
    await publish('typing.a', 'null');
    assert.deepEqual(await lobby.event(3), { typing: null });
  });

  it('refuses a room that could name another channel', async (t) => {
    const { connect, prefix } = await startStage(t);
    const socket = await connect();
    for (const room of ['', 'a.b', `${prefix}x.y`, '\ud800']) {
      socket.subscribe('1', TYPING, { room });
      const { type, payload } = await socket.next();
      assert.equal(type, 'error', room);
      assert.match(JSON.stringify(payload), /"BAD_USER_INPUT"/);
    }
  });

  it('executes an event once, however many sockets receive it', async (t) => {
    const { url, hasChannel, publish, metric } = await startStage(t, { DISABLE: '' });
    const query = 'subscription { typing(room: "a") { shout } }';
    const watches = Array.from({ length: 20 }, () => watch(t, url, query));
    await hasChannel('typing.a');
    await waitFor('the subscriptions', async () => (await metric('crier_subscriptions{field="typing"}')) === 20);
    await publish('typing.a', '{"user":"Ann"}');
    for (const one of watches) assert.deepEqual(await one.event(), { typing: { shout: 'ANN' } });
    assert.equal(await metric('crier_executions_total'), 1);
  });

  it('leaves the channel with its last subscriber', async (t) => {
    const { url, hasChannel } = await startStage(t);
    const lobby = watch(t, url, TYPING, { room: 'a' });
    await hasChannel('typing.a');
    await lobby.close();
    await hasChannel('typing.a', false);
  });
});

it('stops at the start if a channel could be one of its own', async (t) => {
  const graph = { 'schema.graphql': 'type Subscription { a(x: ID!): Int @redis(channel: "crier:{x}") }' };
  await assert.rejects(startGateway(t, { graph, settings: { CHANNEL_PREFIX: 'crier:' } }), /begin with CHANNEL_PREFIX/);
});
