import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { redisServer } from '../../support/services.ts';
import { openSocket } from '../../support/socket.ts';
import type { Socket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startGateway } from './redis-gateway.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription {
      thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }])
    }
    type Thing { id: ID seq: Int }
  `,
};
const THING = 'subscription ($id: ID!) { thing(id: $id) { seq } }';

async function startStage(t: TestContext) {
  const { server, redis, prefix } = await startGateway(t, { graph: GRAPH });
  /** Resolves with the number of pods that received the event. */
  const publish = async (id: string, seq: number) => {
    const publisher = new Redis(redis.url);
    const pods = await publisher.publish(`${prefix}things{id=${JSON.stringify(id)}}`, JSON.stringify({ id, seq }));
    publisher.disconnect();
    return pods;
  };
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  };
  return { url: `ws://127.0.0.1:${server.port}/graphql`, redis, publish, metric };
}

async function connect(t: TestContext, url: string): Promise<Socket> {
  const socket = await openSocket(t, url, { patienceMs: 20_000 });
  await socket.init();
  return socket;
}

const event = (id: string, seq: number) => ({ id, type: 'next', payload: { data: { thing: { seq } } } });

describe('without Redis', () => {
  it('keeps live operations until Redis is back and refuses new ones, on the same sockets', async (t) => {
    const { url, redis, publish, metric } = await startStage(t);
    const sockets = [await connect(t, url), await connect(t, url)] as const;
    const [one, other] = sockets;
    for (const socket of sockets) socket.subscribe('live', THING, { id: '1' });
    one.subscribe('left', THING, { id: '2' });
    let seq = 0;
    await waitFor('two channels and three operations', async () => {
      for (const socket of sockets) await socket.roundTrip();
      return (await publish('1', --seq)) + (await publish('2', seq)) === 2;
    });
    const hasLast = ({ unread }: Socket, id: string) =>
      unread.some((message) => isDeepStrictEqual(message, event(id, seq)));
    await waitFor('events', () => sockets.every((socket) => hasLast(socket, 'live')) && hasLast(one, 'left'));
    for (const socket of sockets) await socket.roundTrip();

    await redis.stop();
    one.complete('left');
    other.subscribe('given up', THING, { id: '3' });
    other.complete('given up');
    one.subscribe('new', THING, { id: '4' });
    const refusal = await one.next();
    assert.deepEqual([refusal.type, refusal.id], ['error', 'new']);
    assert.match(JSON.stringify(refusal.payload), /"BUS_UNAVAILABLE"/);
    assert.doesNotMatch(JSON.stringify(refusal.payload), /127\.0\.0\.1|ECONN/);
    await redisServer(t, { port: redis.port });

    await waitFor('the channel to be subscribed again', async () => (await publish('1', 2)) === 1);
    for (const socket of sockets) {
      const { payload, ...rest } = event('live', 2);
      assert.deepEqual(await socket.next(), { ...rest, payload: { extensions: { gap: true }, ...payload } });
    }
    one.subscribe('new', THING, { id: '4' });
    // An event may arrive together with the acknowledgement of its channel, before the operation is live.
    await waitFor('an event of the new channel', async () => (await publish('4', 1)) === 1 && one.unread.length > 0);
    assert.deepEqual(await one.next(), event('new', 1));
    for (const id of ['2', '3']) assert.equal(await publish(id, 1), 0, `channel ${id} was left`);
    assert.ok((await metric('crier_bus_gaps_total')) >= 1);
    assert.equal(await metric('crier_channels'), 2);
    assert.deepEqual(await other.roundTrip(), []);
  });
});
