import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { SETTINGS, Stage, TOPIC, comparable } from './switch-stage.ts';
import type { Client } from './switch-stage.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription {
      orders(ids: [ID!], min: Float, tags: [String!], not: String): Order @kafka(
        topic: "${TOPIC}", match: { arg: "ids", path: "id" }, record: { key: true, headers: ["tenant"] }, tombstone: NULL
        where: [{ arg: "min", path: "total_cents", op: GTE }, { arg: "tags", path: "tag", op: IN }, { arg: "not", path: "tag", op: NE }]
      )
      order(id: ID!): Order @kafka(topic: "${TOPIC}", match: { arg: "id", path: "id" }, state: {}, tombstone: COMPLETE)
      typing(room: ID!): Typing @redis(channel: "typing.{room}")
    }
    type Query { order(id: ID!): Order @state(of: "order") }
    type Order {
      id: ID! total_cents: Float tag: String whose: String late: String
      key: ID @record(field: KEY) tenant: String @record(field: HEADER, name: "tenant") offset: ID @record(field: OFFSET)
    }
    type Typing { user: String whose: String }
  `,
  'resolvers.js': `
    const whose = (_, __, { connection }) => connection.claims.user;
    export const Order = {
      whose,
      late: async ({ tag }, _, { record }) => {
        await new Promise((resolve) => setImmediate(resolve));
        return [tag, record?.key, record?.headers.tenant].join();
      },
    };
    export const Typing = { whose };
  `,
  'context.js': 'export const authenticate = ({ params }) => params.claims;',
};

const ORDER = '{ id total_cents tag key tenant offset }';
const OPERATIONS = {
  everything: 'subscription { orders { id total_cents key tenant offset } }',
  filtered: 'subscription { orders(min: 2, tags: ["red", "blue"]) { id whose total_cents tag key } }',
  listed: 'subscription { orders(ids: [1, 2], not: "red") { id tag late tenant } }',
};
const FOLLOWED = `subscription { order(id: 1) ${ORDER} }`;
const STATE = `{ order(id: 1) { whose ${ORDER.slice(1)} }`;
const TYPING = 'subscription { typing(room: "a") { user whose } }';

interface Order {
  readonly id: string;
  /** undefined: a tombstone of the id. */
  readonly value: { readonly totalCents?: number | string | null; readonly tag?: string | null } | undefined;
  readonly tenant: string | undefined;
}

const order: fc.Arbitrary<Order> = fc.record({
  id: fc.constantFrom('1', '2', '3'),
  value: fc.option(
    fc.record(
      {
        totalCents: fc.constantFrom<number | string | null>(0, 1.5, 2, 3, '2.0', '7', null),
        tag: fc.constantFrom('red', 'blue', 'green', null),
        notSelected: fc.jsonValue({ maxDepth: 2 }),
      },
      { requiredKeys: [] },
    ),
    { nil: undefined, freq: 2 },
  ),
  tenant: fc.option(fc.constantFrom('acme', 'other'), { nil: undefined }),
});

/** Batches that have a rejected event, a state, and a tombstone that ends a subscription. */
export const EXAMPLES: [Order[]][] = [
  [[{ id: '1', value: { totalCents: 1.5, tag: 'red' }, tenant: 'acme' }]],
  [
    [
      { id: '1', value: { totalCents: '7', tag: 'blue' }, tenant: undefined },
      { id: '1', value: undefined, tenant: 'other' },
    ],
  ],
];

/** Batching alone is the socket's, whatever it writes. */
const COMPARED = SETTINGS.filter(
  ({ DISABLE = '' }) => !DISABLE.includes('write-batching') || DISABLE.includes('key-rewriter'),
);

/** Written without the code under test. */
const RECEIVES: Readonly<Record<keyof typeof OPERATIONS, (order: Order) => boolean>> = {
  everything: () => true,
  filtered: ({ value }) =>
    !value || (value.totalCents != null && Number(value.totalCents) >= 2 && ['red', 'blue'].includes(value.tag ?? '')),
  listed: ({ id, value }) => ['1', '2'].includes(id) && value?.tag !== 'red',
};

/** Messages of a subscription to the order 1, which is live when the records come: of its state, its events, and its end. */
function followed(orders: readonly Order[], hasState: boolean): { readonly count: number; readonly isEnded: boolean } {
  const own = orders.filter(({ id }) => id === '1');
  const end = own.findIndex(({ value }) => !value);
  return { count: Number(hasState) + (end === -1 ? own.length : end + 1), isEnded: end !== -1 };
}

/** All settings give the same messages of a graph with the directives `@redis`, `@record` and `@state`, `where`, lists, and tombstones. */
export async function directivesDifference(t: TestContext) {
  const folder = await graphFolder(t, GRAPH);
  const stages: Stage[] = [];
  for (const settings of COMPARED) stages.push(await Stage.start(t, folder, settings));
  for (const stage of stages) {
    for (const client of stage.clients) {
      for (const [id, query] of Object.entries({ ...OPERATIONS, typing: TYPING })) client.subscribe(id, query);
    }
    await stage.settle();
  }
  const seen = { tombstones: 0, 'rejected events': 0, states: 0, 'completed subscriptions': 0 };
  let hasState = false;
  const property = fc.asyncProperty(fc.array(order, { minLength: 1, maxLength: 6 }), async (orders) => {
    const received = await Promise.all(stages.map((stage) => messagesOf(stage, orders, hasState)));
    seen.tombstones += orders.filter(({ value }) => !value).length;
    seen['rejected events'] += orders.filter((one) => !RECEIVES.filtered(one)).length;
    seen.states += Number(hasState);
    seen['completed subscriptions'] += Number(followed(orders, hasState).isEnded);
    hasState = orders.findLast(({ id }) => id === '1')?.value !== undefined || (hasState && orders.every(({ id }) => id !== '1')); // prettier-ignore
    for (const [i, messages] of received.entries()) {
      assert.deepEqual(messages, received[0], JSON.stringify(COMPARED[i]));
    }
  });
  return { property, seen };
}

/** Publishes the records and returns the messages that each client receives for them, with those of the state before and after. */
async function messagesOf(stage: Stage, orders: readonly Order[], hasState: boolean): Promise<string[][]> {
  for (const client of stage.clients) client.subscribe('followed', FOLLOWED);
  await stage.settle();
  await stage.publish(
    orders.map(({ id, value, tenant }) => ({
      key: id,
      value: value ? { id, ...value } : null,
      ...(tenant !== undefined && { headers: { tenant } }),
    })),
  );
  await stage.send('typing.a', { user: orders[0]!.id });
  const { count, isEnded } = followed(orders, hasState);
  const messages: string[][] = [];
  for (const client of stage.clients) {
    for (const [id, receives] of Object.entries(RECEIVES)) {
      const texts = await take(client, id, orders.filter(receives).length);
      // Between the channels of a list there is no order.
      messages.push(id === 'listed' ? texts.toSorted() : texts);
    }
    messages.push(await take(client, 'typing', 1), await take(client, 'followed', count));
    if (!isEnded) client.complete('followed');
    client.subscribe('state', STATE);
    messages.push(await take(client, 'state', 2));
  }
  return messages;
}

async function take(client: Client, id: string, count: number): Promise<string[]> {
  return comparable(await client.take(id, count));
}
