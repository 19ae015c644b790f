import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse, validate } from 'graphql';
import { exampleOperation, shortExampleOf } from '../../../src/graph/schema/example-operation.ts';
import { schemaOf } from '../support/corpus.ts';

const schema = schemaOf(`
  type Subscription { auction(id: Int!, kind: Kind!, only: Filter!, tags: [String!]!, day: Day!, note: String): Auction
    @kafka(topic: "t", unused: ["id", "kind", "only", "tags", "day"]) }
  type Auction { id: Int seller: Seller! find(text: String!): Int events: [Event] }
  type Seller { name: String home: Home }
  type Home { street: String }
  union Event = Seller | Home
  enum Kind { SALE RENT }
  input Filter { min: Float! max: Float flag: Boolean! }
  scalar Day
`);

describe('exampleOperation', () => {
  it('makes a valid subscription from the first field, two levels deep, with its required arguments', () => {
    const operation = exampleOperation({ schema, samples: undefined });
    assert.equal(
      operation,
      `subscription {
  auction(id: 1, kind: SALE, only: { min: 1.5, flag: true }, tags: ["1"], day: "1") {
    id
    seller {
      name
    }
    find(text: "1")
    events {
      __typename
    }
  }
}
`,
    );
    assert.deepEqual(validate(schema, parse(operation)), []);
  });

  it('has five fields of each type at most, and counts the others', () => {
    const large = schemaOf(`
      type Subscription { order: Order @kafka(topic: "t") }
      type Order { a: Int b: Int c: Part d: Int e: Int f: Int g: Int }
      type Part { h: Int i: Int j: Int k: Int l: Int m: Int }
    `);
    const operation = exampleOperation({ schema: large, samples: undefined });
    assert.equal(
      operation,
      `subscription {
  order {
    a
    b
    c {
      h
      i
      j
      k
      l
      # and 1 more
    }
    d
    e
    # and 2 more
  }
}
`,
    );
    assert.deepEqual(validate(large, parse(operation)), []);
  });

  it("prefers the samples' own", () => {
    const samples = { operation: 'subscription { auction }', records: () => [] };
    assert.equal(exampleOperation({ schema, samples }), samples.operation);
  });
});

describe('shortExampleOf', () => {
  it('is one line, valid, with at most five fields of each type', () => {
    const large = schemaOf(`
      type Subscription { order(id: ID!): Order @kafka(topic: "t", unused: ["id"]) }
      type Order { a: Int b: Int c: Part d: Int e: Int f: Int g: Int }
      type Part { h: Int i: Int j: Int k: Int l: Int m: Int }
    `);
    const operation = shortExampleOf(large.getSubscriptionType()!.getFields()['order']!);
    assert.equal(operation, 'subscription { order(id: "1") { a b c { h i j k l } d e } }');
    assert.deepEqual(validate(large, parse(operation)), []);
  });
});
