import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { EventFilter } from '../../../src/graph/filter/event-filter.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createStage, factsOf } from './stage.ts';

const SDL = `
  type Order { id: ID total: Int tag: String whose: ID }
  type Subscription {
    orders(ids: [ID!], min: Int, tags: [String!], not: String): Order @kafka(
      topic: "t"
      match: { arg: "ids", path: "id" }
      where: [
        { arg: "min", path: "total", op: GTE }
        { arg: "tags", path: "tag", op: IN }
        { arg: "not", path: "tag", op: NE }
      ]
      tombstone: NULL
      history: {}
      replay: LAST
    )
  }
`;
const QUERY = `subscription ($ids: [ID!], $min: Int, $tags: [String!], $not: String) {
  orders(ids: $ids, min: $min, tags: $tags, not: $not) { id total tag whose }
}`;

interface Order {
  readonly id: string;
  readonly total?: number;
  readonly tag?: string | null;
}

/** A record without a value, of this key. */
interface Tombstone {
  readonly deletes: string;
}

interface Arguments extends Record<string, unknown> {
  readonly ids?: readonly string[] | null;
  readonly min?: number | null;
  readonly tags?: readonly string[] | null;
  readonly not?: string | null;
}

interface Received {
  readonly data: { readonly orders: (Order & { readonly whose: string }) | null };
  readonly extensions?: { readonly cursor?: string; readonly resumed?: boolean; readonly gap?: boolean };
}

async function start(t: Pick<TestContext, 'after'>, options: { readonly hasSharing?: boolean } = {}) {
  const whose = (_: unknown, __: unknown, { connection }: ExecutionContext) => connection.claims['user'];
  const resolvers = { Order: { whose } };
  const stage = await createStage(t, { sdl: SDL, resolvers, cursors: new Cursors('secret'), ...options });
  const publisher = publisherOf(stage.bus, 't', 0);
  /** As a worker does: to every channel of the record. */
  const publish = (...records: (Order | Tombstone)[]) =>
    publisher.publish(
      records.flatMap((record) => {
        const isTombstone = 'deletes' in record;
        const channels = isTombstone ? stage.tombstoneRoutes(record.deletes) : stage.routes(record);
        const payload = JSON.stringify(isTombstone ? null : record);
        return channels.map((channel) => ({ channel, payload, history: HISTORY_DEFAULTS }));
      }),
    );
  const listen = async (args: Arguments, user = 'a', cursor?: string, replaysLast = false) => {
    const from = cursor === undefined && !replaysLast ? undefined : { cursor, replaysLast };
    const listener = await stage.join(QUERY, factsOf(user, { user }), args, from);
    const events = () => listener.received.map((text) => JSON.parse(text) as Received);
    return { ...listener, events, totals: () => events().map(({ data }) => data.orders?.total) };
  };
  return { stage, publish, listen };
}

