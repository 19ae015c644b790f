import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { heldLength } from '../../../../src/gateway/fanout/resume/held-events.ts';
import type { History } from '../../../../src/bus/history.ts';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import { missedSince } from '../../../../src/gateway/fanout/resume/recovery.ts';
import { switches } from '../../../support/switches.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';

const SDL = `
  type Subscription { item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int }`;
const CHANNEL = 't{item.id="1"}';
const QUERY = 'subscription { item(id: 1) { n } }';
const LIMITS = { entries: 2500, bytes: 1_000_000, seconds: 60 };

interface Received {
  readonly data: { readonly item: { readonly n: number } };
  readonly extensions?: { readonly cursor: string; readonly gap?: true; readonly resumed?: boolean };
}

async function createChannel(t: TestContext, maxHeldBytes?: number) {
  const stage = await createStage(t, {
    sdl: SDL,
    cursors: new Cursors('secret'),
    ...(maxHeldBytes && { maxHeldBytes }),
  });
  const { bus } = stage;
  const acquire = (startId?: string) => bus.acquire({ topic: 't', partition: 0, position: -1, startId });
  await acquire();
  let next = 0;
  const publish = async (count = 1) => {
    for (let i = 0; i < count; i++) {
      const offset = next++;
      const payload = `{"item":{"id":1,"n":${offset}}}`;
      const message = { channel: CHANNEL, payload, offset, timestamp: 0, history: LIMITS };
      await bus.publish([message], { topic: 't', partition: 0, offset });
    }
  };
  let joins = 0;
  const join = async (cursor?: unknown, replaysLast = false) => {
    const start = cursor !== undefined || replaysLast ? { cursor, replaysLast } : undefined;
    const listener = await stage.join(QUERY, factsOf(`c${joins++}`, {}), undefined, start);
    const events = () => listener.received.map((text) => JSON.parse(text) as Received);
    return { ...listener, events, numbers: () => events().map(({ data }) => data.item.n) };
  };
  /** Publishes events 0 to 4 and returns the cursor of event 2. */
  const seenUpToTwo = async () => {
    const listener = await join();
    await publish(5);
    await waitFor('the first events', () => listener.received.length === 5);
    listener.leave();
    return listener.events()[2]!.extensions!.cursor;
  };
  return { stage, bus, acquire, publish, join, seenUpToTwo };
}

