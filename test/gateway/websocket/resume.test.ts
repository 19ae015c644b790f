import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { redisServer } from '../../support/services.ts';
import type { ProtocolMessage, Socket } from '../../support/socket.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startRedisGateway } from './redis-gateway.ts';

const MATCH = 'topic: "things", match: [{ arg: "id", path: "id" }]';
const GRAPH = {
  'schema.graphql': `
    type Subscription {
      thing(id: ID!): Thing @kafka(${MATCH}, history: {})
      few(id: ID!): Thing @kafka(${MATCH}, history: { entries: 5 })
      secret(id: ID!): Thing @kafka(${MATCH}, history: {})
      last(id: ID!): Thing @kafka(${MATCH}, history: {}, replay: LAST)
      plain(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "plain_id" }])
    }
    type Thing { id: ID plain_id: ID seq: Int }
  `,
  'resolvers.js': `
    export const Subscription = { secret: { authorize: () => false } };
  `,
};
const THING = 'subscription { event: thing(id: 1) { seq } }';
const CHANNEL = 'things{id="1"}';
const PLAIN = 'subscription { event: plain(id: 1) { seq } }';
const PLAIN_CHANNEL = 'things{plain_id="1"}';

interface Extensions {
  readonly cursor?: string;
  readonly resumed?: boolean;
  readonly gap?: true;
}

interface Event extends Extensions {
  readonly seq: number;
}

/** An event's number and its `extensions`. */
function eventOf({ type, payload }: ProtocolMessage): Event {
  assert.equal(type, 'next', JSON.stringify(payload));
  const { data, extensions } = payload as { data: { event: { seq: number } }; extensions?: Extensions };
  return { seq: data.event.seq, ...extensions };
}

async function take(socket: Socket, count: number): Promise<Event[]> {
  return (await socket.take(count)).map(eventOf);
}

/** Numbers, each with its extensions without the cursor. */
const withoutCursors = (events: readonly Event[]): Event[] =>
  events.map(({ seq, resumed, gap }) => ({ seq, ...(resumed !== undefined && { resumed }), ...(gap && { gap }) }));

const resumeAt = (cursor: unknown) => ({ resume: { cursor } });

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i): Event => ({ seq: first + i }));

async function start(t: TestContext, redis?: Parameters<typeof startRedisGateway>[1]['redis']) {
  const gateway = await startRedisGateway(t, { graph: GRAPH, ...(redis && { redis }) });
  let seq = 0;
  /** Publishes the next numbers to a channel, by default to the one that has a history. */
  const publish = async (count = 1, channel = CHANNEL, history = HISTORY_DEFAULTS) => {
    for (let i = 0; i < count; i++) await gateway.worker.publish(channel, { id: 1, plain_id: 1, seq: ++seq }, history);
  };
  const publishPlain = async () => gateway.worker.publish(PLAIN_CHANNEL, { id: 2, plain_id: 1, seq: ++seq });
  /** A client that received 1 to `count` and disconnected, so the gateway has left the channel. */
  const seenUpTo = async (count: number, query = THING, channel = CHANNEL) => {
    const socket = await gateway.connect();
    socket.subscribe('1', query);
    await gateway.hasChannel(channel);
    await publish(count, channel);
    const events = await take(socket, count);
    assert.deepEqual(withoutCursors(events), range(1, count));
    socket.terminate();
    await gateway.hasChannel(channel, false);
    return events.at(-1)!.cursor!;
  };
  return { ...gateway, publish, publishPlain, seenUpTo };
}

