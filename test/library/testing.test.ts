import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { defineGraph } from '../../src/library/crier.ts';
import { startGraph } from '../../src/library/testing.ts';
import type { TestGraphOptions } from '../../src/library/testing.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';

const SCHEMA = `
  type Query { hello(name: String!): String }
  type Subscription {
    order_updated(order_id: ID!): Order @kafka(topic: "orders", match: [{ arg: "order_id", path: "order_id" }], tombstone: COMPLETE, keys: SNAKE)
    orders: Order @kafka(topic: "orders")
    shipments: Order @kafka(topic: "shipments")
    private_orders: Order @kafka(topic: "orders")
  }
  type Order { order_id: ID!, status: String, owner: String }
`;
const graph = () =>
  defineGraph({
    schema: SCHEMA,
    resolvers: {
      Query: { hello: (_: unknown, { name }: { name: string }) => `Hello, ${name}` },
      Subscription: {
        private_orders: {
          authorize: async () => {
            await setImmediate();
            return false;
          },
        },
      },
      Order: { owner: (_order, _args, { connection }) => connection.claims['user'] },
    },
    context: { authenticate: ({ params }) => params['user'] !== 'mallory' && { user: params['user'] ?? null } },
    samples: {
      *records() {
        yield { topic: 'orders', value: { order_id: '7', status: 'SAMPLE' } };
      },
    },
  });

async function start(t: TestContext, options?: TestGraphOptions) {
  const started = await startGraph(graph(), options);
  t.after(() => started.close());
  return started;
}

