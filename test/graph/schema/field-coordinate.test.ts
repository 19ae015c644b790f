import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Kind, buildSchema, parse } from 'graphql';
import type { OperationDefinitionNode } from 'graphql';
import { fieldCoordinate } from '../../../src/graph/schema/field-coordinate.ts';

const schema = buildSchema(`
  schema { query: Root subscription: Live }
  type Root { a: Int }
  type Live { order: Order! event: Event }
  type Order implements Node { id: ID lines: [[Line!]] }
  type Line { price: Int order: Order }
  interface Node { id: ID }
  union Event = Order | Line
`);

function coordinate(query: string, ...path: (string | number)[]): string | undefined {
  const document = parse(query);
  const definition = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )!;
  return fieldCoordinate(schema, { document, definition }, path);
}

describe('fieldCoordinate', () => {
  it('names the field of aliases and list indexes', () => {
    const query = 'subscription { x: order { y: lines { z: price } } }';
    assert.equal(coordinate(query, 'x'), 'Live.order');
    assert.equal(coordinate(query, 'x', 'y', 0, 1, 'z'), 'Line.price');
    assert.equal(coordinate('{ b: a }', 'b'), 'Root.a');
  });

  it('follows fragments, and fields that are selected several times', () => {
    const query = `subscription { order { id } ...F }
      fragment F on Live { order { ...G ... { lines { price } } } } fragment G on Order { lines { order { n: id } } }`;
    assert.equal(coordinate(query, 'order', 'lines', 0, 'order', 'n'), 'Order.id');
    assert.equal(coordinate(query, 'order', 'lines', 0, 'price'), 'Line.price');
  });

  it('names the type that the document names below an abstract one', () => {
    const query = 'subscription { event { ... on Line { price order { ... on Node { id } } } } }';
    assert.equal(coordinate(query, 'event', 'price'), 'Line.price');
    assert.equal(coordinate(query, 'event', 'order', 'id'), 'Node.id');
  });

  it('is undefined if the operation has no field at the path', () => {
    assert.equal(coordinate('{ a }'), undefined);
    assert.equal(coordinate('{ a }', 'b'), undefined);
    assert.equal(coordinate('{ a }', 'a', 'b'), undefined);
  });
});
