import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Bus } from '../../../../src/bus/bus.ts';
import type { Listener } from '../../../../src/bus/feed.ts';
import { heldLength } from '../../../../src/gateway/fanout/resume/held-events.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';
import type { StageOptions } from '../stage.ts';

const SDL = `
  type Subscription { item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int }`;
const QUERY = 'subscription { item(id: 1) { n } }';
const CHANNEL = 't{item.id="1"}';

interface Received {
  readonly data: { readonly item: { readonly n: number } };
  readonly extensions?: { readonly gap?: true };
}

interface LossyOptions extends Partial<StageOptions> {
  /** Default: the channel has no state. */
  readonly stateSeconds?: number;
  /** Offset of the last event that is published before the listener joins. Default: none is. */
  readonly before?: number;
  /** True: the listener's field has a history. Default: it has one that the listener does not know of. */
  readonly hasHistory?: boolean;
  /** Offset of an event that the channel's first read finds, but that the link delivers by `link.deliverLate` only. */
  readonly late?: number;
}

/** The next read of the history resolves after `act`, with what it read before. */
function afterNextRead(bus: Pick<Bus, 'history'>, act: () => Promise<void>): void {
  const history = bus.history.bind(bus);
  bus.history = async (...query) => {
    bus.history = history;
    const read = await history(...query);
    await act();
    return read;
  };
}

/** A channel whose link loses messages while `isDeaf`, with one listener. */
async function createLossy(t: TestContext, entries: number, options: LossyOptions = {}) {
  const { stateSeconds, before = -1, hasHistory, late, ...stageOptions } = options;
  const stage = await createStage(t, { sdl: SDL, ...stageOptions });
  const { bus } = stage;
  const link = {
    isDeaf: false,
    isLate: false,
    deliverLate: () => assert.fail('none is late'),
    received: [] as Buffer[],
    tellGap: () => assert.fail('not subscribed'),
  };
  const subscribe = bus.subscribe.bind(bus);
  bus.subscribe = (channel, listener, onGap) => {
    link.tellGap = onGap as () => never;
    const hear: Listener = (payload, coordinates) => {
      // The bus reuses a message's memory as soon as the listener returns.
      const bytes = Buffer.from(payload);
      link.received.push(bytes);
      if (link.isLate) link.deliverLate = (() => listener(bytes, coordinates)) as () => never;
      else if (!link.isDeaf) listener(bytes, coordinates);
    };
    return subscribe(channel, hear, onGap);
  };
  await bus.acquire({ topic: 't', partition: 0, position: -1 });
  const publish = async (from: number, to = from) => {
    for (let offset = from; offset <= to; offset++) {
      const history = { entries, bytes: 1_000_000, seconds: 60, ...(stateSeconds !== undefined && { stateSeconds }) };
      const message = { channel: CHANNEL, payload: `{"item":{"id":1,"n":${offset}}}`, offset, timestamp: 0, history };
      await bus.publish([message], { topic: 't', partition: 0, offset });
    }
  };
  await publish(0, before);
  const state = stateSeconds === undefined ? undefined : { cursor: undefined, replaysLast: true, hasState: true };
  const start = hasHistory ? { cursor: undefined, replaysLast: false, hasHistory } : state;
  const read = bus.history.bind(bus);
  bus.history = async (...query) => {
    bus.history = read;
    link.isLate = late !== undefined;
    if (late !== undefined) await publish(late);
    link.isLate = false;
    return read(...query);
  };
  const { received, leave } = await stage.join(QUERY, factsOf('a', {}), undefined, start);
  const seen = () =>
    received.map((text) => {
      const { data, extensions } = JSON.parse(text) as Received;
      return extensions?.gap ? `gap ${data.item.n}` : `${data.item.n}`;
    });
  return { stage, link, publish, seen, leave };
}

/** A resolver of `n` that has no value for events after the first one before it runs for the event `last`. */
function untilLast(last: number): (item: { n: number }) => Promise<number> {
  let release = (): void => undefined;
  const all = new Promise<void>((resolve) => (release = resolve));
  return async ({ n }) => {
    if (n === last) release();
    if (n > 0) await all;
    return n;
  };
}

