import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLError, GraphQLScalarType } from 'graphql';
import { traceHeaders } from '../../../src/graph/context/publishing.ts';
import type { NewRecord } from '../../../src/graph/context/publishing.ts';
import { attachPublications } from '../../../src/graph/publishing/attach-publications.ts';
import { attachResolvers } from '../../../src/graph/schema/resolvers.ts';
import { buildGraphSchema } from '../../../src/graph/schema/schema.ts';

const TYPES = `
  scalar Day
  enum Currency { EUR USD }
  input Price { amountCents: Int! currency: Currency = EUR }
  input BidInput { auction_id: ID! price: Price! days: [Day!] note: String }
  type Accepted { topic: String! partition: Int offset: ID timestamp: String key: String }
  type Subscription { tick: Int @kafka(topic: "t", payload: "tick") }
`;
const Day = new GraphQLScalarType({
  name: 'Day',
  parseValue: (value) => new Date(String(value)),
  serialize: (value) => (value as Date).toISOString().slice(0, 10),
});

function attach(mutation: string, resolvers: Record<string, unknown> = {}, types = TYPES) {
  const { schema, problems } = buildGraphSchema(`type Mutation {\n${mutation}\n}\n${types}`, 'schema.graphql');
  const attached = attachResolvers(schema, { Day, ...resolvers }, 'resolvers.ts');
  const { publications, problems: found } = attachPublications(schema);
  return { schema, publications, problems: [...problems, ...attached.problems, ...found] };
}

function problemOf(mutation: string, resolvers?: Record<string, unknown>): string {
  const { problems } = attach(mutation, resolvers);
  assert.equal(problems.length, 1, problems.join('\n'));
  return problems[0]!;
}

/** What the resolver of `f` publishes. */
async function published(
  mutation: string,
  args: object,
  claims: object = {},
  resolvers?: Record<string, unknown>,
): Promise<[string, NewRecord]> {
  const { schema, problems } = attach(mutation, resolvers);
  assert.deepEqual(problems, []);
  const { resolve } = schema.getMutationType()!.getFields()['f']!;
  const publish = (topic: string, record: NewRecord) => Promise.resolve([topic, record]);
  return (await resolve!(undefined, args, { connection: { claims }, publish }, {} as never)) as [string, NewRecord];
}

