import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Listener as BusListener } from '../../../../src/bus/feed.ts';
import type { Retention } from '../../../../src/bus/history.ts';
import { BusUnavailableError } from '../../../../src/base/errors.ts';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';
import type { Listener } from '../stage.ts';

const SDL = `
  type Subscription { item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int whose: ID slow: Int }`;
const CHANNEL = 't{item.id="1"}';
const QUERIES = ['n', 'n whose', 'n slow whose'].map((fields) => `subscription { item(id: 1) { ${fields} } }`);
/** So few that some cursors are too old. */
const HISTORY: Retention = { entries: 40, bytes: 1_000_000, seconds: 60 };
const STATE: Retention = { entries: 0, bytes: 0, seconds: 0, stateSeconds: 0 };

type Step =
  /** lose: the link loses the events, and all that are late, and reports it. */
  | { readonly do: 'publish' | 'lose'; readonly count: number }
  | { readonly do: 'join'; readonly start: 'now' | 'last' | 'cursor'; readonly back: number; readonly query: number }
  | { readonly do: 'leave' | 'lag'; readonly which: number }
  | { readonly do: 'read'; readonly mode: 'prompt' | 'slow' | 'failing' }
  | { readonly do: 'messages'; readonly mode: 'prompt' | 'late' }
  | { readonly do: 'answer'; readonly which: readonly number[] }
  | { readonly do: 'turn' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), count: fc.integer({ min: 1, max: 8 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      start: fc.constantFrom('now' as const, 'last' as const, 'cursor' as const, 'cursor' as const),
      back: fc.nat(50),
      query: fc.nat(QUERIES.length - 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('leave' as const, 'lag' as const), which: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      mode: fc.constantFrom('prompt' as const, 'slow' as const, 'failing' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('messages' as const),
      mode: fc.constantFrom('prompt' as const, 'late' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.array(fc.nat(50), { maxLength: 8 }) }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'turn' as const }) },
);

interface Bounds {
  readonly maxHeldBytes?: number;
  /** If set, the field `slow` has no value until a step resolves it. */
  readonly maxExecuting?: number;
  /** Default: a history. */
  readonly retention?: Retention;
}

interface Event {
  readonly n: number;
  readonly whose: string | undefined;
  readonly gap: boolean;
  readonly resumed: boolean | undefined;
  /** Number of events published when it was received. */
  readonly published: number;
}

interface Client {
  readonly listener: Listener;
  /** Number of events published at each result that it received. */
  readonly published: readonly number[];
  readonly id: string;
  readonly hasIdentity: boolean;
  readonly start: 'now' | 'last' | 'cursor';
  /** Cursor of its last event. */
  readonly seen: number | undefined;
  /** True: it begins with the last event if it does not resume. */
  readonly beginsWithLast: boolean;
  /** Number of events published before and after its join. */
  readonly before: number;
  readonly after: number;
  /** Number of events published when it left. */
  left: number | undefined;
}

function eventsOf({ listener, published }: Client): Event[] {
  return listener.received.map((text, i) => eventOf(text, published[i]!));
}

function lastOf({ listener, published }: Client): Event | undefined {
  const text = listener.received.at(-1);
  return text === undefined ? undefined : eventOf(text, published.at(-1)!);
}

function eventOf(text: string, published: number): Event {
  const { data, extensions } = JSON.parse(text) as {
    data: { item: { n: number; whose?: string } };
    extensions?: { gap?: true; resumed?: boolean };
  };
  const { n, whose } = data.item;
  return { n, whose, gap: extensions?.gap === true, resumed: extensions?.resumed, published };
}

/** Throws if a client did not receive what the protocol guarantees. */
function check(client: Client, published: number, hasLost: boolean): void {
  const events = eventsOf(client);
  const end = client.left ?? published;
  const [first] = events;
  if (!first) {
    if (client.left === undefined) assert.ok(client.after >= published, 'received no event after its join');
    return;
  }
  const isResumed = first.resumed === true;
  if (client.seen === undefined) assert.equal(first.resumed, undefined);
  else assert.notEqual(first.resumed, undefined, 'a resuming client receives `resumed`');
  if (isResumed) assert.ok(first.n === client.seen! + 1 || first.gap, 'skips events after its cursor');
  else {
    assert.ok(first.n <= client.after || first.gap, `begins with ${first.n}, its join ended at ${client.after}`);
    // A client that joins now also receives an event that waits for its turn.
    const oldest = client.start === 'now' ? 0 : client.beginsWithLast ? client.before - 1 : client.before;
    // A client that joins before a gap is backfilled also receives the missed events.
    assert.ok(hasLost || first.n >= oldest, `begins with the old event ${first.n}`);
  }
  // At `gap: true` a client fetches the state, which has all events published by then. So one note may stand for several later skips.
  let fetched = 0;
  events.forEach(({ n, whose, gap, resumed, published: present }, i) => {
    if (gap) fetched = present;
    if (client.hasIdentity) assert.equal(whose, client.id);
    if (i === 0) return;
    assert.equal(resumed, undefined, '`resumed` is sent once');
    const previous = events[i - 1]!.n;
    assert.ok(n === previous + 1 || (n > previous && n <= fetched), `${n} follows ${previous}`);
  });
  const last = events.at(-1)!.n;
  assert.ok(last < end, 'received an event published after it left');
  if (client.left === undefined) assert.equal(last, published - 1, 'did not receive the last event');
}

