import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { printParts } from '../../../../src/bus/carried-parts.ts';
import { printChange } from '../../../../src/bus/change-text.ts';
import { HISTORY_DEFAULTS } from '../../../../src/bus/history.ts';
import type { Start } from '../../../../src/gateway/fanout/hub.ts';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import { switches } from '../../../support/switches.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { COMPLETE, createStage, factsOf } from '../stage.ts';
import type { Listener, StageOptions } from '../stage.ts';

/** An interval in ms that does not end by itself while a test looks at what waits. */
const LONG = 3000;
const MATCH = 'match: [{ arg: "id", path: "id" }]';
const sdlOf = (ms: number) => `
  type Subscription {
    all(every_ms: Int): Item @kafka(topic: "t", pace: { ms: ${ms}, arg: "every_ms" })
    one(id: ID!): Item @kafka(topic: "t", ${MATCH}, state: {}, pace: { ms: ${ms} })
    kept: Item @kafka(topic: "t", history: {}, pace: { ms: ${ms} })
    high(min: Int): Item @kafka(topic: "t", where: [{ arg: "min", path: "n", op: GTE }], pace: { ms: ${ms} })
    nulled: Item @kafka(topic: "t", tombstone: NULL, state: {}, pace: { ms: ${ms} })
    completed: Item @kafka(topic: "t", tombstone: COMPLETE, state: {}, pace: { ms: ${ms} })
    kept_completed: Item @kafka(topic: "t", tombstone: COMPLETE, history: {}, pace: { ms: ${ms} })
    latest_completed: Item @kafka(topic: "t", tombstone: COMPLETE, slow: LATEST)
    every: Item @kafka(topic: "t")
    latest: Item @kafka(topic: "t", slow: LATEST)
    kept_latest: Item @kafka(topic: "t", history: {}, slow: LATEST)
  }
  type Item { id: ID n: Int whose: ID }`;
const CHANNEL = 't{}';

interface Event {
  readonly n: number | null;
  readonly skipped?: number;
}

async function createItems(t: TestContext, ms: number, options: Partial<StageOptions> = {}) {
  const resolvers = {
    Item: { whose: (_: unknown, __: unknown, { connection }: { connection: { id: string } }) => connection.id },
  };
  const cursors = new Cursors('secret');
  const stage = await createStage(t, { sdl: sdlOf(ms), resolvers, cursors, ...options });
  await stage.bus.acquire({ topic: 't', partition: 0, position: -1 });
  let next = 0;
  /** Publishes records of the topic at once. `key`: of the record; undefined: its message does not carry it. */
  const publish = async (...records: readonly (readonly [key: string | null | undefined, payload: unknown])[]) => {
    const messages = records.map(([key, payload], i) => ({
      channel: CHANNEL,
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
      offset: next + i,
      timestamp: 0,
      history: HISTORY_DEFAULTS,
      ...(key !== undefined && { record: printParts({ headers: {}, id: key }) }),
    }));
    next += records.length;
    await stage.bus.publish(messages, { topic: 't', partition: 0, offset: next - 1 });
  };
  const join = (field: string, start?: Start, id = field, selection = 'id n', variables?: Record<string, unknown>) =>
    stage.join(
      `subscription ${variables ? '($every_ms: Int) ' : ''}{ ${field} { ${selection} } }`,
      factsOf(id, {}),
      variables,
      start,
    );
  return { stage, publish, join };
}

const item = (id: string, n: number): [string, object] => [id, { id, n }];

function eventsOf({ received }: Listener): Event[] {
  return received
    .filter((text) => text !== COMPLETE)
    .map((text) => {
      const { data, extensions } = JSON.parse(text) as {
        data: Record<string, { n: number } | null>;
        extensions?: { skipped?: number };
      };
      const { skipped } = extensions ?? {};
      return { n: Object.values(data)[0]?.n ?? null, ...(skipped !== undefined && { skipped }) };
    });
}

function cursorOf({ received }: Listener): unknown {
  return (JSON.parse(received.at(-1)!) as { extensions: { cursor: string } }).extensions.cursor;
}

const receives = (listener: Listener, count: number) =>
  waitFor(`${count} events`, () => listener.received.length >= count);