describe('a resumed subscription', () => {
  it('receives the missed events once, then live events', async (t) => {
    const { stage, publish, join, seenUpToTwo } = await createChannel(t);
    const cursor = await seenUpToTwo();
    await publish(2);
    const back = await join(cursor);
    await publish(2);
    await waitFor('all events', () => back.received.length >= 6);
    assert.deepEqual(back.numbers(), [3, 4, 5, 6, 7, 8]);
    assert.deepEqual(
      back.events().map(({ extensions }) => extensions?.resumed),
      [true, undefined, undefined, undefined, undefined, undefined],
    );
    assert.deepEqual(stage.resumes, ['resumed']);
  });

  it('receives `resumed: true` with its first event if it missed nothing', async (t) => {
    const { publish, join } = await createChannel(t);
    const first = await join();
    await publish();
    await waitFor('the event', () => first.received.length === 1);
    const back = await join(first.events()[0]!.extensions!.cursor);
    await publish();
    await waitFor('the next event', () => back.received.length === 1);
    assert.deepEqual([back.numbers(), back.events()[0]!.extensions!.resumed], [[1], true]);
  });

  it('receives every event once, in order, whatever is published between the steps of its join', async (t) => {
    for (const isLate of [false, true]) {
      const { stage, bus, publish, join, seenUpToTwo } = await createChannel(t);
      const cursor = await seenUpToTwo();
      // Late copies arrive only after the history with the same events was read and delivered.
      const late: (() => void)[] = [];
      const subscribe = bus.subscribe.bind(bus);
      bus.subscribe = async (channel, listener, onGap) => {
        await publish();
        const hear: typeof listener = (...message) =>
          void (isLate ? late.push(() => listener(...message)) : listener(...message));
        const unsubscribe = await subscribe(channel, hear, onGap);
        await publish();
        return unsubscribe;
      };
      const history = bus.history.bind(bus);
      bus.history = async (...query) => {
        await publish();
        const read = await history(...query);
        await publish();
        return read;
      };
      const back = await join(cursor);
      await publish();
      for (const deliver of late.splice(0)) deliver();
      await waitFor('the events so far', () => back.received.length === 7);
      const other = await join();
      await publish(2);
      for (const deliver of late.splice(0)) deliver();
      await waitFor('all events', () => back.received.length >= 9 && other.received.length >= 2);
      assert.deepEqual(back.numbers(), [3, 4, 5, 6, 7, 8, 9, 10, 11], isLate ? 'late copies' : 'prompt copies');
      assert.equal(back.events()[0]!.extensions?.resumed, true);
      assert.deepEqual(other.numbers(), [10, 11]);
      const before = stage.executions;
      await publish();
      for (const deliver of late.splice(0)) deliver();
      await waitFor('the last event', () => back.received.length === 10 && other.received.length === 3);
      const shares = switches.SHARING;
      assert.equal(stage.executions, before + (shares ? 1 : 2), shares ? 'it shares executions again' : 'one each');
    }
  });

  it('receives no event twice or late on a pod that lags, whatever partitions the events come from', async (t) => {
    const cursors = new Cursors('secret');
    for (const partitions of [1, 2, 3]) {
      for (const { seen, expected } of [
        { seen: 5, expected: [6] },
        { seen: 4, expected: [5, 6] },
        { seen: 3, expected: [4, 5, 6] },
        { seen: undefined, expected: [5, 6] },
      ]) {
        const { stage, bus, join } = await createChannel(t);
        for (let partition = 1; partition < partitions; partition++)
          await bus.acquire({ topic: 't', partition, position: -1 });
        const late: (() => void)[] = [];
        let isLate = false;
        const subscribe = bus.subscribe.bind(bus);
        bus.subscribe = (channel, listener, onGap) => {
          const hear: typeof listener = (...message) =>
            void (isLate ? late.push(() => listener(...message)) : listener(...message));
          return subscribe(channel, hear, onGap);
        };
        const publish = async (n: number) => {
          const position = { partition: n % partitions, offset: n };
          const message = { channel: CHANNEL, payload: `{"item":{"id":1,"n":${n}}}`, timestamp: 0, history: LIMITS };
          await bus.publish([{ ...message, offset: n }], { topic: 't', ...position });
        };
        const other = await join();
        for (let n = 0; n < 6; n++) {
          if (n === 2) isLate = true;
          await publish(n);
        }
        const { entries } = await bus.history(CHANNEL, { from: '1', maxEntries: 10, maxBytes: 1000 });
        const { entry = '', ...place } = entries[seen ?? 0]!.coordinates;
        const cursor = seen === undefined ? undefined : cursors.sign(CHANNEL, { ...place, entry });
        const back = await join(cursor, true);
        isLate = false;
        for (const deliver of late) deliver();
        await publish(6);
        await waitFor('all events', () => [other, back].every(({ numbers }) => numbers().includes(6)));
        assert.deepEqual(back.numbers(), expected, `${partitions} partitions, ${seen}`);
        assert.deepEqual(other.numbers(), [0, 1, 2, 3, 4, 5, 6]);
        assert.equal(stage.stale, 0);
      }
    }
  });

  it('receives `gap: true` if its first live event does not follow its last one, even on a pod without earlier events', async (t) => {
    for (const [lost, expected] of [
      [0, undefined],
      [2, true],
    ] as const) {
      const { stage, bus, publish, join, seenUpToTwo } = await createChannel(t);
      const cursor = await seenUpToTwo();
      let isDeaf = false;
      const subscribe = bus.subscribe.bind(bus);
      bus.subscribe = (channel, listener, onGap) =>
        subscribe(channel, (...message) => void (isDeaf || listener(...message)), onGap);
      const back = await join(cursor);
      await waitFor('the missed events', () => back.received.length === 2);
      isDeaf = true;
      await publish(lost);
      isDeaf = false;
      await publish(2);
      await waitFor('all events', () => back.received.length === 4);
      assert.deepEqual(back.numbers(), [3, 4, 5 + lost, 6 + lost]);
      assert.deepEqual(
        back.events().map(({ extensions }) => extensions?.gap),
        [undefined, undefined, expected, undefined],
      );
      assert.equal(stage.gapOperations, expected ? 1 : 0);
    }
  });

  it('receives `gap: true` once at a new epoch, even on a pod without events of the old one', async (t) => {
    const { stage, acquire, publish, join, seenUpToTwo } = await createChannel(t);
    const back = await join(await seenUpToTwo());
    await waitFor('the missed events', () => back.received.length === 2);
    await acquire('another');
    await publish(2);
    await waitFor('all events', () => back.received.length === 4);
    assert.deepEqual(
      back.events().map(({ extensions }) => extensions?.gap),
      [undefined, undefined, true, undefined],
    );
    await acquire('a third');
    await publish();
    await waitFor('the last event', () => back.received.length === 5);
    assert.deepEqual([back.events()[4]!.extensions?.gap, stage.gapOperations], [true, 2]);
  });

  it('receives the events of 20 s at 100 events per second', async (t) => {
    const { publish, join, seenUpToTwo } = await createChannel(t);
    const cursor = await seenUpToTwo();
    await publish(1998);
    const back = await join(cursor);
    await waitFor('all events', () => back.received.length === 2000);
    assert.deepEqual(
      back.numbers(),
      Array.from({ length: 2000 }, (_, i) => i + 3),
    );
    assert.equal(back.events()[0]!.extensions!.resumed, true);
  });

  it('receives `resumed: false` if more events arrive during the read of the history than the pod can hold', async (t) => {
    const held = heldLength('{"item":{"id":1,"n":5}}'.length);
    for (const [room, resumed, expected] of [
      // Five live events, and a history of eight.
      [13, true, { first: 3, gapOperations: 0 }],
      [12, false, { first: 5, gapOperations: 0 }],
      [4, false, { first: 9, gapOperations: 1 }],
      [2, false, { first: 9, gapOperations: 1 }],
    ] as const) {
      const { stage, bus, publish, join, seenUpToTwo } = await createChannel(t, room * held + held / 2);
      const cursor = await seenUpToTwo();
      const history = bus.history.bind(bus);
      bus.history = async (...query) => {
        await publish(5);
        return history(...query);
      };
      const back = await join(cursor);
      await waitFor('the events so far', () => back.numbers().at(-1) === 9);
      await publish();
      await waitFor('the last event', () => back.numbers().at(-1) === 10);
      const length = 11 - expected.first;
      assert.deepEqual(
        back.numbers(),
        Array.from({ length }, (_, i) => expected.first + i),
      );
      const [{ extensions }] = back.events() as [Received];
      assert.deepEqual(
        [extensions!.resumed, extensions!.gap],
        [resumed, expected.gapOperations > 0 ? true : undefined],
      );
      assert.equal(stage.gapOperations, expected.gapOperations);
    }
  });

  it('receives `resumed: false` and no partial replay if completeness cannot be proved', async (t) => {
    const { stage, bus, acquire, publish, join, seenUpToTwo } = await createChannel(t);
    const cursor = await seenUpToTwo();
    const elsewhere = new Cursors('secret').sign('t{item.id="2"}', { epoch: 1, partition: 0, offset: 2, entry: '3-0' });
    const refused = [await join(elsewhere), await join('forged'), await join(null), await join(17)];
    await publish();
    await waitFor('all events', () => refused.every(({ received }) => received.length === 1));
    for (const { numbers, events } of refused) {
      assert.deepEqual([numbers(), events()[0]!.extensions!.resumed], [[5], false]);
    }
    // With the event that the others received, one more than the maximum.
    await publish(1998);
    const tooFar = await join(cursor);
    await acquire('another');
    const lastEpoch = await join(refused[0]!.events()[0]!.extensions!.cursor);
    await publisherOf(bus, 't', 1).publish([{ channel: CHANNEL, payload: '{"item":{"n":-1}}' }]);
    await waitFor('both clients', () => tooFar.received.length === 1 && lastEpoch.received.length === 1);
    for (const { numbers, events } of [tooFar, lastEpoch]) {
      assert.deepEqual([numbers(), events()[0]!.extensions!.resumed], [[-1], false]);
    }
    const refusals = [
      'cursor_invalid',
      'cursor_invalid',
      'cursor_invalid',
      'cursor_invalid',
      'incomplete',
      'incomplete',
    ];
    assert.deepEqual(stage.resumes, refusals);
  });

  it('receives `gap: true` with its next event, during its replay and while it waits for a live event', async (t) => {
    for (const isShown of [true, false]) {
      const { stage, bus, publish, join, seenUpToTwo } = await createChannel(t);
      const cursor = await seenUpToTwo();
      const link = { tellGap: () => assert.fail('not subscribed') };
      const subscribe = bus.subscribe.bind(bus);
      bus.subscribe = (channel, listener, onGap) => {
        link.tellGap = onGap as () => never;
        return subscribe(channel, listener, onGap);
      };
      const back = await join(cursor);
      back.socket.isBackpressured = isShown;
      if (!isShown) await waitFor('the missed events', () => back.received.length === 2);
      link.tellGap();
      assert.equal(stage.gapOperations, 1);
      back.socket.isBackpressured = false;
      await publish();
      await waitFor('all events', () => back.received.length === 3);
      const gaps = back.events().map(({ extensions }) => extensions?.gap);
      assert.deepEqual(gaps, isShown ? [true, undefined, undefined] : [undefined, undefined, true]);
    }
  });

  it('keeps its channel while it waits for its history or its first live event, and releases it when it leaves', async (t) => {
    for (const isServed of [false, true]) {
      const { stage, publish, join, seenUpToTwo } = await createChannel(t);
      const cursor = await seenUpToTwo();
      const other = await join();
      const back = await join(cursor);
      back.socket.isBackpressured = !isServed;
      if (isServed) await waitFor('the missed events', () => back.received.length === 2);
      other.leave();
      assert.equal(stage.channelCount(), 1);
      await publish();
      back.socket.isBackpressured = false;
      await waitFor('the live event', () => back.received.length === 3);
      const last = await join(cursor);
      back.leave();
      if (isServed) await waitFor('the missed events', () => last.received.length === 3);
      for (let times = 0; times < 2; times++) last.leave();
      assert.deepEqual([stage.channelCount(), stage.heldBytes()], [0, 0]);
    }
  });

  it('receives live events even if the last member of its group leaves while it joins', async (t) => {
    const { bus, publish, join, seenUpToTwo } = await createChannel(t);
    const cursor = await seenUpToTwo();
    const leaving: { leave?: () => void } = {};
    const subscribe = bus.subscribe.bind(bus);
    bus.subscribe = (channel, listener, onGap) =>
      subscribe(channel, (...message) => (listener(...message), leaving.leave?.()), onGap);
    const other = await join();
    const back = await join(cursor);
    await waitFor('the missed events', () => back.received.length === 2);
    leaving.leave = other.leave;
    await publish(2);
    await waitFor('the live events', () => back.received.length === 4);
    assert.deepEqual(back.numbers(), [3, 4, 5, 6]);
  });

  it('begins with the last event if the field is configured so, and continues without gap or duplicate', async (t) => {
    const { publish, join, seenUpToTwo } = await createChannel(t);
    const none = await join(undefined, true);
    await seenUpToTwo();
    const late = await join(undefined, true);
    await publish(2);
    await waitFor('all events', () => late.received.length === 3 && none.received.length === 7);
    assert.deepEqual(late.numbers(), [4, 5, 6]);
    assert.equal(late.events()[0]!.extensions!.resumed, undefined);
    assert.deepEqual(none.numbers(), [0, 1, 2, 3, 4, 5, 6]);
  });
});