describe('a subscription with where on its arguments', () => {
  it('receives the events that its arguments accept, and executes no other', async (t) => {
    const { stage, publish, listen } = await start(t);
    const rich = await listen({ min: 100 });
    const red = await listen({ tags: ['red', 'pink'], min: null });
    await publish({ id: '1', total: 99, tag: 'red' }, { id: '2', total: 100, tag: 'blue' }, { id: '3', total: 5 });
    await waitFor('both', () => rich.received.length === 1 && red.received.length === 1);
    assert.deepEqual([rich.totals(), red.totals(), stage.executions], [[100], [99], 2]);
  });

  it('is evaluated once for each different set of arguments, whatever the documents', async (t) => {
    const { mock } = t.mock.method(EventFilter.prototype, 'accepts');
    const { stage, publish, listen } = await start(t, { hasSharing: true });
    const listeners = await Promise.all([1, 1, 2, 2, 2].map((min) => listen({ min })));
    listeners.push({
      ...listeners[0]!,
      ...(await stage.join('subscription { orders(min: 2) { id } }', factsOf('a', {}))),
    });
    await publish({ id: '1', total: 1 });
    await waitFor('the events', () => listeners[1]!.received.length === 1);
    assert.equal(mock.callCount(), 2);
    for (const { leave } of listeners) leave();
    assert.equal(stage.channelCount(), 0);
  });

  it('receives tombstones, whatever its arguments', async (t) => {
    const sdl = `
      type Order { total: Int }
      type Subscription {
        order(min: Int): Order @kafka(topic: "t", where: { arg: "min", path: "total", op: GTE }, tombstone: NULL)
      }`;
    const stage = await createStage(t, { sdl });
    const { received } = await stage.join('subscription { order(min: 100) { total } }', factsOf('a', {}));
    const messages = [{ total: 1 }, null].map((one) => ({ channel: 't{}', payload: JSON.stringify(one) }));
    await publisherOf(stage.bus, 't', 0).publish(messages);
    await waitFor('the tombstone', () => received.length === 1);
    assert.deepEqual(received, ['{"data":{"order":null}}']);
  });

  it('resumes after its last event with those that its arguments accept, then receives live ones', async (t) => {
    const { stage, publish, listen } = await start(t);
    const before = await listen({ min: 10 });
    await publish({ id: '1', total: 10 }, { id: '1', total: 1 });
    await waitFor('the first event', () => before.received.length === 1);
    before.leave();
    await publish(...[11, 2, 12, 3].map((total) => ({ id: '1', total })));
    const after = await listen({ min: 10 }, 'a', before.events()[0]!.extensions!.cursor);
    await waitFor('the missed events', () => after.received.length === 2);
    await publish({ id: '1', total: 4 }, { id: '1', total: 13 });
    await waitFor('the live event', () => after.received.length === 3);
    assert.deepEqual(after.totals(), [11, 12, 13]);
    assert.deepEqual(
      after.events().map(({ extensions }) => [extensions?.resumed, extensions?.gap]),
      [[true, undefined], [undefined, undefined], [undefined, undefined]], // prettier-ignore
    );
    assert.deepEqual(stage.resumes, ['resumed']);
  });

  it('begins with the last event only if its arguments accept it', async (t) => {
    const { publish, listen } = await start(t);
    await publish({ id: '1', total: 10 }, { id: '1', total: 1 });
    const rich = await listen({ min: 10 }, 'a', undefined, true);
    const any = await listen({ min: 0 }, 'a', undefined, true);
    await waitFor('the last event', () => any.received.length === 1);
    await publish({ id: '1', total: 20 });
    await waitFor('the live event', () => rich.received.length === 1 && any.received.length === 2);
    assert.deepEqual([rich.totals(), any.totals()], [[20], [1, 20]]);
  });

  it('is refused with BAD_USER_INPUT for an empty list', async (t) => {
    const { listen } = await start(t);
    await assert.rejects(listen({ tags: [] }), /The list "tags" is empty/);
  });
});

const id = fc.constantFrom('1', '2', '3');
const tag = fc.constantFrom('red', 'blue', '');
const order = fc.record({ id, total: fc.nat(5), tag: fc.option(tag) }, { requiredKeys: ['id'] });
const record = fc.oneof({ weight: 4, arbitrary: order }, fc.record({ deletes: id }));
const subscriber = fc.record({
  args: fc.record(
    {
      ids: fc.option(fc.array(id, { minLength: 1, maxLength: 4 })),
      min: fc.option(fc.nat(5)),
      tags: fc.option(fc.array(tag, { minLength: 1, maxLength: 2 })),
      not: fc.option(tag),
    },
    { requiredKeys: [] },
  ),
  user: fc.constantFrom('alice', 'bob'),
  /** Published batches after which it joins. */
  joinsAt: fc.nat(2),
  /** The batch during which it is away; it resumes after it. */
  away: fc.option(fc.constantFrom(1, 2, 3)),
});

