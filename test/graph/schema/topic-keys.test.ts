import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { keyPlaces } from '../../../src/graph/schema/key-places.ts';
import { attachResolvers } from '../../../src/graph/schema/resolvers.ts';
import { buildGraphSchema } from '../../../src/graph/schema/schema.ts';

const TYPES = `
  scalar JSON
  type Order { id: ID! labels: JSON parent: Order lines: [Line!] }
  type Line { line_no: Int note: JSON }
  type Address { line1: String street: String }
`;

function parse(fields: string, types = '', resolvers: Record<string, unknown> = {}) {
  const { schema, problems } = buildGraphSchema(
    `type Subscription {\n${fields}\n}\n${TYPES}${types}`,
    'schema.graphql',
  );
  const attached = attachResolvers(schema, resolvers, 'resolvers.ts');
  const parsed = parseBindings(schema, attached.customSources);
  return { ...parsed, problems: [...problems, ...attached.problems, ...parsed.problems] };
}

function problemOf(fields: string, types = ''): string {
  const { problems } = parse(fields, types);
  assert.equal(problems.length, 1, problems.join('\n'));
  return problems[0]!;
}

describe('keys of a topic', () => {
  it('reads keys, with the default of the schema, an extension or not', () => {
    const keysOf = (types: string) =>
      [...parse('a: Order @kafka(topic: "t")\nb: Order @kafka(topic: "u", keys: SNAKE)', types).bindings.values()].map(
        ({ keys }) => keys,
      );
    assert.deepEqual(keysOf(''), ['SNAKE', 'SNAKE']);
    assert.deepEqual(keysOf('extend schema @crier(keys: KEEP)'), ['KEEP', 'SNAKE']);
    assert.deepEqual(keysOf('schema @crier(keys: KEEP) { subscription: Subscription }'), ['KEEP', 'SNAKE']);
    assert.deepEqual(keysOf('extend schema @crier'), ['SNAKE', 'SNAKE']);
  });

  it('refuses fields of one topic that disagree, and keys of other names', () => {
    assert.match(
      problemOf('a: Order @kafka(topic: "t")\nb: Order @kafka(topic: "t", keys: KEEP)'),
      /^schema\.graphql:3: Subscription\.b: reads topic "t" with keys: KEEP, and a with keys: SNAKE; give all fields/,
    );
    const problems = parse('a: Order @kafka(topic: "t", keys: "KEEP")', 'extend schema @crier(keys: CAMEL)').problems;
    assert.match(problems.join('\n'), /Subscription\.a: keys must be SNAKE or KEEP, without quotes/);
    assert.match(problems.join('\n'), /@crier: keys must be SNAKE or KEEP/);
  });

  it('refuses a field that no key can become, once, with its line and the fixes', () => {
    assert.equal(
      problemOf('a: Address @kafka(topic: "t")\nb: Address @kafka(topic: "u", payload: "address")'),
      'schema.graphql:9: Address.line1: would always be null, because crier converts the keys of records to snake_case; ' +
        'rename it to "line_1", or keep the keys as they are: write @kafka(topic: "u", …, keys: KEEP) at each field of that topic; ' +
        'or give the field a resolver',
    );
    for (const [name, fix] of [
      ['sha256', 'rename it to "sha_256"'],
      ['totalCents', 'rename it to "total_cents"'],
      ['_id', 'remove it, as there is "id"'],
      ['HTTP', 'rename it to "http"'],
    ]) {
      const problem = problemOf(
        'a: [Doc!] @kafka(topic: "t")',
        `type Doc { id: ID below: Below } type Below { id: ID ${name}: ID }`,
      );
      assert.ok(problem.includes(`Below.${name}: would always be null`) && problem.includes(fix!), problem);
    }
  });

  it('finds such a field behind unions, interfaces and types that contain themselves', () => {
    const union =
      'union Any = Address | Node interface Thing { next: Thing } type Node implements Thing { next: Thing any: Any }';
    assert.match(problemOf('a: Thing @kafka(topic: "t")', union), /Address\.line1/);
  });

  it('accepts such a field with a resolver, below one, with KEEP, and where payloads do not reach', () => {
    const address = '{ line1: () => "x" }';
    assert.deepEqual(parse('a: Address @kafka(topic: "t")', '', { Address: { line1: () => address } }).problems, []);
    assert.deepEqual(parse('a: Address @kafka(topic: "t")', '', { Subscription: { a: () => address } }).problems, []);
    const below = { Person: { home: () => address } };
    assert.deepEqual(parse('a: Person @kafka(topic: "t")', 'type Person { home: Address }', below).problems, []);
    assert.deepEqual(parse('a: Address @kafka(topic: "t", keys: KEEP)').problems, []);
    assert.deepEqual(parse('a: Order @kafka(topic: "t")', 'type Query { home: Address }').problems, []);
  });

  it('accepts any path with KEEP, and below a custom scalar', () => {
    const { problems } = parse(`
      a(id: ID!): ID @kafka(topic: "t", keys: KEEP, match: [{ arg: "id", path: "order.orderId" }], payload: "theOrder.orderId")
      b(id: ID!): Order @kafka(topic: "u", match: [{ arg: "id", path: "order.labels.shopId" }], payload: "order")
      c(id: ID!): JSON @kafka(topic: "v", match: [{ arg: "id", path: "orderId" }])
    `);
    assert.deepEqual(problems, []);
  });

  it('refuses a place that is an object to one field and a custom scalar to another', () => {
    const types = 'type Other { labels: Labels } type Labels { id: ID }';
    assert.match(
      problemOf('a: Order @kafka(topic: "t")\nb: Other @kafka(topic: "t")', types),
      /^schema\.graphql:2: Subscription\.a: fields of topic "t" read "labels" as an object, and also as a custom scalar, .*same type/,
    );
    assert.match(
      problemOf('a: JSON @kafka(topic: "t")\nb: Labels @kafka(topic: "t", payload: "order.labels")', types),
      /read "order\.labels" as an object, and the whole payload as a custom scalar/,
    );
    const kept = 'a: Order @kafka(topic: "t", keys: KEEP)\nb: Other @kafka(topic: "t", keys: KEEP)';
    assert.deepEqual(parse(kept, types).problems, []);
  });
});

describe('keyPlaces', () => {
  const placesOf = (fields: string) => {
    const { bindings, shapes, problems } = parse(fields);
    assert.deepEqual(problems, []);
    return keyPlaces(bindings.values(), shapes);
  };

  it('has no place for a topic whose objects are all renamed', () => {
    assert.equal(placesOf('a: ID @kafka(topic: "t", payload: "order.id")').size, 0);
  });

  it('leads to the custom scalars only, also of types that contain themselves', () => {
    const place = placesOf('a: Order @kafka(topic: "t", payload: "order")').get('t')!;
    assert.deepEqual([...place.below.keys()], ['order']);
    const order = place.below.get('order')!;
    assert.deepEqual([...order.below.keys()].sort(), ['labels', 'lines', 'parent']);
    assert.equal(order.below.get('parent'), order);
    assert.equal(order.below.get('labels')!.keepsKeys, true);
    assert.deepEqual([...order.below.get('lines')!.below.keys()], ['note']);
  });

  it('keeps all keys with KEEP, and of payloads that are a custom scalar', () => {
    assert.equal(placesOf('a: Order @kafka(topic: "t", keys: KEEP)').get('t')?.keepsKeys, true);
    assert.equal(placesOf('a: JSON @kafka(topic: "t")').get('t')?.keepsKeys, true);
  });
});
