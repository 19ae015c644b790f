import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { GraphQLScalarType } from 'graphql';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { leakContext, rows } from '../../../gateway/fanout/sharing/leak-resolvers.ts';
import { createStage, factsOf } from '../../../gateway/fanout/stage.ts';
import type { Listener, StageOptions } from '../../../gateway/fanout/stage.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { waitFor } from '../../../support/wait-for.ts';

const SDL = `
  type Subscription {
    inbox: Note
    all: Note
    room(id: ID!): Note
    order: Order @kafka(topic: "t", payload: "order")
  }
  type Note { id: ID is_private: Boolean list: [ID] whose: ID value: Any }
  type Order { id: ID sent: ID }
  scalar Any`;

type Resolver = (source: Record<string, unknown>, args: unknown, context: ExecutionContext) => unknown;

const userOf = ({ connection }: Pick<ExecutionContext, 'connection'>) => connection.claims['user'] as string;
const whose: Resolver = (_, __, context) => userOf(context);

function people() {
  const alice = { user: 'alice', tenant: 'acme', roles: ['buyer', 'admin'], org: { name: 'A' }, rooms: ['1'] };
  const bob = { user: 'bob', tenant: 'acme', roles: ['buyer'], org: { name: 'B' }, rooms: ['1', '2'] };
  return [
    factsOf('a', alice, ['Authorization', 'Bearer alice'], { locale: 'en' }),
    factsOf('bob', bob, ['Authorization', 'Bearer bob'], { locale: 'de' }),
  ];
}

interface NotesOptions extends Partial<StageOptions> {
  /** Of a note. */
  readonly value?: Resolver;
  /** Of an order, whose events come from Kafka. */
  readonly sent?: Resolver;
  /** Of `all`. Default: the trigger `all`. */
  readonly source?: () => AsyncIterable<unknown>;
}

/** A graph whose notes come from context.pubsub. */
async function createNotes(t: Pick<TestContext, 'after'>, { value, sent, source, ...options }: NotesOptions = {}) {
  const listenTo = (triggerOf: (context: ExecutionContext, args: { id: string }) => string, field: string) =>
    async function* events(_: unknown, args: { id: string }, context: ExecutionContext) {
      for await (const note of context.pubsub.asyncIterableIterator(triggerOf(context, args))) yield { [field]: note };
    };
  const stage = await createStage(t, {
    sdl: SDL,
    context: leakContext,
    resolvers: {
      Subscription: {
        inbox: { subscribe: listenTo((context) => `inbox.${userOf(context)}`, 'inbox') },
        all: { subscribe: source ?? listenTo(() => 'all', 'all') },
        room: {
          authorize: ({ id }: { id: string }, { connection }: ExecutionContext) =>
            (connection.claims['rooms'] as string[]).includes(id),
          subscribe: listenTo((_, { id }) => `room.${id}`, 'room'),
        },
      },
      Note: { whose, ...(value && { value }) },
      Order: { ...(sent && { sent }) },
      Any: new GraphQLScalarType({ name: 'Any' }),
    },
    ...options,
  });
  const join = (query: string) => Promise.all(people().map((facts) => stage.join(query, facts)));
  /** Sends a note, and resolves when each of the listeners has received one more. */
  const send = async (trigger: string, note: object, listeners: readonly Listener[]) => {
    const goals = listeners.map(({ received }) => received.length + 1);
    await stage.bus.send(trigger, JSON.stringify(note));
    await waitFor('the note', () => listeners.every(({ received }, i) => received.length >= goals[i]!));
  };
  return { stage, join, send };
}

const noteOf = (text: string) => Object.values((JSON.parse(text) as { data: Record<string, object> }).data)[0];

