import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { cursorSuffix, resultBytesOf } from '../../../src/gateway/fanout/outbox/frame.ts';
import { CatchUp } from '../../../src/gateway/streams/catch-up.ts';
import { createServer } from '../../../src/library/create-server.ts';
import { defineGraph } from '../../../src/library/define-graph.ts';
import { metricOf } from '../../support/metric.ts';
import type { Scope } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startRedisGateway } from '../websocket/redis-gateway.ts';

const SCHEMA = `
  type Thing { id: ID seq: Int text: String kind: String }
  type Subscription {
    thing(id: ID!): Thing @kafka(topic: "things", match: { arg: "id", path: "id" }, history: { entries: 2000 })
    ofKind(kind: String!): Thing @kafka(topic: "things", history: { entries: 2000 }, where: { arg: "kind", path: "kind", op: EQ })
    paced(id: ID!): Thing
      @kafka(topic: "things", match: { arg: "id", path: "id" }, history: { entries: 2000 }, pace: { ms: 60000 })
    brief(id: ID!): Thing @kafka(topic: "things", match: { arg: "id", path: "id" }, history: { seconds: 3 })
    latest(id: ID!): Thing @kafka(topic: "states", match: { arg: "id", path: "id" }, state: {})
    passing(id: ID!): Thing @kafka(topic: "others", match: { arg: "id", path: "id" })
  }`;
const QUERY = 'subscription { event: thing(id: 1) { seq } }';

interface Event {
  readonly data: { readonly event: { readonly seq: number } };
  readonly extensions: { readonly cursor: string; readonly resumed?: boolean; readonly initial?: true };
}

interface Reply {
  readonly events: readonly Event[];
  readonly cursor: string | null;
  readonly resumed: boolean;
  readonly more?: true;
  readonly errors?: readonly { readonly message: string }[];
}

interface Resume {
  readonly cursor?: string | null;
  readonly wait?: unknown;
}

const sequence = ({ events }: Reply) => events.map(({ data }) => data.event.seq);

async function start(scope: Scope) {
  const graph = defineGraph({ schema: SCHEMA });
  const server = await createServer({ graph, host: '127.0.0.1', port: 0, logLevel: 'silent', drainDelayMs: 0 });
  scope.after(() => server.close());
  let seq = 0;
  const publish = async (count: number, value: object = {}, topic = 'things') => {
    for (let i = 0; i < count; i++) await server.publish(topic, { value: { id: 1, seq: ++seq, ...value } });
  };
  const ask = (resume: Resume | undefined, query = QUERY, signal?: AbortSignal) => {
    const params = { query, ...(resume && { extensions: JSON.stringify({ resume }) }) };
    return fetch(`${server.url}?${new URLSearchParams(params).toString()}`, {
      headers: { accept: 'application/json', 'apollo-require-preflight': 'true' },
      ...(signal && { signal }),
    });
  };
  const poll = async (resume: Resume, query = QUERY): Promise<Reply> => {
    const response = await ask(resume, query);
    assert.equal(response.status, 200);
    return (await response.json()) as Reply;
  };
  const operations = async (count: number) =>
    waitFor(`${count} operations`, async () => (await metricOf(server.adminUrl, 'crier_operations')) === count);
  return { server, publish, ask, poll, operations };
}