describe('crier/testing', { concurrency: 4 }, () => {
  it('yields the changes of rows, as the records of a topic with an envelope carry them', async (t) => {
    const started = await startGraph(
      defineGraph({
        schema: `
          type Subscription {
            rows(min: Int): Row
              @kafka(topic: "db.rows", envelope: DEBEZIUM, before: WHOLE, where: [{ arg: "min", path: "item_count", op: GTE }], tombstone: ROW)
          }
          type Row { id: ID item_count: Int op: String @change(field: OP) before: Row @change(field: BEFORE) }`,
      }),
    );
    t.after(() => started.close());
    const events = await started.subscribe('subscription { rows(min: 5) { id item_count op before { item_count } } }');
    const [low, high] = [1, 9].map((itemCount) => ({ id: 7, itemCount }));
    await started.publish('db.rows', { before: null, after: low, op: 'c' }, { key: '{"id":7}' });
    await started.publish('db.rows', { before: low, after: high, op: 'u' }, { key: '{"id":7}' });
    await started.publish('db.rows', { before: high, after: low, op: 'u' }, { key: '{"id":7}' });
    const rows = (count: number, op: string, before: number) => ({
      rows: { id: '7', item_count: count, op, before: { item_count: before } },
    });
    assert.deepEqual((await events.next()).value?.data, rows(9, 'UPDATE', 1));
    assert.deepEqual((await events.next()).value?.data, rows(9, 'DELETE', 9));
  });

  it('yields the events of the records that a test publishes, and no sample', async (t) => {
    const started = await start(t);
    const query = 'subscription ($id: ID!) { order_updated(order_id: $id) { status owner } }';
    const options = { variables: { id: '7' }, connectionParams: { user: 'ann' } };
    const [own, all] = [
      await started.subscribe(query, options),
      await started.subscribe('subscription { orders { order_id } }'),
    ];
    await started.publish('orders', { orderId: '7', status: 'PAID' }, { key: '7' });
    await started.publish('orders', { orderId: '8', status: 'OPEN' });
    assert.deepEqual((await own.next()).value?.data, { order_updated: { status: 'PAID', owner: 'ann' } });
    const ids = [(await all.next()).value?.data, (await all.next()).value?.data];
    assert.deepEqual(ids, [{ orders: { order_id: '7' } }, { orders: { order_id: '8' } }]);
    assert.deepEqual(own.waiting, []);
    await started.publish('orders', null, { key: '7' });
    assert.deepEqual(await own.next(), { value: undefined, done: true });
    await all.return();
    assert.deepEqual(await all.next(), { value: undefined, done: true });
  });

  it('answers queries', async (t) => {
    const started = await start(t);
    const result = await started.query('query ($name: String!) { hello(name: $name) }', { variables: { name: 'Ada' } });
    assert.deepEqual(result, { data: { hello: 'Hello, Ada' } });
  });

  it('says why no event may have come, and why a subscription was refused', async (t) => {
    const started = await start(t, { patienceMs: 300 });
    const query = 'subscription { order_updated(order_id: "7") { status } }';
    const events = await started.subscribe(query);
    await assert.rejects(events.next(), /no event came within 300 ms: no record was published/);
    await started.publish('orders', { id: '7' });
    await assert.rejects(
      events.next(),
      /no event came within 300 ms: records were published to orders \(1\); 1 did not match order_updated: \w+/,
    );
  });

  it('says which records a subscription takes when it got none of those that were published', async (t) => {
    const started = await start(t, { patienceMs: 300 });
    const query = 'subscription ($id: ID!) { order_updated(order_id: $id) { status } }';
    const [events, other] = [
      await started.subscribe(query, { variables: { id: '7' } }),
      await started.subscribe('subscription { shipments { status } }'),
    ];
    await started.publish('orders', { orderId: '8' });
    await assert.rejects(events.next(), {
      message:
        'no event came within 300 ms: records were published to orders (1); order_updated takes those whose order_id is "7"',
    });
    await assert.rejects(other.next(), /published to orders \(1\); shipments reads shipments$/);
  });

  it('says what is wrong with the records that a test publishes', async (t) => {
    const schema = `type Subscription { order(id: ID): Order @kafka(topic: "orders", match: [{ arg: "id", path: "id" }]) } type Order { id: ID }`;
    const started = await startGraph(defineGraph({ schema }), { patienceMs: 300 });
    t.after(() => started.close());
    const values: readonly (readonly [value: unknown, message: RegExp])[] = [
      [undefined, /^publish: it has no value; write value: \{ … \}, or value: null for a tombstone$/],
      ['{"id":"9"}', /^publish: its value is a text, and a payload is an object; /],
      [[{ id: '9' }], /^publish: its value is a list, and a payload is an object; /],
      [Buffer.from('{"id":"9"}'), /^publish: its value is bytes; /],
    ];
    for (const [value, message] of values) {
      await assert.rejects(started.publish('orders', value as object), { name: 'TypeError', message });
    }
    const events = await started.subscribe('subscription { order(id: "9") { id } }');
    await started.publish('orders', { value: { id: '9' } });
    await assert.rejects(events.next(), {
      message:
        'no event came within 300 ms: records were published to orders (1); order takes those whose id is "9"; match of "id": the record has no "id" ' +
        'at the top, where its keys are value. No subscription with this argument receives it; correct the path in @kafka, or what the test publishes',
    });
  });

  it('rejects subscribe when the server refuses the document, the connection or the operation', async (t) => {
    const started = await start(t);
    await assert.rejects(
      started.subscribe('subscription { ordrs { status } }'),
      /Cannot query field "ordrs".*GRAPHQL_VALIDATION_FAILED/,
    );
    const query = 'subscription { order_updated(order_id: "7") { status } }';
    await assert.rejects(
      started.subscribe(query, { connectionParams: { user: 'mallory' } }),
      /the connection was closed: 4403/,
    );
    // Its authorize answers after the subscription was read.
    await assert.rejects(started.subscribe('subscription { private_orders { status } }'), /FORBIDDEN/);
  });

  it('has the line of the test in the stack of an error', async (t) => {
    const started = await start(t, { patienceMs: 1 });
    const events = await started.subscribe('subscription { orders { status } }');
    const hasLine = ({ stack }: Error) => /^Error: no event came within 1 ms[^]*\n +at .*testing\.test/.test(stack!);
    await assert.rejects(events.next(), hasLine);
    await assert.rejects(started.subscribe('{'), ({ stack }: Error) => /\n +at .*testing\.test/.test(stack!));
  });

  it('proposes patienceMs for an unknown option that is near', async () => {
    await assert.rejects(startGraph(graph(), { patienceMS: 1 } as object), {
      name: 'ConfigError',
      message: 'patienceMS: unknown option; did you mean "patienceMs"?',
    });
  });

  it('starts a graph folder, and names the mistakes of one', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': 'type Subscription { a: Int @kafka(topic: "as", payload: "a") }',
    });
    const started = await startGraph(folder);
    t.after(() => started.close());
    const events = await started.subscribe('subscription { a }');
    await started.publish('as', { a: 1 });
    assert.deepEqual((await events.next()).value?.data, { a: 1 });
    await assert.rejects(startGraph('/nowhere'), /no such folder/);
  });
});