/** Written without the code under test. */
function isFor({ ids, min, tags, not }: Arguments, one: Order | Tombstone): boolean {
  if ('deletes' in one) return !ids || ids.includes(one.deletes);
  if (ids && !ids.includes(one.id)) return false;
  if (typeof min === 'number' && !(one.total !== undefined && one.total >= min)) return false;
  if (tags && !(typeof one.tag === 'string' && tags.includes(one.tag))) return false;
  return typeof not !== 'string' || one.tag !== not;
}

type Subscriber = typeof subscriber extends fc.Arbitrary<infer Value> ? Value : never;
type Listen = Awaited<ReturnType<typeof start>>['listen'];

/** One subscriber over all batches, on one connection after another. */
function client({ args, user, joinsAt, away }: Subscriber, listen: Listen) {
  const received: Received[] = [];
  const expected: unknown[] = [];
  let live: Awaited<ReturnType<Listen>> | undefined;
  /** Events that it must receive if it resumes. */
  let missed: unknown[] | undefined;
  const channels = new Set(args.ids ?? ['all']);
  const leave = () => {
    received.push(...live!.events());
    live!.leave();
    live = undefined;
  };
  return {
    received: () => [...received, ...(live?.events() ?? [])],
    expected,
    /** True if all of its events come in the order of their records. */
    isOrdered: channels.size === 1,
    async before(batch: number) {
      if (batch === joinsAt) live = await listen(args, user);
      else if (live && batch === away) {
        leave();
        missed = [];
      } else if (missed) {
        const cursor = received.at(-1)?.extensions?.cursor;
        // Without an event it has no cursor; over several channels nobody resumes.
        if (cursor !== undefined && channels.size === 1) expected.push(...missed);
        live = await listen(args, user, cursor);
        missed = undefined;
      }
    },
    note(records: readonly (Order | Tombstone)[]) {
      const own = records.filter((one) => isFor(args, one));
      const events = own.map((one) =>
        'deletes' in one ? null : { id: one.id, total: one.total ?? null, tag: one.tag ?? null, whose: user },
      );
      (live ? expected : missed)?.push(...events);
    },
    leave: () => live && leave(),
  };
}

describe('subscriptions with lists and where, at random', () => {
  it('receive exactly their events and tombstones, with results of their own user, also when they resume', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(subscriber, { minLength: 1, maxLength: 6 }),
        fc.array(fc.array(record, { maxLength: 4 }), { minLength: 4, maxLength: 4 }),
        async (subscribers, batches) => {
          const cleanups: (() => unknown)[] = [];
          const t = { after: (cleanup: () => unknown) => void cleanups.push(cleanup) };
          const { stage, publish, listen } = await start(t);
          const clients = subscribers.map((one) => client(one, listen));
          for (const [index, batch] of batches.entries()) {
            for (const one of clients) await one.before(index);
            await publish(...batch);
            for (const one of clients) one.note(batch);
            await waitFor('the batch', () =>
              clients.every(({ received, expected }) => received().length >= expected.length),
            );
          }
          for (const { received, expected, isOrdered, leave } of clients) {
            const key = (value: unknown) => JSON.stringify(value);
            const ofKey = (all: readonly unknown[], wanted: string) =>
              all.filter((event) => (event as Order | null)?.id === wanted).map(key);
            const events = received().map(({ data }) => data.orders);
            // Between channels there is no order.
            assert.deepEqual(events.map(key).sort(), expected.map(key).sort());
            for (const each of ['1', '2', '3']) assert.deepEqual(ofKey(events, each), ofKey(expected, each));
            if (isOrdered) assert.deepEqual(events, expected);
            leave();
          }
          assert.equal(stage.channelCount(), 0);
          for (const cleanup of cleanups.reverse()) await cleanup();
        },
      ),
      { numRuns: 60 },
    ));
});
