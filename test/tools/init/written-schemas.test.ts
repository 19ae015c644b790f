import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeSchema } from '../../../src/kafka/decoding/describers.ts';
import { connectValueType } from '../../../src/kafka/decoding/connect/connect-value-types.ts';
import { MergedTypes } from '../../../src/kafka/decoding/merged-types.ts';
import type { SchemaReference } from '../../../src/kafka/decoding/decoder.ts';
import type { SchemaType } from '../../../src/kafka/decoding/schema-registry.ts';
import type { ValueType } from '../../../src/kafka/decoding/value-type.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { inferGraph } from '../../../src/tools/init/inferred-graph.ts';
import { payloadNames } from '../../../src/tools/init/seen-topic.ts';
import { schemaText } from '../../../src/tools/init/schema-text.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';

type Written = readonly [schema: unknown, sdl: string, payloads?: readonly Readonly<Record<string, unknown>>[]];

const record = (fields: unknown, name = 'Row') => ({ type: 'record', name, fields });
const field = (name: string, type: unknown, more = {}) => ({ name, type, ...more });
const connect = (name: string, type: unknown) => ({ type, 'connect.name': name });

/** What is written of the type of a topic's payloads, and below it. */
const AVRO: Readonly<Record<string, Written>> = {
  'scalars, of which those that can be NaN are nullable': [
    record(['int', 'long', 'float', 'double', 'boolean', 'string', 'bytes'].map((type) => field(`${type}Value`, type))),
    `type Row {
  int_value: Int!
  long_value: BigInt!
  float_value: Float
  double_value: Float
  boolean_value: Boolean!
  string_value: String!
  # bytes in base64
  bytes_value: String!
}`,
  ],
  'ids, which keep all digits as ID': [
    record([
      field('id', 'long'),
      field('customerId', ['null', 'int']),
      field('lineIds', { type: 'array', items: 'string' }),
    ]),
    `type Row {
  id: ID!
  customer_id: ID
  line_ids: [ID!]!
}`,
  ],
  'unions with null, of numbers, and of several kinds': [
    record([
      field('note', ['null', 'string']),
      field('count', ['int', 'long']),
      field('rate', ['null', 'long', 'double']),
      field('any', ['string', 'int']),
      field('all', ['string', { type: 'array', items: 'int' }]),
    ]),
    `type Row {
  note: String
  count: BigInt!
  rate: Float
  # values of several kinds: text, int
  any: String!
  # values of several kinds: text, list
  all: JSON!
}`,
  ],
  'logical types': [
    record([
      field('price', { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 }),
      field('noDecimal', { type: 'bytes', logicalType: 'decimal' }),
      field('placedAt', { type: 'long', logicalType: 'timestamp-micros' }),
      field('day', { type: 'int', logicalType: 'date' }),
      field('clock', ['null', { type: 'int', logicalType: 'time-millis' }]),
      field('uid', { type: 'string', logicalType: 'uuid' }),
    ]),
    `type Row {
  # a decimal with all its digits
  price: String!
  # bytes in base64
  no_decimal: String!
  # an ISO 8601 time
  placed_at: String
  # a day of ISO 8601
  day: String
  # a time of day of ISO 8601
  clock: String
  uid: String!
}`,
  ],
  'types that Kafka Connect names': [
    record([
      field('at', connect('io.debezium.time.MicroTimestamp', 'long')),
      field('doc', connect('io.debezium.data.Json', 'string')),
      field('mood', {
        ...connect('io.debezium.data.Enum', 'string'),
        'connect.parameters': { allowed: 'sad,happy' },
      }),
      field('year', connect('io.debezium.time.Year', 'int')),
    ]),
    `type Row {
  # an ISO 8601 time
  at: String
  doc: JSON
  mood: RowMood
  year: Int!
}

enum RowMood {
  sad
  happy
}`,
  ],
  'enums, each once, and those that GraphQL cannot have': [
    record([
      field('status', { type: 'enum', name: 'shop.OrderStatus', doc: 'Of an order.', symbols: ['PLACED', 'paid'] }),
      field('former', ['null', 'shop.OrderStatus']),
      field('flag', { type: 'enum', name: 'Flag', symbols: ['true', 'false'] }),
    ]),
    `type Row {
  status: OrderStatus
  former: OrderStatus
  # one of "true", "false": an enum of GraphQL cannot have each of them
  flag: String
}

"""Of an order."""
enum OrderStatus {
  PLACED
  paid
}`,
  ],
  'lists of lists, maps, and records by their names': [
    record([
      field('grid', { type: 'array', items: { type: 'array', items: ['null', 'double'] } }),
      field('prices', { type: 'map', values: 'long' }),
      field('lines', { type: 'array', items: record([field('sku', 'string')], 'Line') }),
      field('first', ['null', 'Line']),
      field('value', record([field('a', 'int')], 'Value')),
    ]),
    `type Row {
  grid: [[Float]!]!
  # an object whose keys are data
  prices: JSON!
  lines: [Line!]!
  first: Line
  value: RowValue!
}

type Line {
  sku: String!
}

type RowValue {
  a: Int!
}`,
  ],
  'a record that contains itself': [
    record([
      field('name', 'string'),
      field('children', { type: 'array', items: 'Row' }),
      field('parent', ['null', 'Row']),
    ]),
    `type Row {
  name: String!
  children: [Row!]!
  parent: Row
}`,
  ],
  'docs, also with quotes, backslashes and several lines': [
    {
      ...record([
        field('a', 'int', { doc: 'In cents.' }),
        field('b', 'int', { doc: ' Says """why""" \\\n\n  and "how" ' }),
        field('c', 'int', { doc: 'ends with a \\' }),
        field('d', 'int', { doc: '  ' }),
        field('e', 'int', { doc: 'hidden \u202e' }),
      ]),
      doc: 'A row.',
    },
    String.raw`"""A row."""
type Row {
  """In cents."""
  a: Int!
  """
  Says \"""why\""" \

  and "how"
  """
  b: Int!
  """
  ends with a \
  """
  c: Int!
  d: Int!
  """hidden \u202e"""
  e: Int!
}`,
  ],
  'names as crier converts them, and those that GraphQL cannot have': [
    record([field('orderId', 'int'), field('order_id', 'string'), field('line1', 'int'), field('__secret', 'int')]),
    `type Row {
  order_id: ID!
  line_1: Int!
  # Left out, because GraphQL has no such names: "__secret"
}`,
  ],
  'a branch of records beside others: what only some have is nullable': [
    record([
      field('event', [
        record([field('id', 'string'), field('total', 'int'), field('at', 'long')], 'Placed'),
        record([field('id', 'string'), field('total', 'long')], 'Paid'),
      ]),
    ]),
    `type Row {
  event: Placed!
}

type Placed {
  id: ID!
  total: BigInt!
  at: BigInt
}`,
  ],
};

