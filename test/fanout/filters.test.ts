import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { HISTORY_DEFAULTS } from '../../src/bus/history.ts';
import type { ExecutionContext } from '../../src/context/context.ts';
import { Cursors } from '../../src/fanout/resume/cursor.ts';
import { EventFilter } from '../../src/graph/filter/event-filter.ts';
import { publisherOf } from '../support/partition-publisher.ts';
import { waitFor } from '../support/wait-for.ts';
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
  const publish = (...orders: Order[]) =>
    publisher.publish(
      orders.flatMap((order) => {
        return stage
          .routes(order)
          .map((channel) => ({ channel, payload: JSON.stringify(order), history: HISTORY_DEFAULTS }));
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
});

/** Written without the code under test. */
function isFor({ ids, min, tags, not }: Arguments, one: Order): boolean {
  if (ids && !ids.includes(one.id)) return false;
  if (typeof min === 'number' && !(one.total !== undefined && one.total >= min)) return false;
  if (tags && !(typeof one.tag === 'string' && tags.includes(one.tag))) return false;
  return typeof not !== 'string' || one.tag !== not;
}

describe('subscriptions with lists and where, at random', () => {
  it('receive exactly their events, with results of their own user', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(subscriber, { minLength: 1, maxLength: 6 }),
        fc.array(fc.array(order, { maxLength: 4 }), { minLength: 3, maxLength: 3 }),
        async (subscribers, batches) => {
          const cleanups: (() => unknown)[] = [];
          const t = { after: (cleanup: () => unknown) => void cleanups.push(cleanup) };
          const { stage, publish, listen } = await start(t);
          const listeners = new Map<(typeof subscribers)[number], Awaited<ReturnType<typeof listen>>>();
          for (const [index, batch] of batches.entries()) {
            const joining = subscribers.filter(({ joinsAt }) => joinsAt === index);
            for (const one of joining) listeners.set(one, await listen(one.args, one.user));
            await publish(...batch);
            await waitFor('the batch', () =>
              [...listeners].every(([one, { received }]) => received.length >= expectedOf(one, index + 1).length),
            );
          }
          for (const [one, { events, leave }] of listeners) {
            const received = events().map(({ data }) => data.orders);
            const key = (value: unknown) => JSON.stringify(value);
            const expected = expectedOf(one, batches.length);
            // Between channels there is no order.
            assert.deepEqual(received.map(key).sort(), expected.map(key).sort());
            for (const each of ['1', '2', '3']) {
              const ofChannel = (all: readonly ({ id: string } | null)[]) => all.filter((event) => event?.id === each);
              assert.deepEqual(ofChannel(received), ofChannel(expected));
            }
            leave();
          }
          assert.equal(stage.channelCount(), 0);
          for (const cleanup of cleanups.reverse()) await cleanup();

          function expectedOf({ args, user, joinsAt }: (typeof subscribers)[number], until: number) {
            const orders = batches.slice(joinsAt, until).flat();
            const accepted = orders.filter((one) => isFor(args as Arguments, one));
            return accepted.map((one) => ({ id: one.id, total: one.total ?? null, tag: one.tag ?? null, whose: user }));
          }
        },
      ),
      { numRuns: 60 },
    ));
});