const since = (listener: Listener): Start => ({ cursor: cursorOf(listener), replaysLast: false, hasHistory: true });

describe('a field with pace', () => {
  it('delivers the first event of a key at once, then the newest of each interval, and says how many it replaces', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const [paced, every] = [await join('all'), await join('every')];
    await publish(item('a', 1), item('a', 2), item('b', 3), item('a', 4), item('a', 5), item('b', 6));
    await receives(paced, 4);
    assert.deepEqual(eventsOf(paced), [{ n: 1 }, { n: 3 }, { n: 5, skipped: 2 }, { n: 6 }]);
    assert.equal(every.received.length, 6);
    assert.deepEqual(stage.skipped, { pace: 2, slow: 0 });
  });

  it('delivers what is due at a time in the order of arrival, so that each cursor covers those before it', async (t) => {
    const orders = new Set<string>();
    // Where the intervals of both keys end in different milliseconds, each event is delivered at its own time.
    for (let attempt = 0; attempt < 20 && !orders.has('1,2,3,4'); attempt++) {
      const { publish, join } = await createItems(t, 50);
      const paced = await join('all');
      await publish(item('a', 1), item('b', 2), item('b', 3), item('a', 4));
      await receives(paced, 4);
      orders.add(
        eventsOf(paced)
          .map(({ n }) => n)
          .join(),
      );
    }
    assert.ok(orders.delete('1,2,3,4'));
    assert.deepEqual(
      [...orders].filter((order) => order !== '1,2,4,3'),
      [],
    );
  });

  it('delivers no event that is alone later', async (t) => {
    const { publish, join } = await createItems(t, LONG);
    const paced = await join('all');
    for (let n = 0; n < 5; n++) await publish(item(`${n}`, n));
    await receives(paced, 5);
    assert.deepEqual(
      eventsOf(paced).map(({ n }) => n),
      [0, 1, 2, 3, 4],
    );
  });

  it('executes once for all who share it, and gives each what its own execution would', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const shared = await Promise.all(['a', 'b', 'c'].map((id) => join('all', undefined, id)));
    const own = await Promise.all(['a', 'b', 'c'].map((id) => join('all', undefined, id, 'n whose')));
    await publish(...[1, 2, 3, 4].map((n) => item('a', n)));
    await Promise.all([...shared, ...own].map((listener) => receives(listener, 2)));
    for (const listener of [...shared, ...own]) assert.deepEqual(eventsOf(listener), [{ n: 1 }, { n: 4, skipped: 2 }]);
    for (const [i, { received }] of own.entries())
      for (const text of received) assert.match(text, new RegExp(`"whose":"${'abc'[i]}"`));
    assert.equal(stage.executions, switches.SHARING ? 2 + 6 : 12);
    // Once for each group.
    assert.equal(stage.skipped.pace, switches.SHARING ? 4 : 12);
  });

  it('takes all events of a channel for one key that the field keeps the state of, whatever the keys of the records are', async (t) => {
    const { stage, join } = await createItems(t, 50);
    const one = await stage.join('subscription { one(id: 7) { n } }', factsOf('x', {}));
    const channel = stage.routes({ id: 7, n: 0 }).find((name) => name !== CHANNEL);
    assert.ok(await join('all'));
    const messages = [1, 2, 3].map((n, offset) => ({
      channel: channel!,
      payload: JSON.stringify({ id: 7, n }),
      offset,
      timestamp: 0,
      record: printParts({ headers: {}, id: `${n}` }),
    }));
    await stage.bus.publish(messages, { topic: 't', partition: 0, offset: 2 });
    await receives(one, 2);
    assert.deepEqual(eventsOf(one), [{ n: 1 }, { n: 3, skipped: 1 }]);
  });

  it('takes records without a key for one key', async (t) => {
    const { publish, join } = await createItems(t, 50);
    const paced = await join('all');
    await publish([null, { n: 1 }], [null, { n: 2 }], [null, { n: 3 }]);
    await receives(paced, 2);
    assert.deepEqual(eventsOf(paced), [{ n: 1 }, { n: 3, skipped: 1 }]);
  });

  it('delivers an event at once whose message does not carry its key, and before it what waits', async (t) => {
    const { publish, join } = await createItems(t, LONG);
    const paced = await join('all');
    await publish(item('a', 1), item('a', 2), [undefined, { n: 3 }], [undefined, { n: 4 }]);
    await receives(paced, 4);
    assert.deepEqual(
      eventsOf(paced).map(({ n }) => n),
      [1, 2, 3, 4],
    );
  });

  it('is slowed by an argument for one subscription, and by none below its interval', async (t) => {
    const { publish, join } = await createItems(t, 20);
    const field = 'all(every_ms: $every_ms)';
    const fast = await join(field, undefined, 'a', 'n', {});
    const slow = await join(field, undefined, 'b', 'n', { every_ms: LONG });
    await publish(item('a', 1));
    for (let n = 2; n < 12; n++) {
      await publish(item('a', n));
      await delay(10);
    }
    await waitFor('the last event', () => eventsOf(fast).at(-1)!.n === 11);
    assert.ok(fast.received.length > 2);
    assert.deepEqual(eventsOf(slow), [{ n: 1 }]);
    slow.leave();
    for (const every_ms of [19, 0, -1, 60_001])
      await assert.rejects(
        join(field, undefined, 'c', 'n', { every_ms }),
        /The argument "every_ms" must be 20 to 60000: the least time in ms between two events/,
      );
  });

  it('takes for the newest event only one that its filter accepts', async (t) => {
    const { publish, join } = await createItems(t, 50);
    const high = await join('high(min: 10)');
    await publish(item('a', 10), item('a', 1), item('a', 20), item('a', 2));
    await receives(high, 2);
    assert.deepEqual(eventsOf(high), [{ n: 10 }, { n: 20 }]);
  });

  it('replaces an event by the tombstone of its key', async (t) => {
    const { publish, join } = await createItems(t, 50);
    const [nulled, all] = [await join('nulled'), await join('all')];
    await publish(item('a', 1), item('a', 2), ['a', null]);
    await receives(nulled, 2);
    assert.deepEqual(eventsOf(nulled), [{ n: 1 }, { n: null, skipped: 1 }]);
    // Of a field that skips tombstones it is no event.
    await receives(all, 2);
    assert.deepEqual(eventsOf(all), [{ n: 1 }, { n: 2 }]);
  });

  it('delivers what waits before a tombstone completes it', async (t) => {
    const { stage, publish, join } = await createItems(t, LONG);
    const completed = await join('completed');
    await publish(item('a', 1), item('a', 2), item('b', 3), item('b', 4), ['a', null], item('a', 5));
    await waitFor('its end', () => completed.received.includes(COMPLETE));
    assert.deepEqual(
      eventsOf(completed).map(({ n }) => n),
      [1, 3, 2, 4],
    );
    assert.equal(completed.received.at(-1), COMPLETE);
    completed.leave();
    await waitFor('no held bytes', () => stage.heldBytes() === 0);
  });

  it('does not hold up flow control, and holds nothing once its subscriptions have left', async (t) => {
    const { stage, publish, join } = await createItems(t, LONG);
    const paced = await join('all');
    await publish(...[1, 2, 3].map((n) => item('a', n)));
    await receives(paced, 1);
    await waitFor('served bytes', () => stage.waitingBytes() === 0);
    assert.ok(stage.heldBytes() > 0);
    paced.leave();
    assert.equal(stage.heldBytes(), 0);
  });

  it('delivers at once what the pod has no room to hold', async (t) => {
    const { publish, join } = await createItems(t, LONG, { maxHeldBytes: 300 });
    const paced = await join('all');
    await publish(...[1, 2, 3].map((n) => item('a', n)));
    await receives(paced, 3);
    assert.deepEqual(eventsOf(paced), [{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('gives a subscription no event from before its join', async (t) => {
    const { publish, join } = await createItems(t, 300);
    const first = await join('all');
    await publish(item('a', 1), item('a', 2));
    await receives(first, 1);
    const second = await join('all', undefined, 'second');
    await receives(first, 2);
    await publish(item('a', 3));
    await receives(second, 1);
    await receives(first, 3);
    assert.deepEqual(
      eventsOf(second).map(({ n }) => n),
      [3],
    );
    assert.deepEqual(
      eventsOf(first).map(({ n }) => n),
      [1, 2, 3],
    );
  });
});

describe('a cursor of a field with pace', () => {
  it('loses no event of another key that waited', async (t) => {
    const { publish, join } = await createItems(t, LONG);
    const paced = await join('kept');
    // b3 waits while c4 is delivered.
    await publish(item('a', 1), item('b', 2), item('b', 3), item('c', 4));
    await receives(paced, 3);
    assert.deepEqual(
      eventsOf(paced).map(({ n }) => n),
      [1, 2, 4],
    );
    const start = since(paced);
    paced.leave();
    const resumed = await join('kept', start);
    await receives(resumed, 2);
    assert.deepEqual(
      eventsOf(resumed).map(({ n }) => n),
      [3, 4],
    );
    assert.match(resumed.received[0]!, /"resumed":true/);
  });

  it('replays the newest event of each key, and says how many it replaces', async (t) => {
    const { stage, publish, join } = await createItems(t, LONG);
    const paced = await join('kept');
    await publish(item('a', 0));
    await receives(paced, 1);
    const start = since(paced);
    paced.leave();
    const other = await join('every');
    await publish(...[1, 2, 3, 4, 5, 6].map((n) => item(n % 2 ? 'a' : 'b', n)), item('c', 7));
    await receives(other, 7);
    const { executions } = stage;
    const resumed = await join('kept', start);
    await receives(resumed, 3);
    assert.deepEqual(eventsOf(resumed), [{ n: 5, skipped: 2 }, { n: 6, skipped: 2 }, { n: 7 }]);
    assert.equal(stage.executions - executions, 3);
  });

  it('replays what was missed before a tombstone, which completes it, and nothing after it', async (t) => {
    const { publish, join } = await createItems(t, LONG);
    const paced = await join('kept_completed');
    await publish(item('c', 1));
    await receives(paced, 1);
    const start = since(paced);
    paced.leave();
    const other = await join('every');
    await publish(item('a', 2), item('b', 3), ['a', null], item('b', 4), item('a', 5));
    await receives(other, 4);
    const resumed = await join('kept_completed', start);
    await receives(resumed, 3);
    assert.deepEqual(eventsOf(resumed), [{ n: 2 }, { n: 3 }]);
    assert.equal(resumed.received.at(-1), COMPLETE);
    resumed.leave();
  });

  it('loses nothing where its graph is replaced by one without a pace during the replay', async (t) => {
    const { publish, join } = await createItems(t, 50);
    const paced = await join('kept');
    await publish(item('z', 1));
    await receives(paced, 1);
    const start = since(paced);
    paced.leave();
    const other = await join('every');
    await publish(...Array.from({ length: 100 }, (_, n) => item(`${n}`, n)));
    await receives(other, 100);
    const resumed = await join('kept', start, 'resumed');
    resumed.socket.isBackpressured = true;
    await delay(30);
    assert.ok(resumed.received.length < 100);
    resumed.subscription.pace = undefined;
    resumed.socket.isBackpressured = false;
    await receives(resumed, 100);
    await publish(item('y', 100));
    await receives(resumed, 101);
    assert.deepEqual(
      eventsOf(resumed).map(({ n }) => n),
      Array.from({ length: 101 }, (_, n) => n),
    );
  });

  it('does not repeat to a client that resumes what waits for others', async (t) => {
    const { publish, join } = await createItems(t, 400);
    const paced = await join('kept');
    await publish(item('a', 1));
    await receives(paced, 1);
    await publish(item('a', 2));
    const resumed = await join('kept', since(paced), 'second');
    await receives(resumed, 1);
    await publish(item('b', 3));
    await receives(paced, 3);
    await receives(resumed, 2);
    assert.deepEqual(
      eventsOf(resumed).map(({ n }) => n),
      [2, 3],
    );
  });
});

/** The subscription continues as this operation, of another graph. */
function move(
  { runtime, hub }: Awaited<ReturnType<typeof createStage>>,
  { subscription }: Listener,
  query: string,
): void {
  const operation = runtime.prepare({ query }, undefined);
  assert.ok(!('errors' in operation));
  subscription.operation = operation;
  hub().move(CHANNEL, query, subscription);
}

describe('a field whose client is about to leave', () => {
  it('sends it what waits for its interval, and the others nothing before', async (t) => {
    const { stage, publish, join } = await createItems(t, LONG);
    const [leaving, lingering, staying] = [await join('kept'), await join('kept'), await join('kept')];
    await publish(item('a', 1), item('b', 2), item('b', 3), item('a', 4), item('b', 5));
    await receives(staying, 2);
    const late = await join('kept');
    leaving.sendWaiting();
    lingering.sendWaiting();
    late.sendWaiting();
    await receives(leaving, 4);
    assert.deepEqual(eventsOf(leaving), [{ n: 1 }, { n: 2 }, { n: 4 }, { n: 5, skipped: 1 }]);
    assert.deepEqual([eventsOf(staying), eventsOf(late)], [[{ n: 1 }, { n: 2 }], []]);
    // Its cursor covers what it was sent, and that of the others does not.
    const start = since(leaving);
    leaving.leave();
    await publish(item('c', 6));
    const resumed = await join('kept', start, 'resumed');
    await receives(resumed, 1);
    assert.deepEqual(eventsOf(resumed), [{ n: 6 }]);
    await receives(staying, 5);
    assert.deepEqual(eventsOf(staying), [{ n: 1 }, { n: 2 }, { n: 6 }, { n: 4 }, { n: 5, skipped: 1 }]);
    // The interval has ended before its connection.
    assert.deepEqual(eventsOf(lingering), [{ n: 1 }, { n: 2 }, { n: 4 }, { n: 5, skipped: 1 }, { n: 6 }]);
    // Once for all who share it.
    assert.equal(stage.skipped.pace, switches.SHARING ? 1 : 2);
  });

  it('sends it what waits because it does not keep up, up to 256 KB', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const [slow, every] = [await join('latest'), await join('every')];
    slow.socket.isBackpressured = true;
    await publish(item('a', 1), item('b', 2), item('a', 3));
    const large = Array.from({ length: 50 }, (_, n): [string, object] => [`${n}`, { n, text: 'x'.repeat(9000) }]);
    await publish(...large);
    await receives(every, 53);
    slow.sendWaiting();
    assert.deepEqual(eventsOf(slow).slice(0, 3), [{ n: 3, skipped: 1 }, { n: 2 }, { n: 0 }]);
    assert.ok(slow.received.length > 25 && slow.received.length < 35, `${slow.received.length}`);
    slow.leave();
    assert.equal(stage.heldBytes(), 0);
  });
});

describe('a field with slow: LATEST', () => {
  it('gives a client that does not keep up the newest event of each key, once it reads', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const [slow, healthy, every] = [await join('latest', undefined, 'slow'), await join('latest'), await join('every')];
    await publish(item('a', 1));
    await receives(slow, 1);
    for (const listener of [slow, every]) listener.socket.isBackpressured = true;
    for (let n = 2; n < 400; n++) await publish(item(n % 2 ? 'a' : 'b', n));
    await receives(healthy, 399);
    await delay(50);
    assert.equal(slow.received.length, 1);
    assert.equal(slow.socket.isRefused, false);
    assert.ok(stage.heldBytes() < 2000, `${stage.heldBytes()} bytes`);
    slow.socket.isBackpressured = false;
    await receives(slow, 3);
    assert.deepEqual(eventsOf(slow).slice(1), [
      { n: 398, skipped: 198 },
      { n: 399, skipped: 198 },
    ]);
    assert.deepEqual(stage.skipped, { pace: 0, slow: 396 });
    await publish(item('a', 400));
    await receives(slow, 4);
    assert.deepEqual(eventsOf(slow).at(-1), { n: 400 });
    assert.equal(stage.heldBytes(), 0);
  });

  it('serves all keys in turn, though some have many more events', async (t) => {
    const { publish, join } = await createItems(t, 50);
    const slow = await join('latest');
    slow.socket.isBackpressured = true;
    await publish(item('hot', 1), item('b', 2), item('c', 3), item('hot', 4));
    await waitFor('what waits', () => slow.received.length === 0);
    await delay(30);
    slow.socket.isBackpressured = false;
    await receives(slow, 3);
    assert.deepEqual(eventsOf(slow), [{ n: 4, skipped: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('gives it no older event after a newer one, where a message does not carry its key', async (t) => {
    const { publish, join } = await createItems(t, 50);
    const slow = await join('latest');
    slow.socket.isBackpressured = true;
    await publish(item('a', 1), item('a', 2), [undefined, { id: 'a', n: 3 }], item('a', 4), item('a', 5));
    await delay(30);
    slow.socket.isBackpressured = false;
    await receives(slow, 3);
    assert.deepEqual(eventsOf(slow), [{ n: 2, skipped: 1 }, { n: 3 }, { n: 5, skipped: 1 }]);
  });

  it('gives it what waits before a tombstone completes it, and nothing after it', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const slow = await join('latest_completed');
    slow.socket.isBackpressured = true;
    await publish(item('a', 1), item('b', 2), ['a', null], item('a', 3), item('b', 4));
    await delay(30);
    slow.socket.isBackpressured = false;
    await waitFor('its end', () => slow.received.includes(COMPLETE));
    assert.deepEqual(eventsOf(slow), [{ n: 1 }, { n: 2 }]);
    assert.equal(slow.received.at(-1), COMPLETE);
    slow.leave();
    assert.equal(stage.heldBytes(), 0);
  });

  it('gives a client that resumes, and keeps up, each event', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const first = await join('kept_latest');
    await publish(item('a', 1));
    await receives(first, 1);
    const start = since(first);
    first.leave();
    const other = await join('every');
    await publish(item('a', 2), item('a', 3), item('a', 4));
    await receives(other, 3);
    const resumed = await join('kept_latest', start);
    await waitFor('the newest event', () => eventsOf(resumed).at(-1)?.n === 4);
    assert.deepEqual(eventsOf(resumed), [{ n: 2 }, { n: 3 }, { n: 4 }]);
    assert.deepEqual(stage.skipped, { pace: 0, slow: 0 });
  });

  it('gives it cursors that lose none of the events that wait', async (t) => {
    const { publish, join } = await createItems(t, 50);
    const slow = await join('kept_latest');
    await publish(item('a', 1));
    await receives(slow, 1);
    slow.socket.isBackpressured = true;
    await publish(item('hot', 2), item('b', 3), item('hot', 4));
    await delay(30);
    slow.socket.isBackpressured = false;
    await receives(slow, 3);
    const [, hot, last] = slow.received.map((text) => JSON.parse(text) as { extensions: { cursor: string } });
    const resumed = async ({ extensions: { cursor } }: { extensions: { cursor: string } }, count: number) => {
      const listener = await join('kept_latest', { cursor, replaysLast: false, hasHistory: true }, cursor);
      if (count > 0) await receives(listener, count);
      return eventsOf(listener).map(({ n }) => n);
    };
    assert.deepEqual(await resumed(hot!, 2), [3, 4]);
    assert.deepEqual(await resumed(last!, 1), [4]);
  });

  it('keeps what waits, in its order, for a client whose graph is replaced', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const [slow, every] = [await join('latest'), await join('every')];
    slow.socket.isBackpressured = true;
    await publish(item('a', 1), item('b', 2), item('a', 3));
    await receives(every, 3);
    move(stage, slow, 'subscription { latest { n } }');
    await delay(30);
    assert.deepEqual(slow.received, []);
    await publish(item('a', 4), item('c', 5));
    await receives(every, 5);
    slow.socket.isBackpressured = false;
    await receives(slow, 3);
    await publish(item('a', 6));
    await receives(slow, 4);
    assert.deepEqual(eventsOf(slow), [{ n: 4, skipped: 2 }, { n: 2 }, { n: 5 }, { n: 6 }]);
    // As the operation of the new graph.
    assert.match(slow.received[0]!, /^\{"data":\{"latest":\{"n":4\}\}/);
    assert.equal(stage.heldBytes(), 0);
  });

  it('drops what waits for a client whose graph is replaced, and that leaves before another event', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const [slow, every] = [await join('latest'), await join('every')];
    slow.socket.isBackpressured = true;
    await publish(item('a', 1), item('b', 2));
    await receives(every, 2);
    move(stage, slow, 'subscription { latest { n } }');
    await delay(30);
    slow.leave();
    assert.deepEqual([slow.received.length, stage.heldBytes()], [0, 0]);
  });

  it('gives a client what waits before the events of a graph without it', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const [slow, every] = [await join('latest'), await join('every')];
    slow.socket.isBackpressured = true;
    await publish(item('a', 1), item('b', 2), item('a', 3));
    await receives(every, 3);
    slow.subscription.pace = undefined;
    move(stage, slow, 'subscription { latest { n } }');
    await publish(item('a', 4));
    await receives(slow, 3);
    assert.deepEqual(eventsOf(slow), [{ n: 3, skipped: 1 }, { n: 2 }, { n: 4 }]);
    assert.equal(stage.heldBytes(), 0);
  });

  it('drops what waits for a client that leaves', async (t) => {
    const { stage, publish, join } = await createItems(t, 50);
    const slow = await join('latest');
    slow.socket.isBackpressured = true;
    await publish(item('a', 1), item('a', 2));
    await waitFor('what waits', () => stage.heldBytes() > 0);
    slow.leave();
    await waitFor('no held bytes', () => stage.heldBytes() === 0);
    assert.equal(slow.received.length, 0);
  });

  it('closes it once the pod has no room for another key', async (t) => {
    const { publish, join } = await createItems(t, 50, { maxHeldBytes: 2000 });
    const slow = await join('latest');
    slow.socket.isBackpressured = true;
    for (let n = 0; n < 10; n++) await publish(item(`${n}`, n));
    await waitFor('its end', () => slow.socket.isRefused);
    slow.leave();
  });

  it('closes it once the pod has no room for the newest event of a key', async (t) => {
    const { stage, publish, join } = await createItems(t, 50, { maxHeldBytes: 3000 });
    const slow = await join('latest');
    slow.socket.isBackpressured = true;
    await publish(item('a', 1));
    await waitFor('what waits', () => stage.heldBytes() > 0);
    await publish(['a', { id: 'a', n: 2, text: 'x'.repeat(4000) }]);
    await waitFor('its end', () => slow.socket.isRefused);
    assert.ok(stage.heldBytes() <= 3000, `${stage.heldBytes()} bytes`);
    slow.leave();
  });
});

describe('rows of a field with pace', () => {
  const row = (id: string, n: number) => ({ id, n });
  const change = (
    before: object | null,
    after: object | null,
    op: 'CREATE' | 'UPDATE' | 'DELETE',
  ): [string, string] => ['a', `${JSON.stringify(after)}${printChange({ op }, JSON.stringify(before))}`];

  it('receive the delete of a row that leaves the filter, or is gone, and never an older row after it', async (t) => {
    const rules = 'topic: "t", envelope: DEBEZIUM, before: WHOLE, pace: { ms: 60 }';
    const sdl = `
      type Subscription {
        nulled(min: Int): Row @kafka(${rules}, tombstone: NULL, where: [{ arg: "min", path: "n", op: GTE }])
        rows: Row @kafka(${rules}, tombstone: ROW)
        completed: Row @kafka(${rules}, tombstone: COMPLETE)
      }
      type Row { id: ID n: Int op: String @change(field: OP) }`;
    const { stage, publish } = await createItems(t, 50, { sdl, resolvers: {} });
    const join = (text: string) => stage.join(`subscription { ${text} }`, factsOf('x', {}));
    const nulled = await join('nulled(min: 10) { n op }');
    const rows = await join('rows { n op }');
    const completed = await join('completed { n op }');
    await publish(change(null, row('a', 10), 'CREATE'));
    await receives(nulled, 1);
    await publish(
      change(row('a', 10), row('a', 11), 'UPDATE'),
      change(row('a', 11), row('a', 1), 'UPDATE'),
      change(row('a', 1), row('a', 2), 'UPDATE'),
    );
    await receives(nulled, 2);
    assert.deepEqual(eventsOf(nulled), [{ n: 10 }, { n: null, skipped: 1 }]);
    await receives(rows, 2);
    await publish(change(row('a', 2), row('a', 3), 'UPDATE'), change(row('a', 3), null, 'DELETE'));
    await receives(rows, 3);
    assert.deepEqual(eventsOf(rows).at(-1)!.n, 3);
    assert.match(rows.received.at(-1)!, /"op":"DELETE"/);
    await waitFor('its end', () => completed.received.at(-1) === COMPLETE);
    assert.equal(eventsOf(completed).at(-1)!.n, 3);
  });
});
