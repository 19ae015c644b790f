import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Kind, OverlappingFieldsCanBeMergedRule, parse, validate, visit } from 'graphql';
import { fieldOverlap } from '../../../src/graph/documents/field-overlap.ts';
import { CORPUS_SDL, schemaOf } from '../support/corpus.ts';

const schema = schemaOf(CORPUS_SDL);

const overlapOf = (query: string) => fieldOverlap(schema, parse(query, { noLocation: true }), 10_000);

describe('fieldOverlap', () => {
  for (const [what, query] of [
    ['no field comes twice', '{ auction { id lot { id } } }'],
    ['one field comes often', '{ auction { id id id } }'],
    ['a field with a selection comes often', '{ auction { lot { id } lot { title id } } }'],
    ['the arguments are equal in another order', '{ echo(x: "a", y: 1) echo(y: 1, x: "a") }'],
    [
      'fragments repeat fields',
      '{ auction { ...F id ... { id } } } fragment F on Auction { id ...G } fragment G on Auction { id }',
    ],
    ['__typename comes often', '{ auction { __typename __typename } }'],
  ] as const) {
    it(`is trivial where ${what}`, () => {
      assert.ok(overlapOf(query).isTrivial);
      assert.deepEqual(validate(schema, parse(query), [OverlappingFieldsCanBeMergedRule]), []);
    });
  }

  for (const [what, query] of [
    ['two fields have one name', '{ auction { a: id a: title } }'],
    ['two fields below one name have one name', '{ auction { lot { a: id } lot { a: title } } }'],
    ['arguments differ', '{ echo(x: "a") echo(x: "b") }'],
    ['only one has arguments', '{ echo echo(x: "b") }'],
    ['fragments differ', '{ auction { ...F a: id } } fragment F on Auction { a: title }'],
    ['types differ', 'subscription { event { ... on Auction { title } ... on Lot { title } } }'],
    ['a fragment is not used', '{ auction { id } } fragment F on Auction { a: id a: title }'],
    ['a field is unknown', '{ nothing nothing }'],
    ['fragments have a cycle', '{ auction { ...F } } fragment F on Auction { parent { ...F } self { ...F } }'],
  ] as const) {
    it(`is not trivial where ${what}`, () => assert.ok(!overlapOf(query).isTrivial));
  }

  it('counts the pairs that are compared, also below fields of one name', () => {
    assert.equal(overlapOf(`{ auction { ${'lot { id } '.repeat(10)} } }`).pairs, 45 + 4.5);
  });

  it('counts a pair of fields without arguments and selections as a tenth', () => {
    assert.equal(overlapOf(`{ auction { ${'id '.repeat(10)} } }`).pairs, 4.5);
    assert.equal(overlapOf(`{ auction { ${'echo(x: "a") '.repeat(10)} } }`).pairs, 45);
  });

  it('counts the pairs of fragments that are not used, or hidden by another of their name', () => {
    const fragment = `fragment F on Auction { ${'id '.repeat(10)} }`;
    assert.equal(overlapOf(`{ auction { id } } ${fragment}`).pairs, 4.5);
    assert.equal(overlapOf(`{ auction { ...F } } ${fragment} fragment F on Auction { id }`).pairs, 4.5);
  });

  it('prints the arguments of a field once, however often its fragment is spread', () => {
    const document = parse(
      '{ auction { ...F parent { ...F } self { ...F parent { ...F } } } } fragment F on Auction { echo(x: "a") }',
      { noLocation: true },
    );
    let reads = 0;
    visit(document, {
      [Kind.STRING]: (node) => {
        const { value } = node;
        Object.defineProperty(node, 'value', { get: () => (reads++, value) });
      },
    });
    assert.ok(fieldOverlap(schema, document, 10_000).isTrivial);
    assert.equal(reads, 1);
  });

  it('returns infinitely many pairs for a document that it does not follow to its end', () => {
    const fields = 'lot { id } '.repeat(20);
    const cycle = 'fragment F on Auction { parent { ...F } self { ...F } }';
    assert.deepEqual(overlapOf(`{ auction { self { ...F } parent { ${fields} } } } ${cycle}`), {
      isTrivial: false,
      pairs: Infinity,
    });
    const document = parse(`{ auction { ${fields} } }`);
    assert.deepEqual(fieldOverlap(schema, document, 42), { isTrivial: true, pairs: 190 + 19 });
    assert.deepEqual(fieldOverlap(schema, document, 40), { isTrivial: false, pairs: Infinity });
  });
});
