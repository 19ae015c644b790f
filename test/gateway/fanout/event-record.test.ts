import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { waitFor } from '../../support/wait-for.ts';
import { EXECUTION_PATHS } from './execution-paths.ts';
import { createStage, factsOf } from './stage.ts';
import type { StageOptions } from './stage.ts';

const SDL = `
  type Subscription { order: Order @kafka(topic: "t", payload: "order", history: {}) }
  type Query { order: Order }
  type Order { id: ID seen: String at: String @record(field: TIMESTAMP) ms: Float @record(field: TIMESTAMP)
    topic: String @record(field: TOPIC) partition: Int @record(field: PARTITION) offset: ID @record(field: OFFSET) }`;
const QUERY = 'subscription { order { id seen at ms topic partition offset } }';
const TIMESTAMP = 1_763_720_000_123;

const seenOf = ({ record }: ExecutionContext) => JSON.stringify(record);
const resolvers = {
  Order: { seen: (_: unknown, __: unknown, context: ExecutionContext) => seenOf(context) },
  Query: { order: () => ({ id: 1, at: 'of the backend' }) },
};

async function createOrders(t: TestContext, options: Partial<StageOptions> = {}) {
  const stage = await createStage(t, { sdl: SDL, resolvers, ...options });
  await stage.bus.acquire({ topic: 't', partition: 3, position: -1 });
  const publish = (offset: number, timestamp = TIMESTAMP) => {
    const payload = JSON.stringify({ order: { id: offset, at: 'of the payload' } });
    const history = { entries: 10, bytes: 10_000, seconds: 60 };
    return stage.bus.publish([{ channel: 't{}', payload, offset, timestamp, history }], {
      topic: 't',
      partition: 3,
      offset,
    });
  };
  return { stage, publish };
}

const orderOf = (text: string | undefined) => (JSON.parse(text!) as { data: { order: object } }).data.order;
const expected = (offset: number) => ({
  id: `${offset}`,
  seen: JSON.stringify({ topic: 't', partition: 3, offset, timestamp: TIMESTAMP }),
  at: '2025-11-21T10:13:20.123Z',
  ms: TIMESTAMP,
  topic: 't',
  partition: 3,
  offset: `${offset}`,
});

describe('the record of an event', () => {
  for (const [title, options] of EXECUTION_PATHS) {
    it(`is in resolvers and in fields with @record, ${title}`, async (t) => {
      const { stage, publish } = await createOrders(t, options);
      const listener = await stage.join(QUERY, factsOf('a', {}));
      for (let offset = 0; offset < 4; offset++) {
        await publish(offset);
        await waitFor('the event', () => listener.received.length === offset + 1);
        assert.deepEqual(orderOf(listener.received.at(-1)), expected(offset));
      }
    });
  }

  it('is shared by all connections, and repeated by the audit with the same result', async (t) => {
    const { stage, publish } = await createOrders(t, { hasSharing: true, audit: 1 });
    const listeners = await Promise.all(['a', 'b', 'c'].map((id) => stage.join(QUERY, factsOf(id, { sub: id }))));
    await publish(7);
    await waitFor('all results', () => listeners.every(({ received }) => received.length === 1));
    assert.equal(stage.executions, 1);
    for (const { received } of listeners) assert.deepEqual(orderOf(received[0]), expected(7));
    await waitFor('the audit', () => stage.outcomes.length === 2);
    assert.deepEqual(stage.outcomes, ['same', 'same']);
  });

  it('is that of each replayed event', async (t) => {
    const { stage, publish } = await createOrders(t, { cursors: new Cursors('secret') });
    const first = await stage.join(QUERY, factsOf('a', {}));
    for (const offset of [0, 1, 2]) await publish(offset);
    await waitFor('all events', () => first.received.length === 3);
    const { extensions } = JSON.parse(first.received[0]!) as { extensions: { cursor: string } };
    const back = await stage.join(QUERY, factsOf('b', {}), undefined, { ...extensions, replaysLast: false });
    await waitFor('the missed events', () => back.received.length === 2);
    assert.deepEqual(back.received.map(orderOf), [expected(1), expected(2)]);
  });

  it('cannot be changed by a resolver for others', async (t) => {
    const failures: unknown[] = [];
    const seen = (_: unknown, __: unknown, context: ExecutionContext) => {
      try {
        Object.assign(context.record!, { topic: 'mine' });
      } catch (error) {
        failures.push(error);
      }
      return seenOf(context);
    };
    const { stage, publish } = await createOrders(t, { resolvers: { ...resolvers, Order: { seen } } });
    const listener = await stage.join(QUERY, factsOf('a', {}));
    await publish(1);
    await waitFor('the event', () => listener.received.length === 1);
    assert.deepEqual(orderOf(listener.received[0]), expected(1));
    assert.ok(failures.every((failure) => failure instanceof TypeError) && failures.length > 0);
  });

  it('has no time that a Date cannot hold', async (t) => {
    const { stage, publish } = await createOrders(t);
    const listener = await stage.join('subscription { order { at ms } }', factsOf('a', {}));
    for (const [offset, timestamp] of [-1, 9_007_199_254_740_991].entries()) await publish(offset, timestamp);
    await waitFor('the events', () => listener.received.length === 2);
    for (const text of listener.received) assert.deepEqual(orderOf(text), { at: null, ms: null });
  });

  it('is undefined in a query, whose fields with @record are properties of their source', async (t) => {
    const { stage } = await createOrders(t);
    const operation = stage.runtime.prepare({ query: '{ order { seen at offset } }' }, undefined);
    assert.ok(!('errors' in operation));
    const { data } = await stage.runtime.execute(operation, undefined, factsOf('a', {}));
    assert.deepEqual(JSON.parse(JSON.stringify(data)), { order: { seen: null, at: 'of the backend', offset: null } });
  });
});
