import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Source, buildSchema } from 'graphql';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { KAFKA_DIRECTIVE } from '../../../src/graph/schema/kafka-directive.ts';
import { missingRegistryProblems } from '../../../src/graph/schema/record-format.ts';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';

function parse(fields: string) {
  const text = `type Subscription {\n${fields}\n}\ntype Query { q: Int }\ntype Order { id: ID }\n${KAFKA_DIRECTIVE}`;
  return parseBindings(buildSchema(new Source(text, 'schema.graphql'), { assumeValidSDL: true }), new Set());
}

describe('record format', () => {
  it('needs a schema registry unless it is JSON, and may be said by one field of a topic', () => {
    const { bindings, problems } = parse(`
      order: Order @kafka(topic: "orders", format: AVRO)
      total: Order @kafka(topic: "orders")
      bid: Order @kafka(topic: "bids", format: PROTOBUF)
      chat: Order @kafka(topic: "chat")`);
    assert.deepEqual(problems, []);
    const fix =
      'which is not set; set it to the URL of the schema registry (for AWS Glue: npm install @aws-sdk/client-glue@3.1169.0)';
    assert.deepEqual(missingRegistryProblems(bindings.values(), ENVIRONMENT_NAMES, false), [
      `Subscription.order: format: AVRO needs SCHEMA_REGISTRY_URL, ${fix}`,
      `Subscription.bid: format: PROTOBUF needs SCHEMA_REGISTRY_URL, ${fix}`,
    ]);
    assert.deepEqual(missingRegistryProblems(bindings.values(), ENVIRONMENT_NAMES, true), []);
  });

  it('needs a schema registry for a subject, though AWS Glue is asked', () => {
    const { bindings } = parse('order: Order @kafka(topic: "orders", format: AVRO, subject: "orders-value")');
    const [problem] = missingRegistryProblems(bindings.values(), ENVIRONMENT_NAMES, true);
    assert.match(problem!, /set it to the URL of the schema registry$/);
  });

  it('refuses two formats of one topic, and names both fields', () => {
    const { problems } = parse(`
      order: Order @kafka(topic: "orders", format: AVRO)
      total: Order @kafka(topic: "orders", format: JSON)`);
    assert.deepEqual(problems, [
      'schema.graphql:4: Subscription.total: format: JSON contradicts Subscription.order, which reads the topic orders with format: AVRO; give both the same',
    ]);
  });

  it('reads a subject of bare records, which one field of a topic says', () => {
    const { bindings, problems } = parse(`
      order: Order @kafka(topic: "orders", format: AVRO, subject: "com.example.Order")
      total: Order @kafka(topic: "orders")`);
    assert.deepEqual(problems, []);
    assert.equal(bindings.get('order')?.subject, 'com.example.Order');
  });

  it('refuses a subject of records that need none, one that is no text, and two of one topic', () => {
    const needed =
      'subject is of records without a header, in Avro or Protobuf: add format: AVRO or format: PROTOBUF, or remove it';
    for (const [given, problem] of [
      ['subject: "a"', needed],
      ['format: JSON_SCHEMA, subject: "a"', needed],
      [
        'format: AVRO, subject: ""',
        'subject must be the name of a subject of the schema registry in quotes, such as "orders-value"',
      ],
    ] as const)
      assert.deepEqual(parse(`order: Order @kafka(topic: "orders", ${given})`).problems, [
        `schema.graphql:2: Subscription.order: ${problem}`,
      ]);
    const { problems } = parse(`
      order: Order @kafka(topic: "orders", format: AVRO, subject: "a")
      total: Order @kafka(topic: "orders", format: AVRO, subject: "b")`);
    assert.deepEqual(problems, [
      'schema.graphql:4: Subscription.total: subject: b contradicts Subscription.order, which reads the topic orders with subject: a; give both the same',
    ]);
  });

  for (const [given, fix] of [
    ['"AVRO"', '; write AVRO'],
    ['avro', '; did you mean "AVRO"?'],
    ['PROTO', ''],
    ['7', ''],
    ['{}', ''],
  ] as const) {
    it(`refuses format: ${given}`, () => {
      assert.deepEqual(parse(`order: Order @kafka(topic: "orders", format: ${given})`).problems, [
        `schema.graphql:2: Subscription.order: format must be one of JSON, AVRO, PROTOBUF, JSON_SCHEMA, without quotes${fix}`,
      ]);
    });
  }
});
