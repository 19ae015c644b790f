import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bareId, parseManifest } from '../../../src/graph/documents/document-manifest.ts';

const A = 'query A { a }';
const B = 'query B { b }';
const keyOf = (text: string) => hash('sha256', text);

const apollo = (operations: unknown, version: unknown = 1) =>
  JSON.stringify({ format: 'apollo-persisted-query-manifest', version, operations });

describe('parseManifest', () => {
  const good: readonly (readonly [what: string, manifest: string, expected: Readonly<Record<string, string>>])[] = [
    [
      "SHA-1 ids of GraphQL Code Generator's client preset",
      JSON.stringify({ [hash('sha1', A)]: A }),
      { [hash('sha1', A)]: A },
    ],
    [
      "MD5 ids of Relay's compiler",
      JSON.stringify({ [hash('md5', A)]: A, [hash('md5', B)]: B }),
      { [hash('md5', A)]: A, [hash('md5', B)]: B },
    ],
    ['SHA-256 ids', JSON.stringify({ [keyOf(A)]: A }), { [keyOf(A)]: A }],
    ['SHA-256 ids with their prefix', JSON.stringify({ [`sha256:${keyOf(A)}`]: A }), { [keyOf(A)]: A }],
    ['names', '{ "__proto__": "{ a }", "toString": "{ b }" }', { ['__proto__']: '{ a }', toString: '{ b }' }],
    [
      "Apollo's manifest",
      apollo([
        { id: keyOf(A), body: A, name: 'A', type: 'query', clientName: 'web' },
        { id: keyOf(A), body: A, clientName: 'ios' },
        { id: 'b', body: B },
      ]),
      { [keyOf(A)]: A, b: B },
    ],
  ];
  for (const [what, manifest, expected] of good) {
    it(`reads ${what}`, async () => {
      assert.deepEqual([...(await parseManifest(manifest, nextTurn))], Object.entries(expected));
    });
  }

  const bad: readonly (readonly [what: string, manifest: string, message: string])[] = [
    ['that is no JSON', '{\n  "a": "{ a }",\n}', 'not JSON, in line 3'],
    ['that is no object', '[]', 'expected a JSON object, got an array'],
    ['without documents', '{}', 'it has no documents'],
    ['with an empty id', '{ "": "{ a }" }', '"" is no id'],
    [
      'with another value than text',
      '{ "a": {}, "b": null, "c": "{ a }" }',
      '"a" is an object instead of the text of a document; "b" is null instead of the text of a document',
    ],
    ['with a lone surrogate', '{ "a": "{ a } #\\ud800" }', '"a" is not well-formed Unicode'],
    [
      'with the SHA-256 of another document (S-49)',
      JSON.stringify({ [keyOf(B)]: A }),
      `"${keyOf(B)}" is not the SHA-256 of its document, which is ${keyOf(A)}`,
    ],
    [
      'with the SHA-256 of another document, prefixed (S-49)',
      JSON.stringify({ [`sha256:${keyOf(B)}`]: A }),
      `"sha256:${keyOf(B)}" is not the SHA-256 of its document, which is ${keyOf(A)}`,
    ],
    ['of Apollo without a document', apollo([{ id: 'a' }]), '"a" has no document'],
    [
      'with an id of two documents',
      apollo([
        { id: 'a', body: A },
        { id: 'a', body: B },
      ]),
      '"a" is there twice',
    ],
    ['of Apollo in another version', apollo([], 2), 'expected version 1 of apollo-persisted-query-manifest'],
    ['of Apollo without a list', apollo({}), 'expected a list of operations, got an object'],
    ['of Apollo with an operation that is none', apollo([null, { id: 1 }]), 'a missing id is no id; a number is no id'],
    [
      'with many mistakes',
      JSON.stringify(Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`id${i}`, 1]))),
      `${Array.from({ length: 5 }, (_, i) => `"id${i}" is a number instead of the text of a document`).join('; ')}; and 2 more`,
    ],
    [
      'with a long id',
      JSON.stringify({ ['x'.repeat(200)]: 1 }),
      `"${'x'.repeat(79)}… is a number instead of the text of a document`,
    ],
  ];
  for (const [what, manifest, message] of bad) {
    it(`refuses a manifest ${what}`, async () => {
      await assert.rejects(parseManifest(manifest, nextTurn), { message });
    });
  }
});

describe('bareId', () => {
  it('takes the prefix only from a SHA-256', () => {
    assert.equal(bareId(`sha256:${keyOf(A)}`), keyOf(A));
    for (const id of [keyOf(A), 'sha256:x', `sha256:${keyOf(A).toUpperCase()}`, `x-sha256:${keyOf(A)}`])
      assert.equal(bareId(id), id);
  });
});
