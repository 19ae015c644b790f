import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { OMITTED_PARTS, printParts } from '../../../src/bus/carried-parts.ts';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { waitFor } from '../../support/wait-for.ts';
import { EXECUTION_PATHS } from './execution-paths.ts';
import { createStage, factsOf } from './stage.ts';
import type { StageOptions } from './stage.ts';

const SDL = `
  type Subscription { order: Order @kafka(topic: "t", history: {}, record: { headers: ["tenant"] }) }
  type Order { id: ID seen: String undeclared: String other: String
    key: ID @record(field: KEY) origin: String @record(field: HEADER, name: "origin") }`;
const QUERY = 'subscription { order { id seen key origin } }';
const PARTS = printParts({ key: 'k7', headers: { tenant: 'acme', origin: null } });

const resolvers = {
  Order: {
    seen: (_: unknown, __: unknown, { record }: ExecutionContext) =>
      `${record!.key} ${record!.headers['tenant']} ${JSON.stringify(record!.headers)}`,
    undeclared: (_: unknown, __: unknown, { record }: ExecutionContext) => record!.headers['traceparent'],
  },
};

async function createOrders(t: TestContext, options: Partial<StageOptions> = {}) {
  const stage = await createStage(t, { sdl: SDL, resolvers, ...options });
  await stage.bus.acquire({ topic: 't', partition: 3, position: -1 });
  const publish = (offset: number, record: string | undefined = PARTS) => {
    const history = { entries: 10, bytes: 100_000, seconds: 60 };
    const message = { channel: 't{}', payload: `{"id":${offset}}`, offset, timestamp: 1, history, record };
    return stage.bus.publish([message], { topic: 't', partition: 3, offset });
  };
  return { stage, publish };
}

interface Result {
  readonly data: { readonly order: Readonly<Record<string, unknown>> | null } | null;
  readonly errors?: readonly { readonly path: unknown }[];
}
const resultOf = (text: string | undefined) => JSON.parse(text!) as Result;

const expected = (offset: number) => ({
  id: `${offset}`,
  seen: 'k7 acme {"tenant":"acme","origin":null}',
  key: 'k7',
  origin: null,
});

