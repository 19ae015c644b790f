import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import { buildSchema } from 'graphql';
import { DocumentCache } from '../../../src/graph/documents/document-cache.ts';
import { bareId } from '../../../src/graph/documents/document-manifest.ts';
import type { DocumentRequest } from '../../../src/graph/documents/document-request.ts';
import { RequestedDocuments } from '../../../src/graph/documents/requested-documents.ts';
import type { RequestedDocumentsOptions } from '../../../src/graph/documents/requested-documents.ts';

const SCHEMA = buildSchema('type Query { a: Int b: Int c: Int }');

const A = 'query A { a }';
const B = 'query B { b }';
const C = 'query C { c }';
const keyOf = (text: string) => hash('sha256', text);

/** Trusts A under the id `a`, and what a test adds. */
function stage(options: Omit<RequestedDocumentsOptions, 'cache'> & { readonly maxEntries?: number } = {}) {
  const counts = { hit: 0, miss: 0, invalid: 0, unknown: 0, mismatch: 0, untrusted: 0 };
  const cache = new DocumentCache(SCHEMA, {
    maxLength: 1000,
    maxTokens: 100,
    maxDepth: 4,
    maxAliases: 2,
    maxDirectives: 2,
    hasIntrospection: false,
    maxEntries: options.maxEntries ?? 10,
    maxBytes: 1_000_000,
    maxInvalidEntries: 10,
    onLookup: (outcome) => counts[outcome]++,
  });
  const documents = new RequestedDocuments({
    cache,
    onRefusal: (reason) => counts[reason]++,
    onUntrusted: () => counts.untrusted++,
    ...options,
  });
  /** The text's key, or the code and the message of a refusal; of a request that was not made before, and again. */
  const outcomeOf = (request: DocumentRequest) => {
    const results = [documents.get(request), documents.find(request)].map((result) => {
      assert.ok(result);
      if (!('errors' in result)) return result.key;
      const [{ message, extensions }] = result.errors as [(typeof result.errors)[number]];
      return `${String(extensions?.['code'])}: ${message}`;
    });
    assert.equal(results[0], results[1]);
    return results[0]!;
  };
  return { cache, counts, documents, outcomeOf };
}

const manifest = (texts: Readonly<Record<string, string>>) => {
  const byId = new Map(Object.entries(texts).map(([id, text]) => [bareId(id), text]));
  for (const text of [...byId.values()]) byId.set(keyOf(text), text);
  return { textOf: (id: string) => byId.get(id) };
};

const trusted = manifest({ a: A });

const NOT_FOUND = 'PERSISTED_QUERY_NOT_FOUND: PersistedQueryNotFound';
const NOT_TRUSTED =
  'PERSISTED_QUERY_NOT_FOUND: Only documents of the manifest TRUSTED_DOCUMENTS are run, and this is none of them';
const MISMATCH = 'PERSISTED_QUERY_MISMATCH: provided sha does not match query';

describe('RequestedDocuments without a manifest', () => {
  it('runs texts, with any id', () => {
    const { outcomeOf, counts } = stage();
    for (const id of [undefined, keyOf(A), keyOf(B), 'x']) assert.equal(outcomeOf({ query: A, id }), keyOf(A));
    assert.equal(counts.untrusted, 0);
  });

  it('answers an id alone as a server without persisted queries, so that clients send the text', () => {
    const { outcomeOf, cache } = stage();
    outcomeOf({ query: A });
    assert.equal(outcomeOf({ query: '', id: keyOf(A) }), 'PERSISTED_QUERY_NOT_SUPPORTED: PersistedQueryNotSupported');
    assert.equal(cache.size, 1);
  });
});