describe('a gap', () => {
  it('ends with the state of the channel, told as a gap, where no history is kept', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 0, { stateSeconds: 0 });
    await publish(0, 1);
    link.isDeaf = true;
    await publish(2, 4);
    link.isDeaf = false;
    link.tellGap();
    await waitFor('the state', () => seen().length === 3);
    await publish(5);
    await waitFor('the next event', () => seen().length === 4);
    assert.deepEqual(seen(), ['0', '1', 'gap 4', '5']);
    assert.equal(stage.gapOperations, 1);
  });

  it('ends with the state of the channel for a client that has received no live event yet', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 0, { stateSeconds: 0, before: 1 });
    await waitFor('the state', () => seen().length === 1);
    const { received } = await stage.join(QUERY, factsOf('b', {}));
    link.isDeaf = true;
    await publish(2, 4);
    link.isDeaf = false;
    link.tellGap();
    await waitFor('the state after the gap', () => seen().length === 2 && received.length === 1);
    link.tellGap();
    await publish(5);
    await waitFor('the next event', () => seen().length === 3);
    assert.deepEqual(seen(), ['1', 'gap 4', '5']);
  });

  it('marks the state that ends it as one that may have been seen, and no later event', async (t) => {
    const { stage, link, publish } = await createLossy(t, 0, { stateSeconds: 0 });
    const { received } = await stage.join(QUERY, factsOf('b', {}));
    await publish(0);
    link.isDeaf = true;
    await publish(1, 2);
    link.isDeaf = false;
    link.tellGap();
    await waitFor('the state', () => received.length === 2);
    await publish(3);
    await waitFor('the next event', () => received.length === 3);
    const results = received.map((text) => JSON.parse(text) as Received);
    assert.deepEqual(
      results.map(({ data, extensions }) => [data.item.n, extensions]),
      [
        [0, undefined],
        [2, { gap: true, initial: true }],
        [3, undefined],
      ],
    );
  });

  it('does not repeat a state that has not changed to a client that has received no live event yet', async (t) => {
    const { link, publish, seen } = await createLossy(t, 0, { stateSeconds: 0, before: 1 });
    await waitFor('the state', () => seen().length === 1);
    link.tellGap();
    await publish(2);
    await waitFor('the next event', () => seen().length === 2);
    assert.deepEqual(seen(), ['1', 'gap 2']);
  });

  it('is none where the state of the channel has not changed', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 0, { stateSeconds: 0 });
    await publish(0, 1);
    link.tellGap();
    await publish(2);
    await waitFor('the next event', () => seen().length === 3);
    assert.deepEqual(seen(), ['0', '1', '2']);
    assert.equal(stage.gapOperations, 0);
  });

  it('is backfilled from the history when the link recovers, before later events arrive', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 100);
    await publish(0, 1);
    link.isDeaf = true;
    await publish(2, 4);
    link.isDeaf = false;
    link.tellGap();
    await waitFor('the missed events', () => seen().length === 5);
    await publish(5);
    await waitFor('the next event', () => seen().length === 6);
    assert.deepEqual(seen(), ['0', '1', '2', '3', '4', '5']);
    assert.equal(stage.gapOperations, 0);
  });

  it('is backfilled from the history for a client that has received no live event yet', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 100, { before: 1, hasHistory: true });
    link.isDeaf = true;
    await publish(2, 4);
    link.isDeaf = false;
    link.tellGap();
    await waitFor('the missed events', () => seen().length === 3);
    await publish(5);
    await waitFor('the next event', () => seen().length === 4);
    assert.deepEqual(seen(), ['2', '3', '4', '5']);
    assert.equal(stage.gapOperations, 0);
  });

  it('is reported for a client that has received no live event yet and whose field has no history (twin)', async (t) => {
    const { link, publish, seen } = await createLossy(t, 100, { before: 1 });
    link.isDeaf = true;
    await publish(2, 4);
    link.isDeaf = false;
    link.tellGap();
    await publish(5);
    await waitFor('the next event', () => seen().length === 1);
    assert.deepEqual(seen(), ['gap 5']);
  });

  it('holds no event once the last client has left while the history is read', async (t) => {
    const { stage, link, publish, seen, leave } = await createLossy(t, 100);
    await publish(0);
    let answer = (): void => assert.fail('nothing was read');
    const { bus } = stage;
    const read = bus.history.bind(bus);
    bus.history = async (...query) => {
      await new Promise<void>((resolve) => (answer = resolve));
      return read(...query);
    };
    link.tellGap();
    await publish(1);
    await waitFor('a held event', () => stage.heldBytes() > 0);
    leave();
    assert.deepEqual([stage.channelCount(), stage.heldBytes(), stage.waitingBytes()], [0, 0, 0]);
    answer();
    await nextTurn();
    assert.deepEqual([seen(), stage.heldBytes()], [['0'], 0]);
  });

  it('is none where an event arrives after the channel has read its position, and is older', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 100, { before: 0, hasHistory: true, late: 1 });
    link.deliverLate();
    await waitFor('the late event', () => seen().length === 1);
    await publish(2);
    await waitFor('the next event', () => seen().length === 2);
    assert.deepEqual(seen(), ['1', '2']);
    assert.equal(stage.gapOperations, 0);
  });

  it('is backfilled with more events than MAX_PENDING_EVENTS', async (t) => {
    const { link, publish, seen } = await createLossy(t, 200, { resolvers: { Item: { n: untilLast(150) } } });
    await publish(0);
    link.isDeaf = true;
    await publish(1, 150);
    link.isDeaf = false;
    link.tellGap();
    await waitFor('all events', () => seen().length === 151);
    assert.deepEqual(
      seen(),
      Array.from({ length: 151 }, (_, i) => String(i)),
    );
  });

  it('is backfilled beyond MAX_PENDING_EVENTS for a client that has resumed and received no live event yet', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 200, { resolvers: { Item: { n: untilLast(150) } } });
    await publish(0);
    await waitFor('the first event', () => seen().length === 1);
    const start = { cursor: undefined, replaysLast: true };
    const { received, socket } = await stage.join(QUERY, factsOf('b', {}), undefined, start);
    await waitFor('the last event', () => received.length === 1);
    link.isDeaf = true;
    await publish(1, 150);
    link.isDeaf = false;
    link.tellGap();
    await waitFor('all events', () => received.length === 151 || socket.isRefused);
    assert.deepEqual([received.length, socket.isRefused], [151, false]);
  });

  it('is detected at the next message if the link does not report it', async (t) => {
    const { link, publish, seen } = await createLossy(t, 100);
    await publish(0, 1);
    link.isDeaf = true;
    await publish(2, 4);
    link.isDeaf = false;
    await publish(5, 6);
    await waitFor('all events', () => seen().length === 7);
    assert.deepEqual(seen(), ['0', '1', '2', '3', '4', '5', '6']);
  });

  for (const isReported of [true, false]) {
    const outcome = isReported
      ? 'is backfilled from the history also when the link is lost once more while it is read, without a later event'
      : 'is reported with the first event after it when messages are lost again while the history is read, and the link does not report it';
    it(outcome, async (t) => {
      const { stage, link, publish, seen } = await createLossy(t, 100);
      afterNextRead(stage.bus, async () => {
        await publish(5);
        link.isDeaf = true;
        await publish(6, 7);
        link.isDeaf = false;
        if (isReported) link.tellGap();
        else await publish(8, 9);
      });
      await publish(0, 1);
      link.isDeaf = true;
      await publish(2, 4);
      link.isDeaf = false;
      link.tellGap();
      await waitFor('the events after both gaps', () => seen().length >= 8);
      assert.deepEqual(seen(), ['0', '1', '2', '3', '4', '5', ...(isReported ? ['6', '7'] : ['gap 8', '9'])]);
      assert.equal(stage.gapOperations, isReported ? 0 : 1);
    });
  }

  it('ends with the last state of the channel when the link is lost once more while it is read', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 0, { stateSeconds: 0, before: 1 });
    await waitFor('the state', () => seen().length === 1);
    afterNextRead(stage.bus, async () => {
      link.isDeaf = true;
      await publish(2, 3);
      link.isDeaf = false;
      link.tellGap();
    });
    link.tellGap();
    await waitFor('the last state', () => seen().length === 2);
    assert.deepEqual(seen(), ['1', 'gap 3']);
  });

  it('is backfilled when the tenth attempt to read the history succeeds, and reported when it fails', async (t) => {
    await Promise.all(
      [9, 10].map(async (failures) => {
        const { stage, link, publish, seen } = await createLossy(t, 100, { untilAttempt: nextTurn });
        const { bus } = stage;
        const history = bus.history.bind(bus);
        let attempts = 0;
        bus.history = (...query) => (++attempts <= failures ? Promise.reject(new Error('away')) : history(...query));
        await publish(0, 1);
        link.isDeaf = true;
        await publish(2, 3);
        link.isDeaf = false;
        await publish(4);
        await waitFor('the last event', () => seen().at(-1)?.endsWith('4'));
        assert.deepEqual(seen(), failures < 10 ? ['0', '1', '2', '3', '4'] : ['0', '1', 'gap 4']);
        assert.equal(attempts, 10);
      }),
    );
  });

  it('is reported when the history does not reach back', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 2);
    await publish(0, 1);
    link.isDeaf = true;
    await publish(2, 8);
    link.isDeaf = false;
    await publish(9, 10);
    await waitFor('the events after the gap', () => seen().length === 4);
    assert.deepEqual(seen(), ['0', '1', 'gap 9', '10']);
    assert.equal(stage.gapOperations, 1);
  });

  it('is reported when no event was received before it', async (t) => {
    const { link, publish, seen } = await createLossy(t, 100);
    link.tellGap();
    await publish(0);
    await waitFor('the first event', () => seen().length === 1);
    assert.deepEqual(seen(), ['gap 0']);
  });

  it('counts each client once for one `gap: true`, however many gaps precede its next event', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 100);
    await stage.join(QUERY, factsOf('b', {}));
    link.tellGap();
    link.tellGap();
    link.tellGap();
    await publish(0);
    await waitFor('the first event', () => seen().length === 1);
    assert.equal(stage.gapOperations, 2);
    await publish(1);
    await waitFor('the second event', () => seen().length === 2);
    assert.deepEqual(seen(), ['gap 0', '1']);
  });

  it('counts a client when its `gap: true` becomes pending, also if it leaves before its next event', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 100);
    const leaving = await stage.join(QUERY, factsOf('b', {}));
    link.tellGap();
    await waitFor('both clients to be counted', () => stage.gapOperations === 2);
    leaving.leave();
    await publish(0);
    await waitFor('the first event', () => seen().length === 1);
    assert.deepEqual([seen(), leaving.received, stage.gapOperations], [['gap 0'], [], 2]);
  });

  it('is reported when more events arrive during the read of the history than the pod may hold', async (t) => {
    const held = heldLength('{"item":{"id":1,"n":5}}'.length);
    for (const [room, gap] of [
      [3, false],
      [2, true],
    ] as const) {
      const { stage, link, publish, seen } = await createLossy(t, 100, { maxHeldBytes: room * held });
      afterNextRead(stage.bus, () => publish(5, 7));
      await publish(0, 1);
      link.isDeaf = true;
      await publish(2, 4);
      link.isDeaf = false;
      link.tellGap();
      await waitFor('the remaining events', () => seen().length >= (gap ? 7 : 8));
      await publish(8);
      await waitFor('all events', () => seen().length === 9);
      assert.deepEqual(seen(), ['0', '1', gap ? 'gap 2' : '2', '3', '4', '5', '6', '7', '8']);
      assert.equal(stage.gapOperations, gap ? 1 : 0);
    }
  });

  it('keeps a copy of a message that waits for the history, not the received buffer', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 100);
    afterNextRead(stage.bus, async () => {
      await publish(5);
      for (const bytes of link.received.slice(-1)) bytes.fill('x');
    });
    await publish(0, 1);
    link.isDeaf = true;
    await publish(2, 4);
    link.isDeaf = false;
    link.tellGap();
    await waitFor('all events', () => seen().length === 6);
    assert.deepEqual(seen(), ['0', '1', '2', '3', '4', '5']);
  });

  it('is reported with the event after a message of the backfill that cannot be delivered; all others are delivered', async (t) => {
    const { stage, link, publish, seen } = await createLossy(t, 100);
    await publish(0, 1);
    link.isDeaf = true;
    await publish(2, 4);
    link.isDeaf = false;
    const startEvent = stage.runtime.startEvent.bind(stage.runtime);
    let calls = 0;
    stage.runtime.startEvent = (payload) => {
      if (++calls === 2) throw new Error('a fault of ours');
      return startEvent(payload);
    };
    link.tellGap();
    await publish(5);
    await waitFor('the last event', () => seen().length === 5);
    assert.deepEqual(seen(), ['0', '1', '2', 'gap 4', '5']);
    calls = 1;
    await publish(6, 7);
    await waitFor('the last event', () => seen().length === 6);
    assert.deepEqual(seen().slice(5), ['gap 7']);
    assert.equal(stage.heldBytes(), 0);
  });
});
