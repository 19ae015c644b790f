import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attachRecordFields } from '../../../src/graph/schema/record-fields.ts';
import { buildGraphSchema, withoutOwnDefinitions } from '../../../src/graph/schema/schema.ts';

const TYPES = `
  scalar Date
  interface Thing { at: String }
  type Order implements Thing { at: String }
  type Subscription { order: Order @kafka(topic: "t") }`;

function problemsOf(sdl: string, resolved = ''): string[] {
  const { schema, problems } = buildGraphSchema(`${sdl}${TYPES}`, 'schema.graphql');
  assert.deepEqual(problems, []);
  const type = schema.getType('T');
  if (resolved && type && 'getFields' in type) Object.assign(type.getFields()[resolved]!, { resolve: () => 1 });
  return attachRecordFields(schema);
}

describe('@record', () => {
  it('fills fields whose types can hold the value', () => {
    assert.deepEqual(
      problemsOf(`type T {
        a: String @record(field: TIMESTAMP) b: Date @record(field: TIMESTAMP) c: Float! @record(field: TIMESTAMP)
        d: ID! @record(field: TOPIC) e: Int @record(field: PARTITION) f: String @record(field: OFFSET) g: Float @record(field: OFFSET)
        h: ID @record(field: KEY) i: Date @record(field: HEADER, name: "at")
      } extend type Order { t: [T!] }`),
      [],
    );
  });

  it('is not seen by clients', () => {
    const { schema } = buildGraphSchema(`type T { a: String @record(field: TIMESTAMP) }${TYPES}`, 'schema.graphql');
    const seen = withoutOwnDefinitions(schema);
    assert.equal(seen.getDirective('record'), undefined);
    assert.equal(seen.getType('KafkaRecordField'), undefined);
  });

  const mistakes: [title: string, sdl: string, problem: RegExp][] = [
    [
      'an Int for a timestamp',
      'type T { a: Int @record(field: TIMESTAMP) }',
      /T\.a: @record TIMESTAMP does not fit the type Int, because an Int has 32 bits; use one of String, Float, a custom scalar/,
    ],
    [
      'an Int for an offset',
      'type T { a: Int! @record(field: OFFSET) }',
      /OFFSET does not fit the type Int!, because an Int has 32 bits; use one of Float, String, ID/,
    ],
    [
      'a key in an Int',
      'type T { a: Int @record(field: KEY) }',
      /KEY does not fit the type Int; use one of String, ID, a custom scalar/,
    ],
    [
      'a header without a name',
      'type T { a: String @record(field: HEADER) }',
      /@record HEADER needs the name of the header; add name: "tenant"/,
    ],
    [
      'a header with an empty name',
      'type T { a: String @record(field: HEADER, name: "") }',
      /@record HEADER needs the name of the header; add name: "tenant"/,
    ],
    [
      'a name without a header',
      'type T { a: String @record(field: KEY, name: "a") }',
      /@record KEY has no name; remove it, or use HEADER/,
    ],
    [
      'a type that no @kafka field reaches',
      'type T { a: String @record(field: TOPIC) } type Query { t: T }',
      /T\.a: @record is on a type that no @kafka field reaches; remove it, or return the type from a @kafka field/,
    ],
    ['an object', 'type T { a: Order @record(field: TOPIC) }', /TOPIC does not fit the type Order; use/],
    ['a list', 'type T { a: [String] @record(field: TOPIC) }', /TOPIC does not fit the type \[String\]; use/],
    [
      'an interface',
      'interface T { a: String @record(field: TOPIC) }',
      /is on an interface; put @record on the same field of its object types/,
    ],
    [
      'a root type',
      'type Query { a: String @record(field: TOPIC) }',
      /Query\.a: @record is on a field of Query; put it on a field of a type that a @kafka field returns/,
    ],
  ];
  for (const [title, sdl, problem] of mistakes) {
    it(`stops the start with ${title}`, () => {
      const problems = problemsOf(sdl);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0]!, problem);
      assert.match(problems[0]!, /^schema.graphql:1: /);
    });
  }

  it('stops the start with a field that has a resolver', () => {
    assert.match(
      problemsOf('type T { a: String @record(field: TOPIC) }', 'a')[0]!,
      /is on a field that has a resolver; remove one of them/,
    );
  });
});
