import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventSources } from '../../../src/graph/schema/event-sources.ts';
import { defineGraph } from '../../../src/library/define-graph.ts';

const TYPES = `
  enum Region { EU US UK }
  type Price { cents: Int! note: String }
  type Order { id: ID! price: Price! lines: [Price!]! tags: [String!] region: Region! total: Float! at: String! }
  interface Node { id: ID! }
  type Row implements Node { id: ID! }`;

function sourceOf(field: string, resolvers = {}) {
  const Order = { at: () => 'now' };
  const graph = defineGraph({ schema: `${TYPES} type Subscription { ${field} }`, resolvers: { Order, ...resolvers } });
  return Object.values(eventSources(graph))[0]!;
}

function recordOf(field: string) {
  const source = sourceOf(field);
  assert.ok('topic' in source && source.record, field);
  return source.record;
}

describe('eventSources', () => {
  it('has a value with what the types require, and without what a resolver has', () => {
    assert.deepEqual(recordOf('a: Order @kafka(topic: "t", payload: "data.order")').value, {
      data: { order: { id: '1', price: { cents: 1 }, lines: [], region: 'EU', total: 1 } },
    });
    assert.deepEqual(recordOf('a: Node @kafka(topic: "t")').value, { __typename: 'Row', id: '1' });
    assert.deepEqual(recordOf('a: Int @kafka(topic: "t", payload: "n")').value, { n: 1 });
  });

  it('has what depends on the subscriber: arguments, claims and filters, in values, keys and headers', () => {
    const { parts } = recordOf(`a(id: ID!, code: Int!, region: Region!, tag: String): Order @kafka(
      topic: "t", payload: "order", where: [{ claim: "tenant", path: "tenant" }, { arg: "tag", path: "order.tags", op: CONTAINS }]
      match: [{ arg: "id", key: true }, { arg: "code", key: "a.code" }, { arg: "region", header: "ce_region" }]
    )`);
    assert.deepEqual(parts, [
      { of: 'key', path: [], compared: { arg: 'id', examples: ['1', '2'] } },
      { of: 'key', path: ['a', 'code'], compared: { arg: 'code', examples: [1, 2] } },
      { of: 'header', path: ['ce_region'], compared: { arg: 'region', examples: ['EU', 'US'] } },
      { of: 'value', path: ['tenant'], compared: { claim: 'tenant' } },
      {
        of: 'value',
        path: ['order', 'tags'],
        compared: { arg: 'tag', examples: ['1', '2'], op: 'CONTAINS', isList: true },
      },
    ]);
  });

  it('wraps rows as Debezium does', () => {
    const { value, parts } = recordOf(
      'a(id: ID!): Row @kafka(topic: "t", envelope: DEBEZIUM, tombstone: NULL, match: [{ arg: "id", path: "id" }])',
    );
    assert.deepEqual(value, { after: { id: '1' }, before: null, op: 'c' });
    assert.deepEqual(parts[0]?.path, ['after', 'id']);
  });

  it('has the topics of an argument that chooses one', () => {
    const { record, ...source } = sourceOf('a(region: Region): Row @kafka(topic: "t-{region}")') as Record<
      string,
      unknown
    >;
    assert.ok(record);
    const topics = { EU: 't-EU', US: 't-US', UK: 't-UK' };
    assert.deepEqual(source, { topic: 't-EU', chosen: { arg: 'region', topics } });
  });

  it('has no record where crier publish cannot write it: not JSON, no object, a header with a space', () => {
    for (const binding of ['format: AVRO', 'envelope: MONGODB, tombstone: NULL'])
      assert.deepEqual(sourceOf(`a: Row @kafka(topic: "t", ${binding})`), { topic: 't' });
    assert.deepEqual(sourceOf('a: Int @kafka(topic: "t")'), { topic: 't' });
    const header = sourceOf('a(id: ID!): Row @kafka(topic: "t", match: [{ arg: "id", header: "the id" }])');
    assert.deepEqual(header, { topic: 't' });
  });

  it('has no record of types that require each other, however many', () => {
    const names = Array.from('ABCDEFGH');
    const types = names.map(
      (name) => `type ${name} { ${names.map((one) => `${one.toLowerCase()}: ${one}!`).join(' ')} }`,
    );
    const graph = defineGraph({ schema: `type Subscription { x: A @kafka(topic: "t") } ${types.join(' ')}` });
    assert.deepEqual(eventSources(graph), { x: { topic: 't' } });
  });

  it('names channels and sources of the graph', () => {
    assert.deepEqual(sourceOf('a(id: ID!): Row @redis(channel: "row.{id}")'), { channel: 'row.{id}' });
    const subscribe = async function* () {};
    assert.deepEqual(sourceOf('a: Row', { Subscription: { a: { subscribe } } }), { resolver: true });
  });
});
