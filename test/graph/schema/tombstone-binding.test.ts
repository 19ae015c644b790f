import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Source, buildSchema } from 'graphql';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { KAFKA_DIRECTIVE } from '../../../src/graph/schema/kafka-directive.ts';

function parse(fields: string) {
  const sdl = `type Subscription {\n${fields}\n}\ntype Query { q: Int } type Order { id: ID region: ID }${KAFKA_DIRECTIVE}`;
  return parseBindings(buildSchema(new Source(sdl, 'schema.graphql')), new Set());
}

const CHANGES = 'envelope: DEBEZIUM';
const BY_ID = 'match: [{ arg: "id", path: "id" }]';
const BY_BOTH = 'match: [{ arg: "id", path: "id" }, { arg: "region", path: "region" }]';

describe('tombstone of @kafka', () => {
  it('is NULL or COMPLETE; SKIP is the same as none', () => {
    const { bindings, problems, warnings } = parse(`
      a(id: ID!): Order @kafka(topic: "t", ${BY_ID}, tombstone: NULL)
      b(id: ID): Order! @kafka(topic: "t", ${BY_ID}, tombstone: COMPLETE)
      c: Order! @kafka(topic: "t", tombstone: COMPLETE)
      d(id: ID!): Order! @kafka(topic: "t", ${BY_ID}, tombstone: SKIP)
      e(id: ID!): Order! @kafka(topic: "t", ${BY_ID})
      f(id: ID!): Order @kafka(topic: "t", match: [{ arg: "id", key: true }], tombstone: NULL)
      g(id: ID!, org: ID!): Order @kafka(topic: "t", match: [{ arg: "id", key: true }, { arg: "org", header: "org" }], tombstone: NULL)
    `);
    assert.deepEqual([problems, warnings], [[], []]);
    assert.deepEqual(
      [...bindings.values()].map(({ tombstone }) => tombstone),
      ['NULL', 'COMPLETE', 'COMPLETE', undefined, undefined, 'NULL', 'NULL'],
    );
  });

  it('of rows before that are whole: before: WHOLE needs an envelope', () => {
    const { bindings, problems } = parse(`
      a(id: ID!): Order @kafka(topic: "t", ${CHANGES}, before: WHOLE, ${BY_ID}, tombstone: NULL)
      b(id: ID!): Order @kafka(topic: "t", ${CHANGES}, before: BY_CONNECTOR, ${BY_ID}, tombstone: NULL)
      c(id: ID!): Order @kafka(topic: "u", before: WHOLE, ${BY_ID})
    `);
    assert.deepEqual(
      [...bindings.values()].map(({ hasWholeRows }) => hasWholeRows),
      [true, undefined],
    );
    assert.deepEqual(problems, [
      'schema.graphql:5: Subscription.c: before: WHOLE is of a topic with an envelope; add envelope: DEBEZIUM, or remove it',
    ]);
  });

  it('may be on any field with state, which says whose key a tombstone has', () => {
    const { problems, warnings } = parse(`
      a(id: ID!): Order @kafka(topic: "t", ${BY_ID}, tombstone: NULL)
      b(region: ID!): Order @kafka(topic: "t", match: [{ arg: "region", path: "region" }], state: {}, tombstone: COMPLETE)
      c(id: ID!, region: ID!): Order @kafka(topic: "t", ${BY_BOTH}, state: {}, tombstone: NULL)
      d(id: ID, region: ID): Order @kafka(topic: "t", ${BY_BOTH}, state: {}, tombstone: NULL)
      e: Order @kafka(topic: "t", where: [{ claim: "org", path: "region" }], state: {}, tombstone: NULL)
      f(id: ID!, region: ID!): Order @kafka(topic: "t", ${BY_BOTH}, state: {})
    `);
    assert.deepEqual([problems, warnings], [[], []]);
  });

  it('warns of ROW on a field that cannot be null: a delete whose row is not known reaches nobody', () => {
    const { problems, warnings } = parse(`a: Order! @kafka(topic: "t", ${CHANGES}, tombstone: ROW)`);
    assert.deepEqual(problems, []);
    assert.match(
      warnings.join('\n'),
      /^\S+ Subscription\.a: tombstone: ROW on a field that cannot be null: .* reaches nobody; make its type Order$/,
    );
  });

  it('may be ROW, and on any match and where, with an envelope: the delete of a row says what it was', () => {
    const { bindings, problems, warnings } = parse(`
      a: Order @kafka(topic: "t", ${CHANGES}, tombstone: ROW)
      b(id: ID!, region: ID!): Order @kafka(topic: "t", ${CHANGES}, ${BY_BOTH}, tombstone: NULL)
      c(region: ID!): Order @kafka(topic: "t", ${CHANGES}, match: [{ arg: "region", path: "region" }], tombstone: COMPLETE)
      d(id: ID!): Order @kafka(topic: "t", ${CHANGES}, ${BY_ID}, where: [{ claim: "org", path: "region" }], tombstone: ROW)
      e(id: ID, region: ID): Order @kafka(topic: "t", ${CHANGES}, ${BY_BOTH}, tombstone: NULL)
    `);
    assert.deepEqual([problems, warnings], [[], []]);
    assert.deepEqual(
      [...bindings.values()].map(({ tombstone }) => tombstone),
      ['ROW', 'NULL', 'COMPLETE', 'ROW', 'NULL'],
    );
  });

  const mistakes: [title: string, field: string, problem: RegExp][] = [
    [
      'another value',
      'a: Order @kafka(topic: "t", tombstone: "NULL")',
      /must be SKIP, NULL, COMPLETE or ROW, without quotes/,
    ],
    [
      'ROW where a header names the channel',
      `a(id: ID!): Order @kafka(topic: "t", ${CHANGES}, match: [{ arg: "id", header: "id" }], tombstone: ROW)`,
      /tombstone: ROW with a match on a header \("id"\): .*use NULL or COMPLETE/,
    ],
    [
      'ROW without an envelope',
      'a: Order @kafka(topic: "t", tombstone: ROW)',
      /tombstone: ROW, but the records say nothing of the row that is gone; add envelope/,
    ],
    [
      'COMPLETE for a list of keys with an envelope',
      `a(id: [ID!]!): Order @kafka(topic: "t", ${CHANGES}, ${BY_ID}, tombstone: COMPLETE)`,
      /COMPLETE with the list argument "id": /,
    ],
    [
      'NULL on a non-null field',
      'a: Order! @kafka(topic: "t", tombstone: NULL)',
      /cannot be null; make its type Order, or/,
    ],
    [
      'a where',
      'a: Order @kafka(topic: "t", where: [{ claim: "org", path: "region" }], tombstone: NULL)',
      /NULL with a where: a tombstone has no payload that proves whose it is.*; add state: {}/,
    ],
    [
      'COMPLETE for a list of keys',
      `a(id: [ID!]!): Order @kafka(topic: "t", ${BY_ID}, tombstone: COMPLETE)`,
      /COMPLETE with the list argument "id": .* lose the others; use NULL/,
    ],
    [
      'COMPLETE for a list of keys with state',
      `a(id: [ID!]!): Order @kafka(topic: "t", ${BY_ID}, state: {}, tombstone: COMPLETE)`,
      /COMPLETE with the list argument "id": /,
    ],
    [
      'the key and a required path',
      'a(id: ID!, region: ID!): Order @kafka(topic: "t", match: [{ arg: "id", key: true }, { arg: "region", path: "region" }], tombstone: NULL)',
      /NULL with required matches on "region": a tombstone has no payload/,
    ],
    [
      'two required matches',
      `a(id: ID!, region: ID!): Order @kafka(topic: "t", ${BY_BOTH}, tombstone: COMPLETE)`,
      /COMPLETE with required matches on "id", "region": a tombstone has no payload/,
    ],
  ];
  for (const [title, field, problem] of mistakes) {
    it(`stops the start with ${title}`, () => {
      const { problems, bindings } = parse(field);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0]!, problem);
      assert.match(problems[0]!, /^schema.graphql:2: Subscription.a: /);
      assert.equal(bindings.size, 0);
    });
  }

  it('stops the start where fields of a topic take its key for the values of different paths', () => {
    const { problems } = parse(`
      a(id: ID!): Order @kafka(topic: "t", ${BY_ID}, tombstone: NULL)
      b(region: ID!): Order @kafka(topic: "t", match: [{ arg: "region", path: "region" }], tombstone: COMPLETE)
      c(region: ID!): Order @kafka(topic: "u", match: [{ arg: "region", path: "region" }], tombstone: COMPLETE)
    `);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(
      problems[0]!,
      /^schema.graphql:4: Subscription.b: .*takes the key of topic "t" for the value at "region", but "a" takes it for the value at "id"/,
    );
  });

  it('warns of subscriptions that no tombstone reaches', () => {
    const { problems, warnings } = parse(`
      a(id: ID!, region: ID): Order @kafka(topic: "t", ${BY_BOTH}, tombstone: NULL)
      b(id: ID, region: ID): Order @kafka(topic: "u", ${BY_BOTH}, tombstone: NULL)
    `);
    assert.deepEqual(problems, []);
    assert.match(warnings[0]!, /Subscription.a: tombstone: NULL reaches only subscriptions that leave out "region"/);
    assert.match(
      warnings[1]!,
      /Subscription.b: tombstone: NULL reaches only subscriptions that leave out "id", "region"/,
    );
  });
});