describe('@kafkaPublish', () => {
  const input = {
    auction_id: '7',
    price: { amountCents: 5, currency: 'EUR' },
    days: [new Date(0)],
    note: null,
  };

  it('publishes the fields of the only input object, with keys as they are, and the key of the path', async () => {
    assert.deepEqual(
      await published('f(input: BidInput!): Accepted @kafkaPublish(topic: "bids", key: "input.auction_id")', { input }),
      ['bids', { key: '7', headers: {}, value: { ...input, days: ['1970-01-01'] } }],
    );
  });

  it('renames keys, also of objects in objects', async () => {
    const field = (keys: string) => `f(input: BidInput!): Accepted! @kafkaPublish(topic: "bids", keys: ${keys})`;
    const keysOf = async (keys: string) => JSON.stringify((await published(field(keys), { input }))[1].value);
    assert.match(await keysOf('CAMEL'), /^\{"auctionId":"7","price":\{"amountCents":5,"currency":"EUR"\},"days":/);
    assert.match(await keysOf('SNAKE'), /^\{"auction_id":"7","price":\{"amount_cents":5,"currency":"EUR"\},"days":/);
  });

  it('publishes all arguments if there is more than an input object', async () => {
    const field = 'f(id: ID!, price: Price, day: Day): Accepted @kafkaPublish(topic: "bids", key: "day")';
    assert.deepEqual(await published(field, { id: '7', day: new Date(0) }), [
      'bids',
      { key: '1970-01-01', headers: {}, value: { id: '7', day: '1970-01-01' } },
    ]);
    assert.equal((await published(field, { id: '7' }))[1].key, null);
    const rest = 'f(price: Price, note: String): Accepted @kafkaPublish(topic: "bids")';
    const args = { price: { amountCents: 5 }, note: 'n' };
    assert.deepEqual((await published(rest, args))[1].value, args);
  });

  it('publishes the object of a single argument that is no input object', async () => {
    const valueOf = async (type: string, v: unknown) =>
      (await published(`f(v: ${type}): Accepted @kafkaPublish(topic: "bids")`, { v }))[1].value;
    assert.deepEqual(await valueOf('ID', '7'), { v: '7' });
    assert.deepEqual(await valueOf('[Price!]', [{ amountCents: 5 }]), { v: [{ amountCents: 5 }] });
  });

  it('refuses null for an only input object', async () => {
    const field = 'f(price: Price): Accepted @kafkaPublish(topic: "bids")';
    await assert.rejects(
      published(field, { price: null }),
      ({ message, extensions }: GraphQLError) =>
        message === 'The argument "price" must not be null' && extensions['code'] === 'BAD_USER_INPUT',
    );
  });

  it('publishes a value that serializes as a BigInt as text, which JSON has a place for', async () => {
    const Day = new GraphQLScalarType({ name: 'Day', serialize: (value) => BigInt(value as string) });
    const field = 'f(day: Day): Accepted @kafkaPublish(topic: "bids", key: "day")';
    const [, record] = await published(field, { day: '9007199254740993' }, {}, { Day });
    assert.deepEqual(record, { key: '9007199254740993', headers: {}, value: { day: '9007199254740993' } });
  });

  it('adds claims as headers, and refuses a connection without them', async () => {
    const field = 'f(id: ID): Accepted @kafkaPublish(topic: "bids", claims: ["sub", "org.id"])';
    const [, { headers }] = await published(field, {}, { sub: 'ann', org: { id: 5 } });
    assert.deepEqual(headers, { 'claim-sub': 'ann', 'claim-org.id': '5' });
    for (const claims of [
      {},
      { sub: 'ann' },
      { sub: 'ann', org: { id: {} } },
      { sub: 'x'.repeat(257), org: { id: 1 } },
    ]) {
      await assert.rejects(published(field, {}, claims), (error) => {
        assert.ok(error instanceof GraphQLError);
        return error.extensions['code'] === 'FORBIDDEN';
      });
    }
  });

  it('keeps a claim within its own header, whatever it holds, and takes no header from the input (S-98)', async () => {
    const field = 'f(id: ID, headers: ID): Accepted @kafkaPublish(topic: "bids", claims: ["sub"])';
    const sub = 'ann\r\nclaim-role: admin\0';
    const [, record] = await published(field, { id: '7', headers: 'claim-role' }, { sub, role: 'guest' });
    assert.deepEqual(record.headers, { 'claim-sub': sub });
    assert.deepEqual(record.value, { id: '7', headers: 'claim-role' });
  });

  it('passes a trace context on only if it is one, and nothing beside it (S-98)', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const headersOf = (headers: Record<string, string>) => traceHeaders({ headers });
    assert.deepEqual(headersOf({ traceparent, 'claim-sub': 'root', baggage: 'a=b' }), { traceparent });
    assert.deepEqual(headersOf({ traceparent: `${traceparent}\r\nclaim-sub: root` }), {});
    assert.deepEqual(headersOf({ traceparent: 'x'.repeat(10_000), tracestate: 'a=b' }), {});
  });

  const ok = '(id: ID!): Accepted @kafkaPublish(topic: "bids")';
  for (const [what, mutation, expected] of [
    [
      'a topic of an illegal name',
      'f(id: ID!): Accepted @kafkaPublish(topic: "a b")',
      /topic "a b" is not a Kafka topic/,
    ],
    ['no argument', 'f: Accepted @kafkaPublish(topic: "bids")', /Mutation\.f: has no argument/],
    [
      'a key to nowhere',
      'f(id: ID!): Accepted @kafkaPublish(topic: "b", key: "ids")',
      /the field has no argument "ids"; did you mean "id"/,
    ],
    ['a key to no field', 'f(p: Price!): Accepted @kafkaPublish(topic: "b", key: "p.x")', /Price has no field "x"/],
    ['a key to an object', 'f(p: Price!): Accepted @kafkaPublish(topic: "b", key: "p")', /key "p" ends at Price/],
    ['a key to a list', 'f(p: [ID]): Accepted @kafkaPublish(topic: "b", key: "p")', /key "p" ends at \[ID\]/],
    [
      'two fields of one key',
      'f(aB: ID, a_b: ID): Accepted @kafkaPublish(topic: "b", keys: CAMEL)',
      /"aB" and "a_b" become one key, "aB"/,
    ],
    [
      'two fields of one key in an object below an object of a list, after an object without',
      'f(price: Price, trees: [Tree!]!): Accepted @kafkaPublish(topic: "b", keys: CAMEL)',
      /"aB" and "a_b" become one key, "aB"/,
    ],
    ['a scalar as result', 'f(id: ID!): Boolean @kafkaPublish(topic: "b")', /returns Boolean; return an object type/],
    [
      'a result that it cannot fill',
      'f(id: ID!): Bad @kafkaPublish(topic: "b")',
      /whose field "ofset" crier cannot fill; did you mean "offset"\?/,
    ],
    [
      'an offset of Int',
      'f(id: ID!): Small @kafkaPublish(topic: "b")',
      /field "offset" is of type Int; use String or ID/,
    ],
    [
      'claims that are no names',
      'f(id: ID!): Accepted @kafkaPublish(topic: "b", claims: ["a..b"])',
      /claims must be a list/,
    ],
  ] as const) {
    it(`refuses ${what}, with its line`, () => {
      const types = `${TYPES} type Bad { ofset: ID } type Small { offset: Int }
        input Tree { children: [Tree!] twins: Twins } input Twins { aB: ID a_b: ID }`;
      const { problems } = attach(mutation, {}, types);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0]!, /^schema\.graphql:2: Mutation\.f: /);
      assert.match(problems[0]!, expected);
    });
  }

  it('accepts input objects that contain themselves', () => {
    const types = `${TYPES} input Tree { id: ID children: [Tree!] next: Tree }`;
    const { problems } = attach('f(tree: Tree!): Accepted @kafkaPublish(topic: "b", keys: CAMEL)', {}, types);
    assert.deepEqual(problems, []);
  });

  it('refuses a resolver beside it, but not authorize, and not a resolver of the result', () => {
    assert.match(problemOf(`f${ok}`, { Mutation: { f: () => null } }), /both @kafkaPublish and a resolver; keep one/);
    assert.deepEqual(attach(`f${ok}`, { Mutation: { f: { authorize: () => true } } }).problems, []);
    const types = `${TYPES} type Rich { offset: ID bid: String }`;
    const rich = attach('f(id: ID!): Rich @kafkaPublish(topic: "b")', { Rich: { bid: () => 'x' } }, types);
    assert.deepEqual(rich.problems, []);
  });

  it('refuses a field of another type', () => {
    const { problems } = attach(`f${ok}`, {}, `${TYPES} type Query { g${ok} }`);
    assert.match(problems.join('\n'), /Query\.g: @kafkaPublish is for fields of the Mutation type/);
  });
});