describe('a client that resumes with its cursor', () => {
  it('receives every missed event once, also those published while it joins', async (t) => {
    const { connect, publish, seenUpTo, metric } = await start(t);
    const cursor = await seenUpTo(3);
    await publish(4);
    const socket = await connect();
    const publishing = publish(20);
    socket.subscribe('again', THING, undefined, resumeAt(cursor));
    await publishing;
    const events = await take(socket, 24);
    await publish();
    const [first, ...rest] = withoutCursors([...events, ...(await take(socket, 1))]);
    assert.deepEqual(first, { seq: 4, resumed: true });
    assert.deepEqual(rest, range(5, 28));
    assert.deepEqual(await socket.roundTrip(), []);
    assert.equal(await metric('crier_resumes_total{outcome="resumed"}'), 1);
  });

  it('receives a small cursor that is equal for all clients and different for each event', async (t) => {
    const { connect, publish, hasChannel } = await start(t);
    const sockets = [await connect(), await connect()] as const;
    for (const socket of sockets) socket.subscribe('1', THING);
    for (const socket of sockets) await socket.roundTrip();
    await hasChannel(CHANNEL);
    await publish(2);
    const [one, other] = [await take(sockets[0], 2), await take(sockets[1], 2)];
    assert.deepEqual(one, other);
    assert.notEqual(one[0]!.cursor, one[1]!.cursor);
    assert.match(one[0]!.cursor!, /^[\w.-]{20,80}$/);
  });

  it('receives resumed: false and no partial replay if it missed more than the field keeps', async (t) => {
    const { connect, publish, seenUpTo, hasChannel, counts } = await start(t);
    const limits = { ...HISTORY_DEFAULTS, entries: 5 };
    const cursor = await seenUpTo(3);
    await publish(6, CHANNEL, limits);
    const socket = await connect();
    socket.subscribe('again', THING, undefined, resumeAt(cursor));
    await hasChannel(CHANNEL);
    await socket.roundTrip();
    await counts('crier_resumes_total{outcome="incomplete"}', 1);
    await publish(2, CHANNEL, limits);
    assert.deepEqual(withoutCursors(await take(socket, 2)), [{ seq: 10, resumed: false }, { seq: 11 }]);
    assert.deepEqual(await socket.roundTrip(), []);
  });

  it('receives resumed: false for a cursor that is forged, of another channel or missing', async (t) => {
    const { connect, publish, seenUpTo, counts } = await start(t);
    const own = await seenUpTo(2);
    const changed = own.replace(
      /^(\w+)\.(\w+)\.(\w+)/,
      (_, epoch, partition, offset) => `${epoch}.${partition}.${offset}0`,
    );
    const socket = await connect();
    const cursors = [changed, `${own}x`, own.slice(0, -1), '', 'null', null, 17, {}, [own]];
    cursors.forEach((cursor, i) => socket.subscribe(`${i}`, THING, undefined, resumeAt(cursor)));
    socket.subscribe('other', 'subscription { event: thing(id: 2) { seq } }', undefined, resumeAt(own));
    socket.subscribe('none', THING, undefined, { resume: {} });
    const refused = cursors.length + 2;
    await counts('crier_resumes_total{outcome="cursor_invalid"}', refused);
    await publish();
    await publish(1, 'things{id="2"}');
    const events = await take(socket, refused);
    assert.deepEqual(
      events.map(({ resumed }) => resumed),
      events.map(() => false),
    );
    assert.deepEqual(await socket.roundTrip(), []);
  });

  it('is authorised before any history is read', async (t) => {
    const { connect, seenUpTo } = await start(t);
    const cursor = await seenUpTo(2);
    const socket = await connect();
    socket.subscribe('again', 'subscription { event: secret(id: 1) { seq } }', undefined, resumeAt(cursor));
    const answer = await socket.next();
    assert.equal(answer.type, 'error');
    assert.match(JSON.stringify(answer.payload), /"FORBIDDEN"/);
    assert.deepEqual(await socket.roundTrip(), []);
  });
});

describe('replay: LAST', () => {
  it('begins with the last event, then the live ones without a duplicate', async (t) => {
    const { connect, publish, seenUpTo } = await start(t);
    await seenUpTo(3);
    const socket = await connect();
    const publishing = publish(10);
    socket.subscribe('late', 'subscription { event: last(id: 1) { seq } }');
    await publishing;
    await publish();
    const events = await take(socket, 1);
    while (events.at(-1)!.seq < 14) events.push(...(await take(socket, 1)));
    const first = events[0]!.seq;
    assert.ok(first >= 3, `it began with ${first}`);
    assert.deepEqual(withoutCursors(events), range(first, 14));
    assert.deepEqual(await socket.roundTrip(), []);
  });
});

describe('a Redis that is killed', () => {
  it('and recovers with its data loses no event, for clients that stayed and clients that resume', async (t) => {
    const folder = await temporaryFolder(t);
    const flags = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', folder];
    const redis = await redisServer(t, { flags });
    const { connect, publish, hasChannel, seenUpTo, metric } = await start(t, redis);
    const cursor = await seenUpTo(3);
    const stays = await connect();
    stays.subscribe('stays', THING);
    await hasChannel(CHANNEL);
    await publish(2);
    redis.process.kill('SIGKILL');
    await redis.stop();
    const publishing = publish(5);
    await redisServer(t, { port: redis.port, flags });
    await publishing;
    await hasChannel(CHANNEL);
    assert.deepEqual(withoutCursors(await take(stays, 7)), range(4, 10));
    const back = await connect();
    back.subscribe('back', THING, undefined, resumeAt(cursor));
    await publish();
    assert.deepEqual(withoutCursors(await take(back, 8)), [{ seq: 4, resumed: true }, ...range(5, 11)]);
    assert.deepEqual(withoutCursors(await take(stays, 1)), range(11, 11));
    assert.equal(await metric('crier_gaps_total'), 0);
  });

  it('and recovers empty causes one gap: true for every subscriber, counted, and resumed: false for clients that resume', async (t) => {
    const { redis, connect, publish, publishPlain, hasChannel, seenUpTo, counts } = await start(t);
    const cursor = await seenUpTo(3);
    const sockets = [await connect(), await connect()];
    for (const socket of sockets) {
      socket.subscribe('kept', THING);
      socket.subscribe('plain', PLAIN);
    }
    for (const socket of sockets) await socket.roundTrip();
    await hasChannel(CHANNEL);
    await hasChannel(PLAIN_CHANNEL);
    await publish();
    for (const socket of sockets) await take(socket, 1);
    redis.process.kill('SIGKILL');
    await redis.stop();
    await redisServer(t, { port: redis.port });
    await hasChannel(CHANNEL);
    await hasChannel(PLAIN_CHANNEL);
    await counts('crier_gaps_total{reason="bus"}', 4);
    await publish(2);
    await publishPlain();
    for (const socket of sockets) {
      assert.deepEqual(withoutCursors(await take(socket, 3)), [
        { seq: 5, gap: true },
        { seq: 6 },
        { seq: 7, gap: true },
      ]);
    }
    const back = await connect();
    back.subscribe('back', THING, undefined, resumeAt(cursor));
    await counts('crier_resumes_total{outcome="incomplete"}', 1);
    await publish();
    assert.deepEqual(withoutCursors(await take(back, 1)), [{ seq: 8, resumed: false }]);
  });
});