const PROTOBUF: Readonly<Record<string, Written>> = {
  'scalars without presence, which are always there; messages, oneofs and optional ones, which are not': [
    `syntax = "proto3";
     import "google/protobuf/timestamp.proto";
     import "google/protobuf/wrappers.proto";
     import "google/protobuf/struct.proto";
     // An order.
     message Row {
       // In cents.
       int32 total_cents = 1;
       uint32 big = 2;
       sint64 bigger = 3;
       double rate = 4;
       bool is_paid = 5;
       string name = 6;
       bytes raw = 7;
       optional int32 maybe = 8;
       oneof how { string card = 9; int32 cash = 10; }
       Status status = 11;
       repeated Line lines = 12;
       repeated float rates = 13;
       map<string, Line> by_sku = 14;
       google.protobuf.Timestamp at = 15;
       google.protobuf.Int64Value wrapped = 16;
       google.protobuf.Struct data = 17;
       Line first = 18;
       enum Status { OPEN = 0; CLOSED = 1; }
       message Line { string sku = 1; Row order = 2; }
     }`,
    `"""An order."""
type Row {
  """In cents."""
  total_cents: Int!
  big: BigInt!
  bigger: BigInt!
  rate: Float
  is_paid: Boolean!
  name: String!
  # bytes in base64
  raw: String!
  maybe: Int
  card: String
  cash: Int
  status: Status
  lines: [Line!]!
  rates: [Float]!
  # an object whose keys are data
  by_sku: JSON!
  # an ISO 8601 time
  at: String
  wrapped: BigInt
  # an object whose keys are data
  data: JSON
  first: Line
}

type Line {
  sku: String!
  order: Row
}

enum Status {
  OPEN
  CLOSED
}`,
  ],
};