describe('a request for what a client has missed', () => {
  it('waits for no pace, and its cursor is behind no event that does', async (t) => {
    const { publish, poll, operations } = await start(t);
    const query = 'subscription { event: paced(id: 1) { seq } }';
    // A channel without an event has no cursor.
    await publish(1);
    const { cursor } = await poll({ cursor: null }, query);
    await publish(3);
    let reply = await poll({ cursor }, query);
    assert.deepEqual(sequence(reply), [2, 3, 4]);
    for (const seq of [5, 6]) {
      const waiting = poll({ cursor: reply.cursor, wait: 30 }, query);
      await operations(1);
      await publish(1);
      reply = await waiting;
      assert.deepEqual(sequence(reply), [seq]);
    }
  });

  it('is answered with each event once, in order, and with the cursor of the next request', async (t) => {
    const { publish, poll } = await start(t);
    await publish(1);
    const first = await poll({ cursor: null });
    assert.deepEqual([first.events, first.resumed], [[], false]);
    await publish(3);
    const second = await poll({ cursor: first.cursor });
    assert.deepEqual([sequence(second), second.resumed], [[2, 3, 4], true]);
    assert.equal(second.cursor, second.events.at(-1)!.extensions.cursor);
    assert.deepEqual(
      second.events.map(({ extensions }) => extensions.resumed),
      [true, undefined, undefined],
    );
    const third = await poll({ cursor: second.cursor });
    assert.deepEqual(third, { events: [], cursor: second.cursor, resumed: true });
  });

  it('waits for the first event as long as the client says', async (t) => {
    const { publish, poll, operations } = await start(t);
    await publish(1);
    const { cursor } = await poll({ cursor: null });
    const startedAt = performance.now();
    const idle = await poll({ cursor, wait: 0.3 });
    assert.deepEqual(idle, { events: [], cursor, resumed: true });
    assert.ok(performance.now() - startedAt >= 300);
    const waiting = poll({ cursor, wait: 30 });
    await operations(1);
    await publish(1);
    const woken = await waiting;
    assert.deepEqual([sequence(woken), woken.resumed], [[2], true]);
    await operations(0);
  });

  it('loses no event and brings none twice while events arrive', async (t) => {
    const { publish, poll } = await start(t);
    await publish(1);
    let { cursor } = await poll({ cursor: null });
    const publishing = publish(400);
    const received: number[] = [];
    while (received.length < 400) {
      const reply = await poll({ cursor, wait: 1 });
      assert.equal(reply.resumed, true);
      received.push(...sequence(reply));
      cursor = reply.cursor;
    }
    await publishing;
    assert.deepEqual(
      received,
      Array.from({ length: 400 }, (_, i) => i + 2),
    );
  });

  it('is answered in parts where much was missed', async (t) => {
    const { publish, poll } = await start(t);
    await publish(1);
    let reply = await poll({ cursor: null });
    await publish(1200);
    const received: number[] = [];
    let requests = 0;
    do {
      reply = await poll({ cursor: reply.cursor });
      received.push(...sequence(reply));
      requests++;
    } while (reply.more);
    assert.deepEqual(
      received,
      Array.from({ length: 1200 }, (_, i) => i + 2),
    );
    assert.ok(requests > 1 && requests <= 3, `${requests} requests`);
  });

  it('moves past the events that a filter excludes, also those that arrive while it waits', async (t) => {
    const { publish, poll, operations } = await start(t);
    const query = 'subscription { event: ofKind(kind: "a") { seq } }';
    await publish(1, { kind: 'b' });
    const { cursor } = await poll({ cursor: null }, query);
    await publish(1, { kind: 'b' });
    const missed = await poll({ cursor }, query);
    assert.deepEqual([missed.events, missed.resumed], [[], true]);
    assert.notEqual(missed.cursor, cursor);
    const waiting = poll({ cursor: missed.cursor, wait: 1 }, query);
    await operations(1);
    await publish(1, { kind: 'b' });
    const waited = await waiting;
    assert.deepEqual([waited.events, waited.resumed], [[], true]);
    assert.notEqual(waited.cursor, missed.cursor);
    await publish(1, { kind: 'a' });
    assert.deepEqual(sequence(await poll({ cursor: waited.cursor }, query)), [4]);
  });

  it('begins with the state, and receives it again only after it has changed', async (t) => {
    const { publish, poll } = await start(t);
    const query = 'subscription { event: latest(id: 1) { seq } }';
    await publish(2, {}, 'states');
    const first = await poll({ cursor: null }, query);
    assert.deepEqual([sequence(first), first.resumed, first.events[0]!.extensions.initial], [[2], false, true]);
    const second = await poll({ cursor: first.cursor }, query);
    assert.deepEqual([second.events, second.resumed], [[], true]);
    await publish(1, {}, 'states');
    assert.deepEqual(sequence(await poll({ cursor: first.cursor }, query)), [3]);
  });

  it('is told at each request that events may be missing once its channel was quiet for longer than the history', async (t) => {
    const { endpoint, worker } = await startRedisGateway(t, { graph: { 'schema.graphql': SCHEMA } });
    const query = 'subscription { event: brief(id: 1) { seq } }';
    const poll = async (resume: Resume) => {
      const params = new URLSearchParams({ query, extensions: JSON.stringify({ resume }) });
      const headers = { accept: 'application/json', 'apollo-require-preflight': 'true' };
      return (await (await fetch(`${endpoint}?${params.toString()}`, { headers })).json()) as Reply;
    };
    const publish = (seq: number) =>
      worker.publish('things{id="1"}', { id: 1, seq }, { ...HISTORY_DEFAULTS, seconds: 3 });
    await publish(1);
    const { cursor } = await poll({ cursor: null });
    assert.notEqual(cursor, null);
    // The event expires while the client waits.
    assert.deepEqual(await poll({ cursor, wait: 4 }), { events: [], cursor, resumed: true });
    const untold = { events: [], cursor: null, resumed: false };
    assert.deepEqual(await poll({ cursor }), untold);
    assert.deepEqual(await poll({ cursor: null }), untold);
    await publish(2);
    const missed = await poll({ cursor: null });
    assert.deepEqual([missed.events, missed.resumed], [[], false]);
    await publish(3);
    const next = await poll({ cursor: missed.cursor });
    assert.deepEqual([sequence(next), next.resumed], [[3], true]);
  });

  it('is told that events may be missing where its cursor is of another channel', async (t) => {
    const { publish, poll } = await start(t);
    await publish(2);
    const { cursor } = await poll({ cursor: null }, 'subscription { event: ofKind(kind: "a") { seq } }');
    const reply = await poll({ cursor });
    assert.deepEqual([reply.events, reply.resumed], [[], false]);
    assert.notEqual(reply.cursor, cursor);
  });

  it('is answered at once when the pod drains, with a cursor from which the next pod continues', async (t) => {
    const { server, publish, poll, operations } = await start(t);
    await publish(1);
    const { cursor } = await poll({ cursor: null });
    const waiting = poll({ cursor, wait: 30 });
    await operations(1);
    const startedAt = performance.now();
    await server.close();
    assert.deepEqual(await waiting, { events: [], cursor, resumed: true });
    assert.ok(performance.now() - startedAt < 10_000);
  });

  it('ends when its client leaves', async (t) => {
    const { publish, ask, operations } = await start(t);
    await publish(1);
    const leaving = new AbortController();
    const response = await ask({ cursor: null, wait: 30 }, QUERY, leaving.signal);
    await operations(1);
    leaving.abort();
    await assert.rejects(response.text());
    await operations(0);
  });

  it('names what is wrong with a request that cannot be answered', async (t) => {
    const { ask, poll } = await start(t);
    for (const wait of [-1, 31, '20', null]) {
      const response = await ask({ cursor: null, wait });
      assert.equal(response.status, 400);
      assert.equal(await response.text(), 'extensions.resume.wait is a number of seconds, from 0 to 30\n');
    }
    const { errors, events, cursor } = await poll({ cursor: null }, 'subscription { event: passing(id: 1) { seq } }');
    assert.match(errors![0]!.message, /whose field has "history" or "state" in @kafka/);
    assert.deepEqual([events, cursor], [[], null]);
    const { errors: refusals } = (await (await ask(undefined)).json()) as Reply;
    assert.match(refusals![0]!.message, /or extensions\.resume, for one reply with what was missed/);
  });

  it('names the cursor of Last-Event-ID, which is later than that of the body, where it can name no other', async (t) => {
    const { server } = await start(t);
    const query = 'subscription { event: passing(id: 1) { seq } }';
    const extensions = JSON.stringify({ resume: { cursor: 'earlier' } });
    const response = await fetch(`${server.url}?${new URLSearchParams({ query, extensions }).toString()}`, {
      headers: { accept: 'application/json', 'apollo-require-preflight': 'true', 'last-event-id': 'later' },
    });
    assert.equal(((await response.json()) as Reply).cursor, 'later');
  });

  it('is cut where events that it names may have been dropped, so that the client asks for them again', () => {
    const reply = CatchUp.of({ query: QUERY, extensions: { resume: { cursor: 'a' } } })!;
    const result = cursorSuffix('b');
    const events = Buffer.concat(reply.endResult(resultBytesOf([Buffer.from('{"data":{}')], result)).pieces).toString();
    const textOf = (code: number) => reply.opening + events + reply.closing(code);
    const event = { data: {}, extensions: { cursor: 'b' } };
    assert.deepEqual(JSON.parse(textOf(1001)), { events: [event], cursor: 'b', resumed: true, more: true });
    for (const code of [1013, 4403]) assert.throws(() => JSON.parse(textOf(code)), SyntaxError);
  });

  it('holds nothing for a client that has left', async () => {
    const reply = CatchUp.of({ query: QUERY, extensions: { resume: { cursor: 'a', wait: 0.01 } } })!;
    let waits = 0;
    reply.onCaughtUp('a', undefined, () => waits++);
    reply.close();
    await delay(50);
    assert.equal(waits, 0);
  });
});
