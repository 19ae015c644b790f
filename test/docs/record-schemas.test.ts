import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import avsc from 'avsc';
import protobuf from 'protobufjs';
import { defineGraph } from '../../src/library/crier.ts';
import { startGraph } from '../../src/library/testing.ts';
import { snakeCaseName } from '../../src/base/json/key-naming.ts';
import { compileAvro } from '../../src/kafka/decoding/avro/avro.ts';
import type { DecoderOptions } from '../../src/kafka/decoding/decoder.ts';
import { compileProtobuf } from '../../src/kafka/decoding/protobuf/protobuf.ts';

const graph = defineGraph({
  schema: `
    enum Status { NEW PAID }
    type Order {
      status: Status
      status_text: String
      note: String
      note_required: String!
      total: Int
      total_float: Float
      total_text: String
    }
    type Subscription { order: Order @kafka(topic: "orders") }`,
});

const options: DecoderOptions = {
  nameOf: snakeCaseName,
  shape: graph.shapes.get('orders')!,
  limits: { maxBytes: 100_000, maxDepth: 20 },
  onOverflow: () => undefined,
};

/** The payload of a record of Avro. @param fields of its schema */
function ofAvro(value: object, ...fields: readonly object[]): Record<string, unknown> {
  const schema = { type: 'record', name: 'Order', fields };
  const bytes = avsc.Type.forSchema(schema as avsc.Schema, { wrapUnions: 'always' }).toBuffer(value);
  return compileAvro(JSON.stringify(schema), [], options).decode(bytes);
}

/** The same of Protobuf. @param written the fields of the schema that wrote it. Default: that which the registry has */
function ofProtobuf(value: object, fields: string, written = fields): Record<string, unknown> {
  const schemaOf = (body: string) => `syntax = "proto3"; message Order { ${body} } enum Status { NEW = 0; PAID = 1; }`;
  const type = protobuf.parse(schemaOf(written), { keepCase: true }).root.lookupType('Order');
  const bytes = type.encode(type.fromObject(value)).finish();
  return compileProtobuf(schemaOf(fields), [], options).decode(Buffer.concat([Buffer.of(0), bytes]));
}

const STATUS = { type: 'enum', name: 'Status', symbols: ['NEW', 'PAID', 'SHIPPED'] };
const DECIMAL = { type: 'bytes', logicalType: 'decimal', precision: 6, scale: 2 };
const CENTS_1250 = Buffer.from([0x04, 0xe2]);

/** By the first cell of its row in docs/operate/record-schemas.md: a record after the change, and the field that a client selects. */
const RECORDS: Readonly<Record<string, readonly [payload: Record<string, unknown>, field: string]>> = {
  // Each record is read by the schema that wrote it.
  'no such field yet, whatever default it has in a newer schema': [
    ofAvro({ total: 1 }, { name: 'total', type: 'int' }),
    'note',
  ],
  'a field of proto3 that is not set': [ofProtobuf({}, 'string note = 1;'), 'note'],
  'the same with `optional`': [ofProtobuf({}, 'optional string note = 1;'), 'note'],
  'a field that was removed': [ofProtobuf({ total: 1 }, 'int32 total = 2;'), 'note'],
  'the same, where the graph has it as non-null': [ofProtobuf({ total: 1 }, 'int32 total = 2;'), 'note_required'],
  'a field that was renamed, with an alias of Avro': [
    ofAvro({ remark: 'a' }, { name: 'remark', type: 'string', aliases: ['note'] }),
    'note',
  ],
  'a field that was renamed, with the number of Protobuf': [ofProtobuf({ remark: 'a' }, 'string remark = 1;'), 'note'],
  'a symbol that was added, where the graph has an enum': [
    ofAvro({ status: 'SHIPPED' }, { name: 'status', type: STATUS }),
    'status',
  ],
  'the same, where the graph has a String': [
    ofAvro({ statusText: 'SHIPPED' }, { name: 'statusText', type: STATUS }),
    'status_text',
  ],
  'a value of Protobuf that the registered schema does not have': [
    ofProtobuf({ status: 7 }, 'Status status = 1;'),
    'status',
  ],
  'an `int` that is now a `long`, beyond 32 bits, where the graph has an Int': [
    ofAvro({ total: 2 ** 40 }, { name: 'total', type: 'long' }),
    'total',
  ],
  'the same, where the graph has a Float': [
    ofAvro({ totalFloat: 2 ** 40 }, { name: 'totalFloat', type: 'long' }),
    'total_float',
  ],
  'a field that is now a union with null': [
    ofAvro({ note: { string: 'a' } }, { name: 'note', type: ['null', 'string'] }),
    'note',
  ],
  'a number that is now a decimal, where the graph has a Float': [
    ofAvro({ totalFloat: CENTS_1250 }, { name: 'totalFloat', type: DECIMAL }),
    'total_float',
  ],
  'a number that is now a decimal, where the graph has a String': [
    ofAvro({ totalText: CENTS_1250 }, { name: 'totalText', type: DECIMAL }),
    'total_text',
  ],
  'a number that is now a text': [ofAvro({ total: 'many' }, { name: 'total', type: 'string' }), 'total'],
};

/** Rows of the table about records, by their first cell: what the field reads. */
function rowsOfPage(): ReadonlyMap<string, string> {
  const [, table = ''] = readFileSync('docs/operate/record-schemas.md', 'utf8').split(
    /^\| the record has +\|.*\n\|.*\n/m,
  );
  const rows = table
    .trim()
    .split(/\n(?!\|)/, 1)[0]!
    .split('\n');
  return new Map(
    rows.map((row) => row.split('|').map((cell) => cell.trim())).map(([, title, reads]) => [title!, reads!]),
  );
}

describe('docs/operate/record-schemas.md', async () => {
  const served = await startGraph(graph);
  after(() => served.close());
  const rows = rowsOfPage();

  it('lists each change', () => {
    assert.deepEqual([...rows.keys()].sort(), Object.keys(RECORDS).sort());
  });

  for (const [title, [payload, field]] of Object.entries(RECORDS)) {
    it(`says what a client reads of ${title}`, async () => {
      const events = await served.subscribe(`subscription { order { value: ${field} } }`);
      await served.publish('orders', payload);
      const { value: result } = await events.next();
      const { order } = result!.data as { order: { value: unknown } | null };
      const read = order === null ? 'the whole object is `null`' : `\`${JSON.stringify(order.value)}\``;
      assert.equal(rows.get(title), read + (result!.errors ? ', with an error' : ''));
      await events.return();
    });
  }
});