const JSON_SCHEMA: Readonly<Record<string, Written>> = {
  'nothing is required, because nobody is held to it; an integer without bounds is as the records have it': [
    {
      type: 'object',
      required: ['id', 'total'],
      properties: {
        id: { type: 'string', description: 'Of the order.' },
        total: { type: 'integer' },
        small: { type: 'integer', minimum: 0, maximum: 100 },
        long: { type: 'integer', 'connect.type': 'int64' },
        rate: { type: ['number', 'null'] },
        at: { type: 'string', format: 'date-time' },
        status: { title: 'Status', enum: ['OPEN', 'CLOSED'] },
        lines: { type: 'array', items: { $ref: '#/$defs/Line' } },
        maybe: { oneOf: [{ type: 'null' }, { $ref: '#/$defs/Line' }] },
        tags: { type: 'object', additionalProperties: { type: 'string' } },
        unsaid: {},
      },
      $defs: {
        Line: { title: 'Line', type: 'object', properties: { sku: { type: 'string' }, of: { $ref: '#/$defs/Line' } } },
      },
    },
    `type Row {
  """Of the order."""
  id: ID!
  total: Float
  small: Int
  long: BigInt
  rate: Float
  # an ISO 8601 time
  at: String
  status: Status
  lines: [Line]
  maybe: Line
  # an object whose keys are data
  tags: JSON
  unsaid: Boolean
}

type Line {
  sku: String
  of: Line
}

enum Status {
  OPEN
  CLOSED
}`,
    [{ id: 'a', total: 1.5, unsaid: true }],
  ],
};

const CONNECT: Readonly<Record<string, Written>> = {
  'structs, optional fields, arrays and maps': [
    {
      type: 'struct',
      name: 'db.rows.Value',
      fields: [
        { field: 'id', type: 'int64' },
        { field: 'small', type: 'int16', doc: 'Of the column.' },
        { field: 'big', type: 'int64', optional: true },
        { field: 'price', type: 'bytes', name: 'org.apache.kafka.connect.data.Decimal', parameters: { scale: '2' } },
        { field: 'tags', type: 'array', items: { type: 'string', optional: true } },
        { field: 'map', type: 'map', keys: { type: 'string' }, values: { type: 'int32' }, optional: true },
        { field: 'address', type: 'struct', name: 'db.Address', fields: [{ field: 'zipCode', type: 'string' }] },
      ],
    },
    `type Row {
  id: ID!
  """Of the column."""
  small: Int!
  big: BigInt
  # a decimal with all its digits
  price: String
  tags: [String]!
  # an object whose keys are data
  map: JSON
  address: Address!
}

type Address {
  zip_code: String!
}`,
  ],
};

/** The written types, without the header, the subscription and scalars. The graph loads without a warning. */
async function written(
  t: Parameters<typeof graphFolder>[0],
  type: ValueType,
  payloads: readonly Readonly<Record<string, unknown>>[] = [{}],
): Promise<string> {
  const records = payloads.map((payload) => ({ key: undefined, value: payload, payload }));
  const text = schemaText(inferGraph('rows', { records, envelope: undefined, type }), 'records');
  const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
  assert.deepEqual(graph.warnings, [], text);
  const types = text.slice(text.indexOf('\n}\n') + 3, text.search(/\n"[^"]*"\nscalar|$(?![^])/));
  return types.trim();
}

describe('crier init, of what a schema says', () => {
  const described = async (type: SchemaType, schema: unknown, references: readonly SchemaReference[] = []) => {
    const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
    return describeSchema({ type, text, references }, payloadNames);
  };

  for (const [type, cases] of [
    ['AVRO', AVRO],
    ['PROTOBUF', PROTOBUF],
    ['JSON', JSON_SCHEMA],
  ] as const) {
    for (const [name, [schema, sdl, payloads]] of Object.entries(cases)) {
      it(`${type}: ${name}`, async (t) => {
        assert.equal(await written(t, await described(type, schema), payloads), sdl);
      });
    }
  }

  for (const [name, [schema, sdl]] of Object.entries(CONNECT)) {
    it(`Kafka Connect: ${name}`, async (t) => {
      assert.equal(await written(t, connectValueType(schema, payloadNames)), sdl);
    });
  }

  it('merges the versions of a schema: what only one has is nullable, and larger types win', async (t) => {
    const versions = [
      record([field('id', 'int'), field('total', 'int'), field('old', 'string'), field('self', ['null', 'Row'])]),
      record([field('id', 'int'), field('total', 'long'), field('fresh', 'string'), field('self', ['null', 'Row'])]),
    ];
    const types = await Promise.all(versions.map((version) => described('AVRO', version)));
    assert.equal(
      await written(t, new MergedTypes().of(types)),
      `type Row {
  id: ID!
  total: BigInt!
  old: String
  self: Row
  fresh: String
}`,
    );
  });

  it('follows references', async (t) => {
    const line = { name: 'shop.Line', text: JSON.stringify(record([field('sku', 'string')], 'shop.Line')) };
    const type = await described('AVRO', record([field('line', 'shop.Line')]), [line]);
    assert.equal(await written(t, type), 'type Row {\n  line: Line!\n}\n\ntype Line {\n  sku: String!\n}');
  });
});