describe('the key and headers of a record', () => {
  for (const [title, options] of EXECUTION_PATHS) {
    it(`are in resolvers and in fields with @record, ${title}`, async (t) => {
      const { stage, publish } = await createOrders(t, options);
      const listener = await stage.join(QUERY, factsOf('a', {}));
      for (let offset = 0; offset < 4; offset++) {
        await publish(offset);
        await waitFor('the event', () => listener.received.length === offset + 1);
        assert.deepEqual(resultOf(listener.received.at(-1)).data?.order, expected(offset));
      }
    });
  }

  it('are shared by all connections, and repeated by the audit with the same result', async (t) => {
    const { stage, publish } = await createOrders(t, { hasSharing: true, audit: 1 });
    const listeners = await Promise.all(['a', 'b', 'c'].map((id) => stage.join(QUERY, factsOf(id, { sub: id }))));
    await publish(7);
    await waitFor('all results', () => listeners.every(({ received }) => received.length === 1));
    assert.equal(stage.executions, 1);
    for (const { received } of listeners) assert.deepEqual(resultOf(received[0]).data?.order, expected(7));
    await waitFor('the audit', () => stage.outcomes.length === 2);
    assert.deepEqual(stage.outcomes, ['same', 'same']);
  });

  it('are those of each replayed event', async (t) => {
    const { stage, publish } = await createOrders(t, { cursors: new Cursors('secret') });
    const first = await stage.join(QUERY, factsOf('a', {}));
    for (const offset of [0, 1, 2]) await publish(offset);
    await waitFor('all events', () => first.received.length === 3);
    const { extensions } = JSON.parse(first.received[0]!) as { extensions: { cursor: string } };
    const back = await stage.join(QUERY, factsOf('b', {}), undefined, { ...extensions, replaysLast: false });
    await waitFor('the missed events', () => back.received.length === 2);
    assert.deepEqual(
      back.received.map((text) => resultOf(text).data?.order),
      [expected(1), expected(2)],
    );
  });

  it('refuses a header that the graph does not declare, and says how to declare it', async (t) => {
    const failures: unknown[] = [];
    const undeclared = (_: unknown, __: unknown, { record }: ExecutionContext) => {
      try {
        return record!.headers['traceparent'];
      } catch (error) {
        failures.push(error);
        throw error;
      }
    };
    const { stage, publish } = await createOrders(t, { resolvers: { Order: { ...resolvers.Order, undeclared } } });
    const listener = await stage.join('subscription { order { id undeclared } }', factsOf('a', {}));
    await publish(0);
    await waitFor('the event', () => listener.received.length === 1);
    assert.deepEqual(resultOf(listener.received[0]).data?.order, { id: '0', undeclared: null });
    assert.match(
      String(failures[0]),
      /context\.record\.headers\["traceparent"\] did not travel; declare it with record: { headers: \["traceparent"\] } in a @kafka of the topic t$/,
    );
  });

  it('refuses a key that the graph does not declare', async (t) => {
    const failures: unknown[] = [];
    const id = (_: unknown, __: unknown, { record }: ExecutionContext) => {
      try {
        return record!.key;
      } catch (error) {
        failures.push(error);
        return 'refused';
      }
    };
    const sdl = 'type Subscription { order: Order @kafka(topic: "t", history: {}) } type Order { id: ID }';
    const { stage, publish } = await createOrders(t, { sdl, resolvers: { Order: { id } } });
    const listener = await stage.join('subscription { order { id } }', factsOf('a', {}));
    await publish(0);
    await waitFor('the event', () => listener.received.length === 1);
    assert.deepEqual(resultOf(listener.received[0]).data?.order, { id: 'refused' });
    assert.match(String(failures[0]), /context\.record\.key did not travel; declare it with record: { key: true }/);
  });

  const missing: [title: string, record: string, reason: RegExp][] = [
    ['were too large', OMITTED_PARTS, /t\/3@0 did not travel: they exceed 3,000 bytes/],
    [
      'were too large beside what tells keys apart',
      printParts({ headers: {}, id: 'k', isOmitted: true }),
      /t\/3@0 did not travel: they exceed 3,000 bytes/,
    ],
    ['were not declared when it was published', printParts({ headers: {} }), /published before the graph declared/],
    ['are malformed', 'x', /published before the graph declared/],
  ];
  for (const [title, record, reason] of missing) {
    it(`delivers an event whose parts ${title}, with an error for fields that read them`, async (t) => {
      const failures: unknown[] = [];
      const seen = (_: unknown, __: unknown, context: ExecutionContext) => {
        const { headers } = context.record!;
        return headers['tenant'];
      };
      const caught = (...args: Parameters<typeof seen>) => {
        try {
          return seen(...args);
        } catch (error) {
          failures.push(error);
          throw error;
        }
      };
      const { stage, publish } = await createOrders(t, { resolvers: { Order: { seen: caught } } });
      const listener = await stage.join(QUERY, factsOf('a', {}));
      await publish(0, record);
      await waitFor('the event', () => listener.received.length === 1);
      const { data, errors } = resultOf(listener.received[0]);
      assert.deepEqual(data?.order, { id: '0', seen: null, key: null, origin: null });
      assert.deepEqual(errors?.map(({ path }) => path).sort(), [
        ['order', 'key'],
        ['order', 'origin'],
        ['order', 'seen'],
      ]);
      assert.match(String(failures[0]), reason);
    });
  }

  it('cannot be changed by a resolver for others', async (t) => {
    const failures: unknown[] = [];
    const seen = (_: unknown, __: unknown, { record }: ExecutionContext) => {
      for (const change of [{ key: 'mine' }, { headers: {} }]) {
        try {
          Object.assign(record!, change);
        } catch (error) {
          failures.push(error);
        }
      }
      try {
        Object.assign(record!.headers, { tenant: 'mine' });
      } catch (error) {
        failures.push(error);
      }
      return resolvers.Order.seen(_, __, { record } as ExecutionContext);
    };
    const { stage, publish } = await createOrders(t, { resolvers: { Order: { seen } } });
    const listener = await stage.join(QUERY, factsOf('a', {}));
    await publish(1);
    await waitFor('the event', () => listener.received.length === 1);
    assert.deepEqual(resultOf(listener.received[0]).data?.order, expected(1));
    assert.ok(failures.every((failure) => failure instanceof TypeError) && failures.length >= 3);
  });
});