describe('missedSince', () => {
  const entry = (id: string, epoch: number, offset: number) => ({
    payload: Buffer.from(id),
    coordinates: { partition: 0, offset, epoch, timestamp: 0, entry: id },
  });
  const seen = { epoch: 5, partition: 0, offset: 7, entry: 'a' };
  const history: History = { epoch: 5, entries: [entry('a', 5, 7), entry('b', 5, 9)] };

  it('returns all events after the entry of the seen event', () => {
    assert.deepEqual(missedSince(seen, history), [entry('b', 5, 9)]);
    assert.deepEqual(missedSince(seen, { epoch: 5, entries: [entry('a', 5, 7)] }), []);
  });

  it('returns each event once after a chunk that failed midway was repeated', () => {
    const again = [entry('a', 5, 7), entry('b', 5, 9), entry('c', 5, 7), entry('d', 5, 9), entry('e', 5, 10)];
    assert.deepEqual(missedSince(seen, { epoch: 5, entries: again }), [entry('b', 5, 9), entry('e', 5, 10)]);
    const own = [entry('a', 5, 7), entry('b', 5, 7), entry('c', 5, 9)];
    assert.deepEqual(missedSince(seen, { epoch: 5, entries: own }), [entry('c', 5, 9)]);
  });

  it('returns undefined if the entry is gone or of another event, or the epoch has changed', () => {
    assert.equal(missedSince(seen, { epoch: 5, entries: [] }), undefined);
    assert.equal(missedSince(seen, { ...history, entries: history.entries.slice(1) }), undefined);
    assert.equal(missedSince(seen, { ...history, entries: [entry('a', 5, 6)] }), undefined);
    assert.equal(missedSince(seen, { ...history, epoch: 6 }), undefined);
    assert.equal(missedSince({ ...seen, epoch: 4 }, history), undefined);
    assert.equal(missedSince(seen, { ...history, entries: [...history.entries, entry('c', 4, 10)] }), undefined);
  });
});