/** Plays the steps on a stage of their own, of which nothing is left afterwards. */
async function run(steps: readonly Step[], bounds: Bounds) {
  const ends: (() => unknown)[] = [];
  try {
    return await play({ after: (end: () => unknown) => void ends.push(end) }, steps, bounds);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function play(
  t: Parameters<typeof createStage>[0],
  steps: readonly Step[],
  { retention = HISTORY, ...bounds }: Bounds,
) {
  const cursors = new Cursors('secret');
  const unanswered: (() => void)[] = [];
  let isAnswered = bounds.maxExecuting === undefined;
  const answerAll = () => {
    for (const answer of unanswered.splice(0)) answer();
  };
  const resolvers = {
    Item: {
      whose: (_: unknown, __: unknown, { connection }: { connection: { id: string } }) => connection.id,
      slow: async ({ n }: { n: number }) => {
        if (!isAnswered) await new Promise<void>((resolve) => unanswered.push(resolve));
        else if (n % 3 === 0) await nextTurn();
        return n;
      },
    },
  };
  const entries: string[] = [];
  const publishedAt = new Map<readonly string[], number[]>();
  const onReceive = (received: readonly string[]) => {
    const published = publishedAt.get(received);
    if (published) published.push(entries.length);
    else publishedAt.set(received, [entries.length]);
  };
  const modes = { read: 'prompt', messages: 'prompt', isLost: false };
  /** Reads that have failed, and are attempted again once reads succeed. */
  const attempts: (() => void)[] = [];
  const untilAttempt = () =>
    modes.read === 'failing' ? new Promise<void>((resolve) => attempts.push(resolve)) : nextTurn();
  const stage = await createStage(t, { sdl: SDL, cursors, resolvers, onReceive, untilAttempt, ...bounds });
  const { bus } = stage;
  await bus.acquire({ topic: 't', partition: 0, position: -1 });
  const slowReads: (() => void)[] = [];
  const setReads = (mode: 'prompt' | 'slow' | 'failing') => {
    modes.read = mode;
    for (const resolve of slowReads.splice(0)) resolve();
    if (mode !== 'failing') for (const resolve of attempts.splice(0)) resolve();
  };
  const late: (() => void)[] = [];
  let reportGap: (() => void) | undefined;
  const history = bus.history.bind(bus);
  let reads = 0;
  bus.history = async (...query) => {
    reads++;
    if (modes.read === 'failing') throw new BusUnavailableError('away');
    const isLate = reads % 2 === 0;
    const early = isLate ? undefined : await history(...query);
    if (modes.read === 'slow') await new Promise<void>((resolve) => slowReads.push(resolve));
    return early ?? history(...query);
  };
  const subscribe = bus.subscribe.bind(bus);
  bus.subscribe = (channel, listener, onGap) => {
    reportGap = onGap;
    const hear: BusListener = (...message) => {
      if (modes.isLost) return;
      if (modes.messages === 'late' || late.length > 0) late.push(() => listener(...message));
      else listener(...message);
    };
    return subscribe(channel, hear, onGap);
  };
  const letThrough = () => {
    for (let deliver = late.shift(); deliver; deliver = late.shift()) deliver();
  };
  const publish = async () => {
    const n = entries.length;
    entries.push('');
    const message = {
      channel: CHANNEL,
      payload: `{"item":{"id":1,"n":${n}}}`,
      offset: n,
      timestamp: 0,
      history: retention,
    };
    await bus.publish([message], { topic: 't', partition: 0, offset: n });
  };
  await publish();
  const { epoch } = await history(CHANNEL, { from: undefined, maxEntries: 1, maxBytes: 1 });
  const cursorOf = (n: number) => cursors.sign(CHANNEL, { epoch, partition: 0, offset: n, entry: `${n + 1}` });
  const clients: Client[] = [];
  const joins: Promise<unknown>[] = [];
  let ids = 0;
  const join = async (start: 'now' | 'last' | 'cursor', back: number, query: number) => {
    const id = `c${ids++}`;
    const before = entries.length - late.length;
    const seen = start === 'cursor' ? Math.max(0, entries.length - 1 - back) : undefined;
    const cursor = seen === undefined ? undefined : cursorOf(seen);
    const hasState = retention.stateSeconds !== undefined;
    const beginsWithLast = start === 'last' || (start === 'cursor' && hasState);
    const beginning = { cursor, replaysLast: beginsWithLast, hasState, hasHistory: !hasState };
    const listener = await stage.join(QUERIES[query]!, factsOf(id, {}), undefined, beginning);
    const after = entries.length;
    const published = publishedAt.get(listener.received) ?? [];
    publishedAt.set(listener.received, published);
    clients.push({
      listener,
      published,
      id,
      hasIdentity: query > 0,
      start,
      seen,
      beginsWithLast,
      before,
      after,
      left: undefined,
    });
  };
  for (const action of steps) {
    if (action.do === 'publish') for (let i = 0; i < action.count; i++) await publish();
    else if (action.do === 'lose') {
      modes.isLost = true;
      late.length = 0;
      for (let i = 0; i < action.count; i++) await publish();
      modes.isLost = false;
      if (stage.channelCount() > 0) reportGap?.();
    } else if (action.do === 'join') {
      const joining = join(action.start, action.back, action.query);
      joins.push(joining);
      if (action.back % 2) await Promise.race([joining, nextTurn()]);
    } else if (action.do === 'leave') {
      const client = clients[action.which];
      if (client && client.left === undefined) {
        client.listener.leave();
        client.left = entries.length;
      }
    } else if (action.do === 'lag') {
      const client = clients[action.which];
      if (client) client.listener.socket.isBackpressured = !client.listener.socket.isBackpressured;
    } else if (action.do === 'read') {
      setReads(action.mode);
    } else if (action.do === 'answer') {
      for (const which of action.which) unanswered.splice(which, 1)[0]?.();
    } else if (action.do === 'messages') {
      modes.messages = action.mode;
      if (action.mode === 'prompt') letThrough();
    } else await nextTurn();
  }
  setReads('prompt');
  modes.messages = 'prompt';
  isAnswered = true;
  answerAll();
  let isSettled = false;
  void Promise.all(joins).then(() => (isSettled = true));
  await waitFor('the joins', () => isSettled);
  letThrough();
  for (const { listener } of clients) listener.socket.isBackpressured = false;
  const isDone = () => clients.every((client) => client.left !== undefined || lastOf(client)?.n === entries.length - 1);
  const isDoneSoon = async () => {
    for (let turns = 0; turns < 50 && !isDone(); turns++) await nextTurn();
    return isDone();
  };
  // After an event without room, the next one carries `gap: true`.
  await waitFor('the last event', async () => (await publish(), await isDoneSoon()));
  const hasLost = steps.some((action) => action.do === 'lose');
  for (const client of clients) check(client, entries.length, hasLost);
  for (const { listener } of clients) listener.leave();
  assert.deepEqual([stage.channelCount(), stage.heldBytes()], [0, 0], 'channels and bytes after all have left');
  await waitFor('flow control to count nothing', () => stage.waitingBytes() === 0);
  return { resumed: clients.filter((client) => eventsOf(client)[0]?.resumed === true).length };
}

const STATEFUL: Bounds = { retention: STATE };
describe('every client gets its events once and in order', () => {
  for (const [condition, bounds, numRuns] of [
    ['room for all that is held', {}, 250],
    ['room for a few events', { maxHeldBytes: 2_500 }, 150],
    ['executions that hold the events after them', { maxExecuting: 1 }, 250],
    ['the state of the channel instead of its history', STATEFUL, 250],
  ] as const) {
    it(`however joins, reads, leaves and events interleave, with ${condition}`, async () => {
      let resumed = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
          resumed += (await run(steps, bounds)).resumed;
        }),
        { numRuns, includeErrorInReport: true, endOnFailure: true },
      );
      // At least one client per run is resumed on average. Without a history it must have the state already: less than one.
      const expected = bounds === STATEFUL ? numRuns / 20 : numRuns / 2;
      assert.ok(resumed > expected, `${resumed} clients of ${numRuns} runs were resumed`);
    });
  }
});
