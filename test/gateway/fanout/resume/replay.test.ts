import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';
import type { StageOptions } from '../stage.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';

const SDL = `
  type Subscription { item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int slow: Int whose: ID }`;
const CHANNEL = 't{item.id="1"}';
const OTHER_CHANNEL = 't{item.id="2"}';
const QUERY = 'subscription { item(id: 1) { n } }';
/** For a test that counts executions. */
const SHARED = { hasSharing: true };
const LIMITS = { entries: 2500, bytes: 10_000_000, seconds: 60 };

interface Received {
  readonly data: { readonly item: { readonly n: number; readonly whose?: string } };
  readonly extensions?: { readonly cursor: string; readonly gap?: true; readonly resumed?: boolean };
}

interface Identity {
  readonly connection: { readonly id: string; readonly claims: Record<string, unknown> };
}

async function createChannel(t: TestContext, options: Partial<StageOptions> = {}) {
  const stage = await createStage(t, { sdl: SDL, cursors: new Cursors('secret'), ...options });
  const { bus } = stage;
  await bus.acquire({ topic: 't', partition: 0, position: -1 });
  const counts = { reads: 0 };
  const history = bus.history.bind(bus);
  bus.history = (...query) => {
    counts.reads++;
    return history(...query);
  };
  let next = 0;
  const publish = async (count: number, text = '', channel = CHANNEL) => {
    for (let i = 0; i < count; i++) {
      const offset = next++;
      const payload = JSON.stringify({ item: { id: 1, n: offset, text } });
      const message = { channel, payload, offset, timestamp: 0, history: LIMITS };
      await bus.publish([message], { topic: 't', partition: 0, offset });
    }
  };
  const join = async (id: string, cursor?: unknown, query = QUERY, claims: object = {}, replaysLast = false) => {
    const start = cursor !== undefined || replaysLast ? { cursor, replaysLast } : undefined;
    const listener = await stage.join(query, factsOf(id, claims), undefined, start);
    const events = () => listener.received.map((text) => JSON.parse(text) as Received);
    return { ...listener, events, numbers: () => events().map(({ data }) => data.item.n) };
  };
  /** Publishes `count` events and returns their cursors. */
  const cursorsOf = async (count: number, text = '') => {
    const listener = await join('first');
    await publish(count, text);
    await waitFor('the first events', () => listener.received.length === count);
    listener.leave();
    stage.executions = 0;
    return listener.events().map(({ extensions }) => extensions!.cursor);
  };
  return { stage, bus, counts, publish, join, cursorsOf };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('replays of one channel', () => {
  it('execute each event once for all resuming clients, and read the history once per cursor', async (t) => {
    const { stage, counts, publish, join, cursorsOf } = await createChannel(t, SHARED);
    const [cursor] = await cursorsOf(51);
    const clients = await Promise.all(range(0, 100).map((i) => join(`c${i}`, cursor)));
    await waitFor('all events', () => clients.every(({ received }) => received.length === 50));
    assert.deepEqual([stage.executions, counts.reads], [50, 1]);
    await publish(2);
    await waitFor('the live events', () => clients.every(({ received }) => received.length === 52));
    for (const { numbers } of clients) assert.deepEqual(numbers(), range(1, 53));
    assert.equal(stage.executions, 52);
    assert.ok(stage.heldBytes() > 0, 'for those who come next');
    for (const { leave } of clients) leave();
    assert.deepEqual([stage.channelCount(), stage.heldBytes()], [0, 0]);
  });

  it('execute each event for every client with sharing off', async (t) => {
    const { stage, counts, publish, join, cursorsOf } = await createChannel(t, { hasSharing: false });
    const [cursor] = await cursorsOf(11);
    const clients = await Promise.all(range(0, 20).map((i) => join(`c${i}`, cursor)));
    await waitFor('all events', () => clients.every(({ received }) => received.length === 10));
    await publish(2);
    await waitFor('the live events', () => clients.every(({ received }) => received.length === 12));
    for (const { numbers } of clients) assert.deepEqual(numbers(), range(1, 13));
    assert.deepEqual([stage.executions, counts.reads], [20 * 12, 1]);
  });

  it('execute an event once for all clients that missed it, even if their cursors differ', async (t) => {
    const { stage, counts, join, cursorsOf } = await createChannel(t, SHARED);
    const cursors = await cursorsOf(51);
    const clients = await Promise.all(range(0, 150).map((i) => join(`c${i}`, cursors[i % 50])));
    await waitFor('all events', () => clients.every(({ received }, i) => received.length === 50 - (i % 50)));
    clients.forEach(({ numbers }, i) => assert.deepEqual(numbers(), range((i % 50) + 1, 51)));
    assert.ok(stage.executions <= 50, `${stage.executions} executions`);
    assert.ok(counts.reads <= 2, `${counts.reads} reads`);
  });

  it('serve a client that resumes later from the same read and the live events since', async (t) => {
    const { stage, counts, publish, join, cursorsOf } = await createChannel(t, SHARED);
    const [cursor, , other] = await cursorsOf(11);
    const first = await join('a', cursor);
    await waitFor('the first client', () => first.received.length === 10);
    await publish(3);
    await waitFor('live events', () => first.received.length === 13);
    const late = [await join('b', cursor), await join('c', other)];
    await waitFor('the late clients', () => late[0]!.received.length === 13 && late[1]!.received.length === 11);
    assert.deepEqual([late[0]!.numbers(), late[1]!.numbers()], [range(1, 14), range(3, 14)]);
    assert.equal(counts.reads, 1);
    assert.ok(stage.executions <= 16, `${stage.executions} executions`);
  });

  it('read the last event once for all clients that begin with it', async (t) => {
    const { stage, counts, publish, join, cursorsOf } = await createChannel(t, SHARED);
    await cursorsOf(5);
    const clients = await Promise.all(range(0, 50).map((i) => join(`c${i}`, undefined, QUERY, {}, true)));
    await waitFor('all events', () => clients.every(({ received }) => received.length === 1));
    assert.deepEqual([stage.executions, counts.reads], [1, 1]);
    await publish(1);
    await waitFor('the next event', () => clients.every(({ received }) => received.length === 2));
    const late = await join('late', undefined, QUERY, {}, true);
    await waitFor('its first event', () => late.received.length === 1);
    assert.deepEqual([clients[0]!.numbers(), late.numbers(), counts.reads], [[4, 5], [5], 2]);
  });

  it('share no result that depends on one user, and every result that depends on the tenant only', async (t) => {
    const whose = ({ n }: { n: number }, _: unknown, { connection }: Identity) =>
      n % 2 ? connection.id : connection.claims['tenant'];
    const { stage, join, cursorsOf } = await createChannel(t, { ...SHARED, resolvers: { Item: { whose } } });
    const [cursor] = await cursorsOf(41);
    const query = 'subscription { item(id: 1) { n whose } }';
    const clients = await Promise.all(range(0, 20).map((i) => join(`c${i}`, cursor, query, { tenant: `t${i % 4}` })));
    await waitFor('all events', () => clients.every(({ received }) => received.length === 40));
    clients.forEach(({ events }, i) => {
      const expected = range(1, 41).map((n) => (n % 2 ? `c${i}` : `t${i % 4}`));
      assert.deepEqual(
        events().map(({ data }) => data.item.whose),
        expected,
      );
    });
    assert.equal(stage.executions, 20 * 20 + 20 * 4);
  });

  it('wait for a client that reads slowly, and delay no other client', async (t) => {
    const { publish, join, cursorsOf } = await createChannel(t);
    const [cursor] = await cursorsOf(301, 'x'.repeat(2000));
    const [slow, quick] = [await join('slow', cursor), await join('quick', cursor)];
    slow.socket.isBackpressured = true;
    await waitFor('the quick client', () => quick.received.length === 300);
    await publish(3, 'x'.repeat(2000));
    await waitFor('live events', () => quick.received.length === 303);
    const few = slow.received.length;
    assert.ok(few <= 64, `${few} events for a socket that takes no more`);
    slow.socket.isBackpressured = false;
    await waitFor('the remaining events', () => slow.received.length === 303);
    assert.deepEqual(slow.numbers(), range(1, 304));
  });

  it('stop waiting for a slow client once the held live events exceed the bound of one replay', async (t) => {
    const { publish, join, cursorsOf } = await createChannel(t);
    const [cursor] = await cursorsOf(101);
    const slow = await join('slow', cursor);
    slow.socket.isBackpressured = true;
    await publish(20, 'x'.repeat(60_000));
    await waitFor('all events', () => slow.received.length === 120);
    assert.deepEqual(slow.numbers(), range(1, 121));
  });

  it('yield to the event loop and to the live events of other channels', async (t) => {
    const whose = (_: unknown, __: unknown, { connection }: Identity) => {
      const end = performance.now() + 0.2;
      while (performance.now() < end);
      return connection.id;
    };
    const { bus, join, cursorsOf } = await createChannel(t, { resolvers: { Item: { whose } } });
    const [cursor] = await cursorsOf(21);
    const other = await join('other', undefined, 'subscription { item(id: 2) { n } }');
    const query = 'subscription { item(id: 1) { n whose } }';
    const clients = await Promise.all(range(0, 100).map((i) => join(`c${i}`, cursor, query)));
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    t.after(() => clearInterval(timer));
    await publisherOf(bus, 't', 1).publish([{ channel: OTHER_CHANNEL, payload: '{"item":{"id":2,"n":1}}' }]);
    await waitFor('the other channel', () => other.received.length === 1);
    const done = clients.filter(({ received }) => received.length === 20).length;
    assert.ok(done < 50, `${done} replays of 100 were over before a live event of another channel`);
    await waitFor('all events', () => clients.every(({ received }) => received.length === 20));
    for (const { numbers } of clients) assert.deepEqual(numbers(), range(1, 21));
    assert.ok(turns >= 20, `${turns} timers in 400 ms of executions`);
  });

  it('keep the order of events whichever execution ends first, and start few executions at a time per client', async (t) => {
    let running = 0;
    let most = 0;
    const slow = async ({ n }: { n: number }, _: unknown, { connection }: Identity) => {
      most = Math.max(most, ++running);
      await nextTurn();
      if (n % 3 === 0) await nextTurn();
      running--;
      return connection.id && n;
    };
    const { join, cursorsOf } = await createChannel(t, { resolvers: { Item: { slow } } });
    const [cursor] = await cursorsOf(401);
    const clients = await Promise.all(
      range(0, 3).map((i) => join(`c${i}`, cursor, 'subscription { item { n slow } }')),
    );
    void clients;
    const query = 'subscription { item(id: 1) { n slow } }';
    const back = await Promise.all(range(0, 3).map((i) => join(`d${i}`, cursor, query)));
    await waitFor('all events', () => back.every(({ received }) => received.length === 400));
    for (const { numbers } of back) assert.deepEqual(numbers(), range(1, 401));
    assert.ok(most <= 3 * 32, `${most} executions at a time`);
  });

  it('report a gap if the pod has no room for live events, and release all held bytes', async (t) => {
    const { publish, join, cursorsOf, stage } = await createChannel(t, { maxHeldBytes: 30_000 });
    const [cursor] = await cursorsOf(11);
    const slow = await join('slow', cursor);
    slow.socket.isBackpressured = true;
    const size = 5000;
    // More events than there is room for. Once half of the room is used, replays no longer wait for the socket.
    for (let i = 0; i < 30; i++) await publish(1, 'x'.repeat(size));
    await waitFor('the last event', () => slow.numbers().at(-1) === 40);
    const numbers = slow.numbers();
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
    );
    slow.leave();
    assert.equal(stage.heldBytes(), 0);
    assert.equal(stage.gapOperations, slow.events().filter(({ extensions }) => extensions?.gap).length);
  });

  it('execute an event again after 30 s, even if clients need it all the time', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let now = 1;
    const { join, cursorsOf } = await createChannel(t, { ...SHARED, resolvers: { Item: { slow: () => now } } });
    await cursorsOf(1);
    await join('stays');
    const latest = async () => {
      const { received, leave } = await join('c', undefined, 'subscription { item(id: 1) { slow } }', {}, true);
      await waitFor('the last event', () => received.length === 1);
      leave();
      return (JSON.parse(received[0]!) as { data: { item: { slow: number } } }).data.item.slow;
    };
    assert.equal(await latest(), 1);
    now = 2;
    assert.equal(await latest(), 1);
    for (let seconds = 0; seconds < 35; seconds += 5) {
      t.mock.timers.tick(5_000);
      await latest();
    }
    assert.equal(await latest(), 2);
  });

  it('keep results for a lagging client, even if no other client needs them meanwhile', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { stage, join, cursorsOf } = await createChannel(t, SHARED);
    const [cursor] = await cursorsOf(11);
    const [slow, quick] = [await join('slow', cursor), await join('quick', cursor)];
    slow.socket.isBackpressured = true;
    await waitFor('the quick client', () => quick.received.length === 10);
    t.mock.timers.tick(5_000);
    slow.socket.isBackpressured = false;
    await waitFor('the slow client', () => slow.received.length === 10);
    assert.equal(stage.executions, 10);
  });

  it('end only the operation whose event cannot be started', async (t) => {
    const failures: unknown[] = [];
    const { stage, publish, join, cursorsOf } = await createChannel(t, { onFailure: (error) => failures.push(error) });
    const [cursor] = await cursorsOf(4);
    const startEvent = stage.runtime.startEvent.bind(stage.runtime);
    let hasFailed = false;
    stage.runtime.startEvent = (payload) => {
      const isSecond = (payload.value as { item: { n: number } }).item.n === 2;
      if (!isSecond || hasFailed) return startEvent(payload);
      hasFailed = true;
      throw new Error('a fault of ours');
    };
    // The second event fails for the client whose turn comes first.
    const clients = [await join('a', cursor), await join('b', cursor)];
    await waitFor('the other client', () => clients.some(({ received }) => received.length === 3));
    await publish(1);
    await waitFor('live events', () => clients.some(({ received }) => received.length === 4));
    const numbers = clients.map((client) => client.numbers()).toSorted((a, b) => a.length - b.length);
    assert.deepEqual(numbers, [[1], [1, 2, 3, 4]]);
    assert.equal(failures.length, 1);
    for (const { leave } of clients) leave();
    assert.equal(stage.channelCount(), 0);
  });

  it('release the channel if a client leaves while an event is served to it', async (t) => {
    const leaving = { leave: () => undefined as void };
    const slow = ({ n }: { n: number }) => (n === 2 && leaving.leave(), n);
    const { stage, publish, join, cursorsOf } = await createChannel(t, { resolvers: { Item: { slow } } });
    const [cursor] = await cursorsOf(6);
    const other = await join('stays');
    const client = await join('leaves', cursor, 'subscription { item(id: 1) { n slow } }');
    leaving.leave = client.leave;
    await publish(2);
    await waitFor('the other client', () => other.received.length === 2);
    assert.deepEqual(client.numbers(), [1]);
    other.leave();
    assert.equal(stage.channelCount(), 0);
  });

  it('release the channel if a read of its history throws', async (t) => {
    const { stage, bus, join, cursorsOf } = await createChannel(t);
    const [cursor] = await cursorsOf(2);
    bus.history = () => Promise.resolve({ epoch: 1, entries: [undefined as never] });
    await assert.rejects(join('a', cursor), TypeError);
    assert.equal(stage.channelCount(), 0);
  });

  it('share executions if the pod has no room for the whole history', async (t) => {
    const size = 2000;
    // The history takes 300 × 2.3 KB, each executed event 11 KB.
    const { stage, join, cursorsOf } = await createChannel(t, { ...SHARED, maxHeldBytes: 1_500_000 });
    const [cursor] = await cursorsOf(301, 'x'.repeat(size));
    // The clock is slow, so that no slice ends within a client's turn: such turns are short, and on a busy machine clients drift apart by more
    // events than there is room for.
    const now = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => now() / 100);
    const clients = await Promise.all(range(0, 20).map((i) => join(`c${i}`, cursor)));
    await waitFor('all events', () => clients.every(({ received }) => received.length === 300));
    for (const { numbers } of clients) assert.deepEqual(numbers(), range(1, 301));
    assert.equal(stage.executions, 300);
    assert.ok(stage.heldBytes() <= 1_500_000, `${stage.heldBytes()} bytes`);
  });
});
