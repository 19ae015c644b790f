import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { printParts } from '../../../src/bus/carried-parts.ts';
import { BusUnavailableError } from '../../../src/base/errors.ts';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { buildGraphSchema } from '../../../src/graph/schema/schema.ts';
import { attachStateFields } from '../../../src/graph/state/state-fields.ts';
import { createStage, factsOf } from '../../gateway/fanout/stage.ts';
import type { StageOptions } from '../../gateway/fanout/stage.ts';

const FOREVER = { entries: 0, bytes: 0, seconds: 0, stateSeconds: 0 };
const KAFKA = '@kafka(topic: "t", match: [{ arg: "id", path: "order.id" }], payload: "order", state: {})';
const TYPES = `
  type Order { id: ID n: Int tenant: String }
  type Subscription {
    order(id: ID!): Order ${KAFKA}
    secret(id: ID!): Order @requiresScopes(scopes: [["orders"]]) ${KAFKA}
    mine: Order @kafka(topic: "t", where: [{ claim: "tenant", path: "order.tenant" }], payload: "order", state: {})
    plain(id: ID!): Order @kafka(topic: "t", match: [{ arg: "id", path: "order.id" }], payload: "order")
    both(id: ID!): Order @kafka(topics: ["t", "u"], match: [{ arg: "id", path: "order.id" }], payload: "order", state: {})
  }`;
const QUERIES = `type Query {
  order(id: ID!): Order @state(of: "order")
  secret(id: ID!): Order @state(of: "secret")
  mine: Order @state(of: "mine")
}`;

async function reading(t: TestContext, options: Partial<StageOptions> = {}) {
  const stage = await createStage(t, { sdl: `${QUERIES}${TYPES}`, ...options });
  const { bus, runtime } = stage;
  await bus.acquire({ topic: 't', partition: 0, position: -1 });
  let offset = 0;
  const publish = (channel: string, payload: unknown, record?: string) => {
    const message = { channel, payload: JSON.stringify(payload), offset, timestamp: 0, history: FOREVER, record };
    return bus.publish([message], { topic: 't', partition: 0, offset: offset++ });
  };
  const read = async (query: string, claims: object = {}) => {
    const operation = runtime.prepare({ query }, undefined);
    assert.ok(!('errors' in operation), JSON.stringify(operation));
    return JSON.parse(JSON.stringify(await runtime.execute(operation, undefined, factsOf('a', claims)))) as {
      data?: unknown;
      errors?: { message: string; extensions: { code: string } }[];
      extensions?: unknown;
    };
  };
  return { bus, publish, read };
}