describe('a subscription of context.pubsub', () => {
  it('receives the events of the trigger that its claim names', async (t) => {
    const { join, send } = await createNotes(t);
    const [alice, bob] = await join('subscription { inbox { id whose } }');
    await send('inbox.bob', { id: 1 }, [bob!]);
    await send('inbox.alice', { id: 2 }, [alice!]);
    assert.deepEqual(alice!.received.map(noteOf), [{ id: '2', whose: 'alice' }]);
    assert.deepEqual(bob!.received.map(noteOf), [{ id: '1', whose: 'bob' }]);
  });

  it('receives the events of everybody if its trigger names no claim, each with values of its own user (twin)', async (t) => {
    const { join, send } = await createNotes(t);
    const listeners = await join('subscription { all { id whose } }');
    for (const id of [1, 2]) await send('all', { id }, listeners);
    for (const { received, facts } of listeners) {
      const user = userOf({ connection: facts });
      assert.deepEqual(received.map(noteOf), [{ id: '1', whose: user }, { id: '2', whose: user }]); // prettier-ignore
    }
  });

  it('has the result of an execution of its own, for every resolver that reads the connection (S-57)', async (t) => {
    for (const row of rows) {
      const { join, send } = await createNotes(t, { value: row.resolve as Resolver });
      const listeners = await join('subscription { all { id value } }');
      for (const is_private of [false, true, true]) {
        const note = { id: 1, is_private };
        await send('all', note, listeners);
        for (const { alone, execute } of listeners) alone.push(await execute({ all: note }));
      }
      for (const { received, alone } of listeners) assert.deepEqual(received, alone, row.name);
    }
  });

  const writers: Readonly<Record<string, Resolver>> = {
    'keeps what it computed': (source, _, context) => (source['user'] ??= userOf(context)),
    'adds to a list': (source, _, context) => (source['list'] as unknown[]).push(userOf(context)),
  };
  for (const [what, write] of Object.entries(writers)) {
    const value: Resolver = (source, args, context) => {
      write(source, args, context);
      return source;
    };

    it(`receives nothing that another user's resolver wrote into the payload, which ${what}`, async (t) => {
      const { join, send } = await createNotes(t, { value });
      const listeners = await join('subscription { all { value } }');
      for (const id of [1, 2]) await send('all', { id, list: [] }, listeners);
      for (const { received } of listeners) for (const text of received) assert.doesNotMatch(text, /alice|bob/);
    });

    it(`would receive it of a payload that is not frozen: from a source beside context.pubsub, which ${what} (twin)`, async (t) => {
      const note = { id: 1, list: [] };
      // eslint-disable-next-line @typescript-eslint/require-await -- a source is asynchronous
      const source = async function* () {
        yield { all: note };
      };
      const { join } = await createNotes(t, { value, source });
      const listeners = await join('subscription { all { value } }');
      await waitFor('the note', () => listeners.every(({ received }) => received.length === 1));
      const other = (facts: Listener['facts']) => (facts.claims['user'] === 'bob' ? 'alice' : 'bob');
      assert.ok(listeners.some(({ received, facts }) => received[0]!.includes(other(facts))));
    });
  }

  it('receives exactly the events of what its claims allow, with values of its own user, at random', async () => {
    const user = fc.constantFrom('alice', 'bob', 'eve');
    const room = fc.constantFrom('1', '2', '3');
    const client = fc.record({
      user,
      rooms: fc.uniqueArray(room),
      field: fc.constantFrom('inbox', 'all', 'room'),
      room,
    });
    const event = fc.oneof(
      user.map((name) => `inbox.${name}`),
      fc.constant('all'),
      room.map((id) => `room.${id}`),
    );
    const cases = fc.record({
      clients: fc.array(client, { minLength: 1, maxLength: 6 }),
      events: fc.array(event, { minLength: 1, maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ clients, events }) => {
        const ends: (() => void | Promise<void>)[] = [];
        const { stage } = await createNotes({ after: (end: () => void) => void ends.push(end) });
        try {
          const joined: { readonly listener: Listener; readonly trigger: string; readonly user: string }[] = [];
          for (const [index, { user, rooms, field, room }] of clients.entries()) {
            const selection = field === 'room' ? `room(id: ${room})` : field;
            const joining = stage.join(
              `subscription { ${selection} { id whose } }`,
              factsOf(`${index}`, { user, rooms }),
            );
            const trigger = { inbox: `inbox.${user}`, all: 'all', room: `room.${room}` }[field];
            if (field === 'room' && !rooms.includes(room)) await assert.rejects(joining, /Not allowed/);
            else joined.push({ listener: await joining, trigger, user });
          }
          const triggers = new Set(joined.map(({ trigger }) => trigger));
          await waitFor('all triggers', () => stage.triggers.size === triggers.size);
          for (const [id, trigger] of events.entries()) await stage.bus.send(trigger, JSON.stringify({ id }));
          const expectedOf = ({ trigger, user }: (typeof joined)[number]) =>
            events.flatMap((sent, id) => (sent === trigger ? [{ id: `${id}`, whose: user }] : []));
          await waitFor('all events', () =>
            joined.every((one) => one.listener.received.length >= expectedOf(one).length),
          );
          for (let turn = 0; turn < 3; turn++) await nextTurn();
          for (const one of joined) assert.deepEqual(one.listener.received.map(noteOf), expectedOf(one));
          for (const { listener } of joined) listener.leave();
          await waitFor('no trigger', () => stage.triggers.size === 0);
        } finally {
          for (const end of ends.reverse()) await end();
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** Publishes what it computed of the claims of its execution. */
const sent: Resolver = async (_, __, context) => {
  const user = userOf(context);
  await context.pubsub.publish(`inbox.${user}`, { id: `for ${user}` });
  return user;
};

const ORDER = 'subscription { order { id sent } }';
const ALICE_AND_BOB = ['alice', 'bob'].map((user) => [{ id: '1', sent: user }]);

/** One event, for Alice and Bob with an inbox and two subscriptions each of an event that publishes. */
async function publishInEvent(t: TestContext, options: Partial<StageOptions>) {
  const { stage, join } = await createNotes(t, { sent, hasSharing: true, ...options });
  const inboxes = await join('subscription { inbox { id } }');
  const orders = [...(await join(ORDER)), ...(await join(ORDER))];
  await publisherOf(stage.bus, 't', 0).publish([{ channel: 't{}', payload: '{"order":{"id":1}}' }]);
  await waitFor('all results', () => orders.every(({ received }) => received.length > 0));
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  const notesOf = (listeners: readonly Listener[]) => listeners.map(({ received }) => received.map(noteOf));
  return { executions: stage.executions, inboxes: notesOf(inboxes), orders: notesOf(orders) };
}

describe('context.pubsub in code other than `subscribe`', () => {
  it('reads no event: not in resolvers of an event or a query, nor in authorize', async (t) => {
    const refused: string[] = [];
    const attempt = (where: string, { pubsub }: ExecutionContext) => {
      for (const method of ['subscribe', 'asyncIterableIterator', 'asyncIterator'] as const) {
        assert.throws(() => pubsub[method]('inbox.bob', () => assert.fail('an event')), TypeError);
      }
      refused.push(where);
    };
    const resolver = (where: string): Resolver => (_, __, context) => attempt(where, context); // prettier-ignore
    const stage = await createStage(t, {
      sdl: `
        type Subscription { order: Order @kafka(topic: "t", payload: "order") }
        type Order { id: ID sent: ID }
        type Query { sent: ID }`,
      resolvers: {
        Subscription: {
          order: { authorize: (_: unknown, context: ExecutionContext) => attempt('authorize', context) },
        },
        Order: { sent: resolver('event') },
        Query: { sent: resolver('query') },
      },
    });
    const [alice] = people();
    const operation = stage.runtime.prepare({ query: '{ sent }' }, undefined);
    assert.ok(!('errors' in operation));
    await stage.runtime.execute(operation, undefined, alice!);
    const listener = await stage.join('subscription { order { sent } }', alice!);
    await stage.publish('t{}', { order: { id: 1 } });
    assert.deepEqual(listener.received.map(noteOf), [{ sent: null }]);
    assert.deepEqual([...new Set(refused)], ['query', 'authorize', 'event']);
    assert.equal(stage.triggers.size, 0);
  });

  it('publishes once for each user of an event that it executes for, to triggers of their claims (S-57)', async (t) => {
    const { executions, inboxes, orders } = await publishInEvent(t, {});
    assert.equal(executions, 2);
    assert.deepEqual(inboxes, [[{ id: 'for alice' }], [{ id: 'for bob' }]]);
    assert.deepEqual(orders, [...ALICE_AND_BOB, ...ALICE_AND_BOB]);
  });

  it('would publish for one of them and show it to the other, without the record of reads (twin)', async (t) => {
    const { inboxes, orders } = await publishInEvent(t, { forgetsReads: true });
    assert.deepEqual(inboxes, [[{ id: 'for alice' }], []]);
    for (const notes of orders) assert.deepEqual(notes, ALICE_AND_BOB[0]);
  });
});