describe('RequestedDocuments with a manifest that is required', () => {
  const required = { trusted, isTrustRequired: true };

  it('runs a trusted document by its id, by the SHA-256 of its text, and by its text: one document', () => {
    const { outcomeOf, cache } = stage(required);
    for (const request of [
      { query: '', id: 'a' },
      { query: '', id: keyOf(A) },
      { query: A },
      { query: A, id: 'a' },
      { query: A, id: 'unknown' },
    ])
      assert.equal(outcomeOf(request), keyOf(A));
    assert.equal(cache.size, 1);
  });

  it('runs the document of a trusted id, whatever text comes with it (S-49)', () => {
    const { outcomeOf, cache } = stage(required);
    assert.equal(outcomeOf({ query: B, id: 'a' }), keyOf(A));
    assert.equal(outcomeOf({ query: '{ b', id: 'a' }), keyOf(A));
    assert.equal(outcomeOf({ query: '', id: keyOf(B) }), NOT_FOUND);
    assert.equal(cache.size, 1);
  });

  it('refuses any other text and id, and parses nothing (S-48)', () => {
    const { outcomeOf, cache, counts } = stage(required);
    assert.equal(outcomeOf({ query: B }), NOT_TRUSTED);
    assert.equal(outcomeOf({ query: '' }), NOT_TRUSTED);
    assert.equal(outcomeOf({ query: `${A} ` }), NOT_TRUSTED);
    assert.equal(outcomeOf({ query: '{'.repeat(10_000) }), NOT_TRUSTED);
    assert.equal(outcomeOf({ query: B, id: keyOf(B) }), NOT_FOUND);
    assert.equal(outcomeOf({ query: '', id: keyOf(B) }), NOT_FOUND);
    assert.equal(outcomeOf({ query: '', id: `trusted ${keyOf(A)}` }), NOT_FOUND);
    for (const id of ['__proto__', 'toString', '../a']) assert.equal(outcomeOf({ query: '', id }), NOT_FOUND);
    assert.deepEqual([cache.size, cache.invalidSize], [0, 0]);
    assert.deepEqual(counts, { hit: 0, miss: 0, invalid: 0, unknown: 20, mismatch: 0, untrusted: 20 });
  });

  it('parses them where the manifest is only allowed (twin of S-48)', () => {
    const { outcomeOf, cache, counts } = stage({ trusted });
    assert.equal(outcomeOf({ query: B }), keyOf(B));
    assert.match(outcomeOf({ query: '{'.repeat(100) }), /^GRAPHQL_PARSE_FAILED/);
    assert.equal(outcomeOf({ query: '', id: keyOf(B) }), NOT_FOUND);
    assert.deepEqual([cache.size, cache.invalidSize], [1, 1]);
    assert.equal(counts.untrusted, 6);
  });

  it('does not take a text with a lone surrogate for the trusted one with its bytes in UTF-8', () => {
    const replaced = 'query A { a } #\ufffd';
    const lone = 'query A { a } #\ud800';
    assert.equal(keyOf(lone), keyOf(replaced));
    const { documents } = stage({ trusted: manifest({ r: replaced }), isTrustRequired: true });
    // The trusted text is what runs.
    assert.ok('document' in documents.get({ query: lone }));
  });

  it('exempts trusted documents from the limits for strangers, not from validation', () => {
    const long = `{ ${'x: a '.repeat(10)} ${Array.from({ length: 30 }, (_, i) => `y${i}: b`).join(' ')} #${'.'.repeat(1000)}\n }`;
    const texts = { long, introspection: '{ __schema { types { name } } }', invalid: '{ nothing }' };
    const { outcomeOf } = stage({ trusted: manifest(texts), isTrustRequired: true });
    assert.equal(outcomeOf({ query: '', id: 'long' }), keyOf(long));
    assert.match(outcomeOf({ query: '', id: 'invalid' }), /^GRAPHQL_VALIDATION_FAILED: Cannot query field "nothing"/);
    assert.match(outcomeOf({ query: '', id: 'introspection' }), /^GRAPHQL_VALIDATION_FAILED: .*introspection/);
    // The twin: a stranger's document.
    const stranger = stage();
    assert.match(stranger.outcomeOf({ query: long }), /^GRAPHQL_PARSE_FAILED: The query is longer than 1000/);
    assert.match(stranger.outcomeOf({ query: long.replace(/#.*/, '') }), /tokens|aliases/);
  });

  it('reads a text again with the limits for strangers once it is not trusted any more', () => {
    const long = `{ a #${'.'.repeat(1000)}\n }`;
    let texts: ReturnType<typeof manifest> = manifest({ long });
    const { outcomeOf } = stage({ trusted: { textOf: (id) => texts.textOf(id) } });
    assert.equal(outcomeOf({ query: long }), keyOf(long));
    texts = trusted;
    assert.match(outcomeOf({ query: long }), /^GRAPHQL_PARSE_FAILED: The query is longer/);
    texts = manifest({ long });
    assert.equal(outcomeOf({ query: long }), keyOf(long));
  });
});

describe('RequestedDocuments with automatic persisted queries', () => {
  const automatic = { hasAutomatic: true };

  it('finds a document by its hash after a request with its text', () => {
    for (const prefix of ['', 'sha256:']) {
      const { outcomeOf } = stage(automatic);
      const id = `${prefix}${keyOf(A)}`;
      assert.equal(outcomeOf({ query: '', id }), NOT_FOUND);
      assert.equal(outcomeOf({ query: A, id }), keyOf(A));
      assert.equal(outcomeOf({ query: '', id }), keyOf(A));
      assert.equal(outcomeOf({ query: B }), keyOf(B));
      assert.equal(outcomeOf({ query: '', id: keyOf(B) }), keyOf(B));
    }
  });

  it('refuses a text with the hash of another, and then that hash alone (S-49)', () => {
    const { outcomeOf, cache, counts } = stage(automatic);
    assert.equal(outcomeOf({ query: A, id: keyOf(B) }), MISMATCH);
    assert.equal(outcomeOf({ query: '', id: keyOf(B) }), NOT_FOUND);
    for (const id of ['a', keyOf(A).toUpperCase(), keyOf(A).slice(1)])
      assert.equal(outcomeOf({ query: A, id }), MISMATCH);
    assert.equal(cache.size, 0);
    assert.deepEqual([counts.mismatch, counts.unknown], [8, 2]);
  });

  it('runs the text, and registers nothing, without them (twin of S-49)', () => {
    const { outcomeOf } = stage();
    assert.equal(outcomeOf({ query: A, id: keyOf(B) }), keyOf(A));
    assert.match(outcomeOf({ query: '', id: keyOf(B) }), /^PERSISTED_QUERY_NOT_SUPPORTED/);
  });

  it('registers no invalid document', () => {
    const { outcomeOf } = stage(automatic);
    const invalid = '{ nothing }';
    assert.match(outcomeOf({ query: invalid, id: keyOf(invalid) }), /^GRAPHQL_VALIDATION_FAILED/);
    assert.equal(outcomeOf({ query: '', id: keyOf(invalid) }), NOT_FOUND);
  });

  it('keeps as many documents as the cache: the oldest must be sent again', () => {
    const { outcomeOf, cache } = stage({ ...automatic, maxEntries: 2 });
    for (const query of [A, B, C]) outcomeOf({ query, id: keyOf(query) });
    assert.equal(cache.size, 2);
    assert.equal(outcomeOf({ query: '', id: keyOf(A) }), NOT_FOUND);
    assert.equal(outcomeOf({ query: '', id: keyOf(C) }), keyOf(C));
  });

  it('finds no document by its hash that only a manifest of the past has exempted from limits', () => {
    const long = `{ a #${'.'.repeat(1000)}\n }`;
    let texts: ReturnType<typeof manifest> = manifest({ long });
    const { outcomeOf } = stage({ ...automatic, trusted: { textOf: (id) => texts.textOf(id) } });
    assert.equal(outcomeOf({ query: '', id: 'long' }), keyOf(long));
    texts = trusted;
    for (const id of [keyOf(long), `trusted ${keyOf(long)}`]) assert.equal(outcomeOf({ query: '', id }), NOT_FOUND);
  });
});