describe('a query of a state', () => {
  it('is the last payload of the channel that its arguments choose; null where there is none, and after a tombstone', async (t) => {
    const { publish, read } = await reading(t);
    await publish('t{order.id="1"}', { order: { id: 1, n: 1 } });
    await publish('t{order.id="1"}', { order: { id: 1, n: 2 } });
    const query = '{ one: order(id: 1) { n } other: order(id: 2) { n } }';
    assert.deepEqual(await read(query), { data: { one: { n: 2 }, other: null } });
    await publish('t{order.id="1"}', null);
    assert.deepEqual(await read(query), { data: { one: null, other: null } });
  });

  it('has the record of the state in fields with @record, of each state its own', async (t) => {
    const sdl = `
      type Query { order(id: ID!): Order @state(of: "order") }
      type Subscription { order(id: ID!): Order ${KAFKA} }
      type Order { id: ID offset: ID @record(field: OFFSET) key: ID @record(field: KEY) items: [Item!] }
      type Item { tenant: String @record(field: HEADER, name: "tenant") }`;
    const { publish, read } = await reading(t, { sdl });
    for (const id of ['1', '2']) {
      const record = printParts({ key: `k${id}`, headers: { tenant: `t${id}` } });
      await publish(`t{order.id="${id}"}`, { order: { id, items: [{}] } }, record);
    }
    const query = '{ one: order(id: 1) { ...all } two: order(id: 2) { ...all } }';
    const rows = [1, 2].map((n) => ({ offset: `${n - 1}`, key: `k${n}`, items: [{ tenant: `t${n}` }] }));
    for (let use = 0; use < 4; use++) {
      assert.deepEqual(await read(`${query} fragment all on Order { offset key items { tenant } }`), {
        data: { one: rows[0], two: rows[1] },
      });
    }
  });

  it('is refused to whoever may not subscribe to the field', async (t) => {
    const asked: unknown[] = [];
    const authorize = (args: unknown, { connection }: { connection: { claims: { sub?: string } } }) => {
      asked.push(args);
      return connection.claims.sub === 'ann';
    };
    const { publish, read } = await reading(t, { resolvers: { Subscription: { order: { authorize } } } });
    await publish('t{order.id="1"}', { order: { id: 1, n: 1 } });
    const codes = async (query: string, claims: object) =>
      (await read(query, claims)).errors?.map(({ extensions }) => extensions.code);
    assert.deepEqual(await codes('{ secret(id: 1) { n } }', { sub: 'ann' }), ['FORBIDDEN']);
    assert.equal(await codes('{ secret(id: 1) { n } }', { scope: 'orders' }), undefined);
    assert.deepEqual(await codes('{ order(id: 1) { n } }', { sub: 'bob' }), ['FORBIDDEN']);
    assert.deepEqual(await read('{ order(id: 1) { n } }', { sub: 'ann' }), { data: { order: { n: 1 } } });
    assert.deepEqual(asked, [{ id: '1' }, { id: '1' }]);
  });

  it('refuses arguments that name a channel longer than MAX_CHANNEL_BYTES, as a subscription does', async (t) => {
    const { read } = await reading(t, {
      limits: { maxVariableBytes: 100, maxVariableDepth: 5, maxVariableValues: 5, maxChannels: 5, maxChannelBytes: 20 },
    });
    const { errors } = await read('{ order(id: "a long id of an order") { n } }');
    assert.equal(errors?.[0]?.extensions.code, 'BAD_USER_INPUT');
    assert.match(errors[0].message, /a channel's name may have 20 bytes \(a sixteenth of MAX_MESSAGE_BYTES\)$/);
    assert.deepEqual(await read('{ order(id: 1) { n } }'), { data: { order: null } });
  });

  it('reads the channel of the caller’s claims only', async (t) => {
    const { publish, read } = await reading(t);
    await publish('t{order.tenant="a"}', { order: { n: 1 } });
    assert.deepEqual(await read('{ mine { n } }', { tenant: 'a' }), { data: { mine: { n: 1 } } });
    assert.deepEqual(await read('{ mine { n } }', { tenant: 'b' }), { data: { mine: null } });
    assert.equal((await read('{ mine { n } }')).errors?.[0]?.extensions.code, 'FORBIDDEN');
  });

  it('says if the states are not complete, and if they cannot be read', async (t) => {
    const { bus, read } = await reading(t, { isStateComplete: () => false });
    assert.deepEqual(await read('{ order(id: 1) { n } }'), {
      data: { order: null },
      extensions: { stateComplete: false },
    });
    bus.history = () => Promise.reject(new BusUnavailableError('away'));
    assert.equal((await read('{ order(id: 1) { n } }')).errors?.[0]?.extensions.code, 'BUS_UNAVAILABLE');
  });
});

describe('@state', () => {
  const MISTAKES: [what: string, query: string, problem: RegExp][] = [
    ['an unknown field', 'x(id: ID!): Order @state(of: "orders")', /no Subscription field of this name.*"order"/],
    [
      'a field without a state',
      'x(id: ID!): Order @state(of: "plain")',
      /keeps no state; add state: \{\} to its @kafka/,
    ],
    ['a field of several topics', 'x(id: ID!): Order @state(of: "both")', /has several topics/],
    ['a non-null type', 'x(id: ID!): Order! @state(of: "order")', /there may be no state; make it Order/],
    [
      'another type',
      'x(id: ID!): Int @state(of: "order")',
      /is of type Int, but the state of "order" is of type Order/,
    ],
    ['a missing argument', 'x: Order @state(of: "order")', /lacks the argument id: ID!/],
    [
      'a nullable argument',
      'x(id: ID): Order @state(of: "order")',
      /argument id: ID, which "order" requires; make it ID!/,
    ],
    ['an argument of another type', 'x(id: Int!): Order @state(of: "order")', /id: Int!, which "order" has as ID!/],
    ['a list', 'x(id: [ID!]!): Order @state(of: "order")', /has the list argument "id".*take one value/],
    ['an argument that chooses nothing', 'x(id: ID!, n: Int): Order @state(of: "order")', /argument "n".*remove it/],
  ];
  for (const [what, query, problem] of MISTAKES) {
    it(`stops the start with ${what}`, () => {
      const { schema, problems } = buildGraphSchema(`type Query { ${query} }${TYPES}`, 'schema.graphql');
      assert.deepEqual(problems, []);
      const { bindings, problems: others } = parseBindings(schema, new Set());
      assert.deepEqual(others, []);
      const found = attachStateFields(schema, bindings).problems;
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0]!, problem);
      assert.match(found[0]!, /^schema\.graphql:1: Query\.x: /);
    });
  }

  it('stops the start outside of the Query type', () => {
    const { schema } = buildGraphSchema(
      `type Thing { x(id: ID!): Order @state(of: "order") }${TYPES}`,
      'schema.graphql',
    );
    const { bindings } = parseBindings(schema, new Set());
    assert.match(attachStateFields(schema, bindings).problems[0]!, /Thing\.x: @state is for fields of the Query type/);
  });
});
