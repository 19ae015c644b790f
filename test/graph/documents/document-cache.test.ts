import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { buildSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import { DocumentCache } from '../../../src/graph/documents/document-cache.ts';
import type { CachedDocument } from '../../../src/graph/documents/cached-document.ts';
import type { DocumentCacheOptions } from '../../../src/graph/documents/document-cache.ts';

const schema = buildSchema(`
  type Query { user: User a: A }
  type A { a: A b: Int c(x: String): Int }
  type User { name: String friends: [User] }
  type Subscription { a: A b: Int }
`);

function cacheWith(options: Partial<DocumentCacheOptions> = {}): DocumentCache {
  return new DocumentCache(schema, {
    maxLength: 15_000,
    maxTokens: 1_000,
    maxDepth: 8,
    maxAliases: 15,
    maxDirectives: 50,
    hasIntrospection: true,
    maxEntries: 100,
    maxBytes: 64 * 1024 * 1024,
    maxInvalidEntries: 10,
    ...options,
  });
}

function valid(cache: DocumentCache, query: string): CachedDocument {
  const result = cache.get(query);
  assert.ok('document' in result, JSON.stringify(result));
  return result;
}

function refusal(query: string, options: Partial<DocumentCacheOptions> = {}): string {
  const result = cacheWith(options).get(query);
  assert.ok('errors' in result && result.errors.length > 0, `accepted: ${String(query).slice(0, 80)}`);
  for (const { extensions } of result.errors) {
    assert.match(String(extensions?.['code']), /^GRAPHQL_(PARSE|VALIDATION)_FAILED$/);
  }
  return result.errors.map(({ message }) => message).join('\n');
}

describe('DocumentCache', () => {
  it('parses a text once, without locations, under the SHA-256 of it', () => {
    const outcomes: string[] = [];
    const cache = cacheWith({ onLookup: (outcome) => outcomes.push(outcome) });
    const query = '{ user { name } }';
    const document = valid(cache, query);
    assert.equal(document.key, createHash('sha256').update(query).digest('hex'));
    assert.equal(document.document.loc, undefined);
    assert.equal(cache.get(query), document);
    assert.notEqual(cache.get(`${query} `), document);
    assert.deepEqual(outcomes, ['miss', 'hit', 'miss']);
    assert.equal(cache.size, 2);
    assert.ok(cache.bytes > 0);
  });

  it('caches invalid documents apart from valid ones, with line and column', () => {
    const cache = cacheWith({ maxInvalidEntries: 5 });
    const document = valid(cache, '{ user { name } }');
    const result = cache.get('{\n  user { nam }\n}');
    assert.ok('errors' in result);
    assert.deepEqual(result.errors, [
      {
        message: 'Cannot query field "nam" on type "User". Did you mean "name"?',
        locations: [{ line: 2, column: 10 }],
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ]);
    assert.equal(cache.get('{\n  user { nam }\n}'), result);
    for (let i = 0; i < 1000; i++) cache.get(`{ garbage${i} }`);
    assert.equal(cache.invalidSize, 5);
    assert.equal(cache.get('{ user { name } }'), document);
  });

  it('keeps no document without entries', () => {
    const outcomes: string[] = [];
    const cache = cacheWith({ maxEntries: 0, maxInvalidEntries: 0, onLookup: (outcome) => outcomes.push(outcome) });
    const [valid, invalid] = ['{ user { name } }', '{ user { nam } }'];
    for (const query of [valid, invalid]) {
      const results = [cache.get(query), cache.get(query)];
      assert.notEqual(results[0], results[1]);
      assert.deepEqual(results[0], results[1]);
      assert.equal(cache.find(query), undefined);
    }
    assert.deepEqual([cache.size, cache.bytes, cache.invalidSize], [0, 0, 0]);
    assert.deepEqual(outcomes, ['miss', 'miss', 'invalid', 'invalid']);
  });

  it('keeps the location of each node with hasLocations', () => {
    const query = '{ user { name @include(if: true) } a { c(x: "1") } }';
    const [plain, located] = [false, true].map((hasLocations) => valid(cacheWith({ hasLocations }), query));
    assert.deepEqual(located!.document, parse(query));
    assert.deepEqual(plain!.document, parse(query, { noLocation: true }));
    assert.ok(located!.bytes > plain!.bytes);
  });

  it('weighs the locations of a document at no less than their heap', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const text = `query Q { user { ${'name friends { name } '.repeat(100)} } }`;
    const [plain, located] = [false, true].map((hasLocations) => {
      const cache = cacheWith({ hasLocations, maxEntries: 0 });
      const documents: CachedDocument[] = [];
      const heapWith = (count: number) => {
        for (let i = 0; i < count; i++) documents.push(valid(cache, text.replace('Q', `Query_${documents.length}`)));
        collect();
        return process.memoryUsage().heapUsed;
      };
      const before = heapWith(20);
      return { heap: (heapWith(100) - before) / 100, weight: documents[0]!.bytes };
    });
    const [heap, weight] = [located!.heap - plain!.heap, located!.weight - plain!.weight];
    assert.ok(heap < weight && weight < 2 * heap, `${heap} bytes of heap, weighed ${weight}`);
  });

  it('refuses an operation whose root type the schema does not have, with its line and column', () => {
    const result = cacheWith().get('query A { a { b } }\nmutation B { a { b } }');
    assert.ok('errors' in result);
    assert.deepEqual(result.errors, [
      {
        message: 'The schema has no mutation type, so it cannot execute a mutation.',
        locations: [{ line: 2, column: 1 }],
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ]);
  });

  it('names the line of the operation or fragment that exceeds a limit', () => {
    const locationOf = (query: string) => {
      const result = cacheWith().get(query);
      assert.ok('errors' in result);
      return result.errors.map(({ locations }) => locations);
    };
    const deep = `${'a { '.repeat(8)} b ${'} '.repeat(8)}`;
    assert.deepEqual(locationOf(`query A { a { b } }\n  query B { ${deep} }`), [[{ line: 2, column: 3 }]]);
    assert.deepEqual(locationOf(`{ a { b } }\nfragment F on A { ${deep} }`), [[{ line: 2, column: 1 }]]);
    const conditional = 'query A { a { b } }\nsubscription B($x: Boolean!) { b @skip(if: $x) }';
    assert.deepEqual(locationOf(conditional), [[{ line: 2, column: 1 }]]);
  });

  it('returns a syntax error with its line and column', () => {
    const result = cacheWith().get('{\n user {');
    assert.ok('errors' in result);
    assert.equal(result.errors[0]?.extensions?.['code'], 'GRAPHQL_PARSE_FAILED');
    assert.deepEqual(result.errors[0]?.locations, [{ line: 2, column: 8 }]);
  });

  it('keeps its bounds through 10,000 distinct documents (S-53)', () => {
    const cache = cacheWith({ maxEntries: 50 });
    for (let i = 0; i < 10_000; i++) valid(cache, i % 2 ? `{ user { name } } # ${i}` : `{ alias${i}: user { name } }`);
    assert.equal(cache.size, 50);
    const small = cacheWith({ maxBytes: 10_000 });
    for (let i = 0; i < 100; i++) valid(small, `{ alias${i}: user { name } }`);
    assert.ok(small.size < 10 && small.bytes <= 10_000);
  });

  it('refuses a text that is too long without parsing it, and caches nothing of it', () => {
    const cache = cacheWith({ maxLength: 100 });
    const result = cache.get(`{ user { name } } # ${'x'.repeat(100)}`);
    assert.ok('errors' in result);
    assert.match(result.errors[0]!.message, /longer than 100 characters/);
    assert.equal(cache.size + cache.invalidSize, 0);
  });

  it('refuses a text whose hash would be that of another', () => {
    assert.match(refusal('{ a { c(x: "\ud800") } }'), /not well-formed Unicode/);
  });

  it('refuses a document that is not text', () => {
    const document = { kind: 'Document', definitions: [] } as unknown as string;
    assert.match(refusal(document), /must be text/);
  });

  it('weighs a long document by its length, so that few of them fill the cache', () => {
    const cache = cacheWith({ maxBytes: 2_000_000 });
    for (let i = 0; i < 20; i++) valid(cache, `{ user { name } } # ${i} ${'x'.repeat(10_000)}`);
    assert.equal(cache.size, 3, 'a document of 10,000 characters weighs at least 640 KB');
    assert.ok(cache.bytes > 1_500_000 && cache.bytes <= 2_000_000, String(cache.bytes));
  });

  it('weighs a document of short names by its nodes, and by their locations', () => {
    for (const hasLocations of [false, true]) {
      const cache = cacheWith({ hasLocations });
      const { bytes } = valid(cache, `{ a { ${'b '.repeat(900)} } }`);
      assert.ok(bytes > (hasLocations ? 600_000 : 400_000), String(bytes));
      assert.ok(cache.bytes > bytes, `${cache.bytes} bytes in the cache for ${bytes}`);
    }
  });

  const attacks: Record<string, [query: string, expected: RegExp]> = {
    'nesting for the parser (S-38)': ['{a'.repeat(7_000), /more tha[nt] 1000 tokens/],
    '__typename repeated (S-39)': [`{ ${'__typename '.repeat(1_300)} }`, /more tha[nt] 1000 tokens/],
    'duplicate fields (S-39)': [`{ ${'user{name} '.repeat(1_000)} }`, /more tha[nt] 1000 tokens/],
    'aliases of __typename (S-40)': [
      `{ ${Array.from({ length: 16 }, (_, i) => `t${i}: __typename`).join(' ')} }`,
      /more than 15 aliases/,
    ],
    '10,000 aliases of __typename (S-40)': [
      `{ ${Array.from({ length: 10_000 }, (_, i) => `t${i}: __typename`).join(' ')} }`,
      /longer than 15000 characters/,
    ],
    '1,000 directives on one field (S-41)': [
      `{ user ${'@skip(if:false) '.repeat(1_000)} { name } }`,
      /longer than 15000/,
    ],
    'directives on one field (S-41)': [`{ user ${'@skip(if:false) '.repeat(51)} { name } }`, /more than 50 directives/],
    'unknown directives (S-41)': [`{ user ${'@x '.repeat(999)} { name } }`, /more tha[nt] (50 directives|1000 tokens)/],
    'a fragment bomb (S-42)': [
      `{ a { ...F0 } } ${Array.from({ length: 30 }, (_, i) => `fragment F${i} on A { a { b } ...F${i + 1} ...F${i + 1} }`).join(' ')} fragment F30 on A { b }`,
      /more than 1000 fields/,
    ],
    'aliases in fragments': [
      `{ a { ...F a { ...F } } } fragment F on A { ${Array.from({ length: 8 }, (_, i) => `b${i}: b`).join(' ')} }`,
      /more than 15 aliases/,
    ],
    'a fragment cycle (S-44)': [
      '{ a { ...F } } fragment F on A { a { ...G } } fragment G on A { ...F }',
      /Cannot spread fragment "F" within itself/,
    ],
    depth: [`{ ${'a { '.repeat(8)} b ${'} '.repeat(8)} }`, /more than 8 levels/],
    'depth in a fragment': [
      `{ a { ...F } } fragment F on A { ${'a { '.repeat(7)} b ${'} '.repeat(7)} }`,
      /more than 8 levels/,
    ],
    'depth in a fragment that nobody uses': [
      `{ a { b } } fragment F on A { ${'a { '.repeat(8)} b ${'} '.repeat(8)} }`,
      /more than 8 levels/,
    ],
    'two root fields (S-51)': ['subscription { a { b } b }', /must select only one top level field/],
    'two root fields in a fragment': [
      'subscription { ...F } fragment F on Subscription { a { b } b }',
      /only one top level field/,
    ],
    '@include on the root field (S-51)': [
      'subscription($x: Boolean!) { b @include(if: $x) }',
      /@skip or @include on its root field/,
    ],
    '@skip around the root field (S-51)': [
      'subscription($x: Boolean!) { ... @skip(if: $x) { b } }',
      /@skip or @include on its root/,
    ],
    '@skip on a fragment at the root': [
      'subscription($x: Boolean!) { ...F @skip(if: $x) } fragment F on Subscription { b }',
      /@skip or @include on its root/,
    ],
  };
  for (const [name, [query, expected]] of Object.entries(attacks)) {
    it(`refuses ${name}`, () => assert.match(refusal(query), expected));
  }

  it('would overflow the stack of the parser without a limit of tokens (twin of S-38)', () => {
    assert.throws(() => parse('{a'.repeat(7_000)), RangeError);
  });

  it('accepts repeated fields, aliases and directives where the limits permit them (twin of S-39, S-40 and S-41)', () => {
    valid(cacheWith({ maxDirectives: 51 }), `{ user { ${'name @skip(if:false) '.repeat(51)} } }`);
    valid(cacheWith({ maxTokens: 10_000 }), attacks['__typename repeated (S-39)']![0]);
    valid(cacheWith({ maxAliases: 100 }), attacks['aliases of __typename (S-40)']![0]);
  });

  it('would pass a fragment bomb through the rules of graphql-js (twin of S-42)', () => {
    assert.deepEqual(validate(schema, parse(attacks['a fragment bomb (S-42)']![0])), []);
  });

  it('accepts documents at the limits', () => {
    const cache = cacheWith();
    valid(cache, `{ ${'a { '.repeat(7)} b ${'} '.repeat(7)} }`);
    valid(cache, `{ ${Array.from({ length: 15 }, (_, i) => `t${i}: __typename`).join(' ')} }`);
    valid(cache, 'subscription($x: Boolean!) { a { b @skip(if: $x) } }');
  });

  it('accepts the introspection query of GraphiQL, but not a deeper one', () => {
    valid(cacheWith(), getIntrospectionQuery());
    assert.match(
      refusal('{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }', { maxDepth: 99 }),
      /introspection depth/,
    );
  });

  it('refuses introspection if it is off, even aliased or in fragments', () => {
    for (const query of [
      '{ __schema { types { name } } }',
      '{ x: __type(name: "User") { name } }',
      '{ ...F } fragment F on Query { __schema { types { name } } }',
    ]) {
      assert.match(refusal(query, { hasIntrospection: false }), /introspection has been disabled/);
    }
    valid(cacheWith({ hasIntrospection: false }), '{ user { __typename } }');
  });

  it('suggests no names if introspection is off (S-47)', () => {
    assert.match(refusal('{ usr { name } }'), /Did you mean/);
    assert.doesNotMatch(refusal('{ usr { name } }', { hasIntrospection: false }), /Did you mean|user/);
  });

  it('refuses a document of too many pairs of fields with one name where some differ, and no other', () => {
    const often = 'user { name } '.repeat(200);
    valid(cacheWith(), `{ ${often} }`);
    assert.match(refusal(`{ ${often} user { name: __typename } }`), /more than 10000 pairs of fields/);
    assert.match(refusal('{ user { name } user { name: __typename } }'), /conflict/);
  });

  it('compares no fields of a document with a cycle of fragments, and says what is wrong with it', () => {
    const often = `${'user { name } '.repeat(200)} user { name: __typename }`;
    const cycle = 'fragment F on A { a { ...F } x: a { ...F } }';
    const message = refusal(`{ a { ...F } ${often} } ${cycle}`);
    assert.match(message, /Cannot spread fragment "F" within itself/);
    assert.doesNotMatch(message, /conflict|pairs/);
  });
});
