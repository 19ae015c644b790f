import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Kind, parse, print } from 'graphql';
import type { OperationDefinitionNode } from 'graphql';
import { compactDocument, nameNodesOf } from '../../../src/graph/documents/compact-document.ts';
import { documentWeight } from '../../../src/graph/documents/document-weight.ts';
import { IS_17 } from '../../../src/graph/graphql-version.ts';
import { CORPUS_SDL, schemaOf } from '../support/corpus.ts';

const names = nameNodesOf(schemaOf(CORPUS_SDL));

function compacted(query: string) {
  const document = parse(query, { noLocation: true });
  compactDocument(document, names);
  return document;
}

describe('compactDocument', () => {
  const QUERY =
    'query Q($x: String = "a", $l: [Int!] = []) { e: echo(x: $x, f: { c: [1, 2] }, l: $l) auction @include(if: true) { ...F } } fragment F on Auction { id }';

  it('changes no node', () => {
    const plain = parse(QUERY, { noLocation: true });
    assert.equal(print(compacted(QUERY)), print(plain));
    assert.deepEqual(JSON.parse(JSON.stringify(compacted(QUERY))), JSON.parse(JSON.stringify(plain)));
  });

  it('shares the names of the schema and empty lists between documents, frozen', () => {
    const [one, other] = [compacted('{ auction { id } }'), compacted('{ auction { id id } }')].map(
      ({ definitions }) => (definitions[0] as OperationDefinitionNode).selectionSet.selections[0]!,
    );
    assert.ok(one?.kind === Kind.FIELD && other?.kind === Kind.FIELD);
    assert.equal(one.name, other.name);
    assert.equal(one.arguments, other.arguments);
    assert.ok(Object.isFrozen(one.name) && Object.isFrozen(one.arguments));
    assert.ok(!Object.isFrozen(one));
  });

  it('shares no name that the schema does not have', () => {
    const [one, other] = [compacted('query Name { auction { id } }'), compacted('query Name { crier }')].map(
      ({ definitions }) => (definitions[0] as OperationDefinitionNode).name,
    );
    assert.notEqual(one, other);
  });

  // The parser of 17 makes no empty lists.
  const least = IS_17 ? 40 : 100;
  it(`saves ${least} bytes or more of each field of the schema`, () => {
    const query = `{ auction { ${'title '.repeat(100)} } }`;
    const plain = documentWeight(parse(query, { noLocation: true }));
    assert.ok(plain - documentWeight(compacted(query)) >= 100 * least);
  });
});
