import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor.js';
import type { IFileDescriptorProto } from 'protobufjs/ext/descriptor.js';
import type { SchemaReference } from '../../../../src/kafka/decoding/decoder.ts';
import { compileProtobuf } from '../../../../src/kafka/decoding/protobuf/protobuf.ts';
import { decoderOptions, keep } from '../schema-decoders.ts';

type Options = Parameters<typeof decoderOptions>[0] & { readonly references?: readonly SchemaReference[] };

const GOOGLE = ['any', 'duration', 'empty', 'field_mask', 'struct', 'timestamp', 'wrappers']
  .map((name) => `import "google/protobuf/${name}.proto";`)
  .join('\n');
const FIRST = Buffer.of(0);

function compile(schema: string, { references = [], ...options }: Options = {}) {
  const decoding = decoderOptions(options);
  const decoder = compileProtobuf(schema, references, decoding);
  const decode = (bytes: Buffer) => decoder.decode(bytes);
  return { fields: decoder.fields, decode, overflows: decoding.overflows };
}

const proto3 = (body: string) => `syntax = "proto3"; package shop; ${GOOGLE} message Order { ${body} }`;

/** Bytes of the message Order, as protobufjs writes it, after the index of the first message. */
function encoded(schema: string, value: object): Buffer {
  const root = new protobuf.Root();
  const { imports = [] } = protobuf.parse(schema, root, { keepCase: true });
  for (const path of imports) root.addJSON(protobuf.common.get(path)!.nested!);
  const type = root.lookupType('Order');
  return Buffer.concat([FIRST, type.encode(type.fromObject(value)).finish()]);
}

function decoded(schema: string, value: object, options?: Options): Record<string, unknown> {
  return compile(schema, options).decode(encoded(schema, value));
}

function base64(file: IFileDescriptorProto): string {
  return Buffer.from(descriptor.FileDescriptorProto.encode(file).finish()).toString('base64');
}

/** As JSON has it: without keys that are undefined. */
const printed = (payload: unknown) => JSON.parse(JSON.stringify(payload)) as unknown;
const first = (...bytes: (number | Buffer)[]) =>
  Buffer.concat([FIRST, ...bytes.map((part) => (typeof part === 'number' ? Buffer.of(part) : part))]);

describe('compileProtobuf', () => {
  const ENTRY = (name: string, rest = '') =>
    `message ${name} { option map_entry = true; string key = 1; ${rest || 'int32 value = 2;'} }`;
  const item = (field: number, key: string) => [field * 8 + 2, 5, 0x0a, 1, Buffer.from(key), 0x10, 3];

  it('reads a map whose entries are messages by its very entry, and not by another message of the name', () => {
    const schema = proto3(
      `message B { message E { string key = 1; int32 value = 2; } } ${ENTRY('E')} repeated B.E x = 1; repeated E a = 2;`,
    );
    const { decode } = compile(schema);
    assert.deepEqual(printed(decode(first(...item(1, 'x'), ...item(2, 'a')))), {
      x: [{ key: 'x', value: 3 }],
      a: { a: 3 },
    });
  });

  const lists: readonly (readonly [what: string, body: string])[] = [
    ['is used twice', `${ENTRY('E')} repeated E a = 2; repeated E b = 3;`],
    ['another message uses, too', `${ENTRY('E')} repeated E a = 2; message Other { repeated Order.E b = 1; }`],
    ['has its value inside', `${ENTRY('E', 'enum Of { NONE = 0; ONE = 3; } Of value = 2;')} repeated E a = 2;`],
    ['has no key of a map', `message E { option map_entry = true; bytes key = 1; int32 value = 2; } repeated E a = 2;`],
    ['has several values', `${ENTRY('E', 'repeated int32 value = 2;')} repeated E a = 2;`],
  ];
  for (const [what, body] of lists) {
    it(`leaves a list of messages that could be a map, but whose entry ${what}, as it is`, () => {
      const { a } = printed(compile(proto3(body)).decode(first(...item(2, 'k')))) as { a: unknown };
      assert.ok(Array.isArray(a), JSON.stringify(a));
      assert.equal(a.length, 1);
    });
  }

  it('names the fields of messages, and keeps the keys of maps', () => {
    const schema = proto3(`
      message Line { int32 unitPrice = 1; }
      string orderId = 1; repeated Line order_lines = 2; map<string, Line> byMail = 3; map<int64, bool> byNumber = 4;`);
    const value = {
      orderId: 'a',
      order_lines: [{ unitPrice: 1 }, {}],
      byMail: { 'Ann.Lee@x.com': { unitPrice: 2 } },
      byNumber: { 7: true },
    };
    assert.equal(
      JSON.stringify(decoded(schema, value)),
      '{"order_id":"a","order_lines":[{"unit_price":1},{"unit_price":0}],' +
        '"by_mail":{"Ann.Lee@x.com":{"unit_price":2}},"by_number":{"7":true}}',
    );
    assert.deepEqual(printed(decoded(schema, value, { nameOf: keep })), {
      ...value,
      order_lines: [{ unitPrice: 1 }, { unitPrice: 0 }],
    });
  });

  it('gives a field without presence its zero value, and leaves out one with presence', () => {
    const schema = proto3(`
      enum State { NEW = 0; PAID = 1; } message Line {}
      int32 a = 1; string b = 2; bool c = 3; bytes d = 4; double e = 5; int64 f = 6; State g = 7; repeated int32 h = 8;
      map<string, int32> i = 9; optional int32 j = 10; Line k = 11; oneof l { int32 m = 12; string n = 13; }
      google.protobuf.Timestamp o = 14; google.protobuf.Int64Value p = 15;`);
    const { decode } = compile(schema);
    assert.equal(JSON.stringify(decode(FIRST)), '{"a":0,"b":"","c":false,"d":"","e":0,"f":0,"g":"NEW","h":[],"i":{}}');
    const set = printed(decoded(schema, { j: 0, k: {}, m: 0, o: {}, p: {} })) as object;
    assert.deepEqual(Object.entries(set).slice(9), [
      ['j', 0],
      ['k', {}],
      ['m', 0],
      ['o', '1970-01-01T00:00:00Z'],
      ['p', 0],
    ]);
  });

  it('reads proto2: required, optional, groups, and enums without a zero', () => {
    const schema = `syntax = "proto2"; message Order {
      enum State { PAID = 1; } required string id = 1; optional State state = 2 [default = PAID];
      repeated group Line = 3 { optional int32 unitPrice = 1; } optional group Address = 4 { optional string city = 1; } }`;
    const { decode } = compile(schema);
    assert.deepEqual(printed(decode(FIRST)), { line: [] });
    const bytes = first(0x0a, 1, 0x61, 0x10, 1, 0x1b, 0x08, 5, 0x1c, 0x1b, 0x1c, 0x23, 0x0a, 1, 0x62, 0x24);
    assert.deepEqual(printed(decode(bytes)), {
      id: 'a',
      state: 'PAID',
      line: [{ unit_price: 5 }, {}],
      address: { city: 'b' },
    });
  });

  it('reads every scalar, at its bounds', () => {
    const types = [
      'int32',
      'sint32',
      'sfixed32',
      'uint32',
      'fixed32',
      'int64',
      'sint64',
      'sfixed64',
      'uint64',
      'fixed64',
    ];
    const schema = proto3(types.map((type, i) => `${type} ${type}_v = ${i + 1};`).join(' '));
    const value = (i: number, u: number, l: string, ul: string) =>
      Object.fromEntries(
        types.map((type) => [
          `${type}_v`,
          /64/.test(type) ? (/^[uf]/.test(type) ? ul : l) : /^[uf]/.test(type) ? u : i,
        ]),
      );
    const bounds = [
      value(-(2 ** 31), 2 ** 32 - 1, String(-(2n ** 63n)), String(2n ** 64n - 1n)),
      value(2 ** 31 - 1, 1, String(2n ** 63n - 1n), String(2n ** 53n)),
      value(-1, 0, String(-(2n ** 53n)), String(2n ** 63n)),
    ];
    const names = types.map((type) => `${type}_v`);
    for (const bound of bounds) {
      const payload = decoded(schema, bound, { nameOf: keep });
      assert.deepEqual(
        names.map((name) => payload[name]),
        names.map((name) => bound[name]),
      );
    }
    const safe = decoded(schema, value(-5, 5, '-9007199254740991', '9007199254740991'), { nameOf: keep });
    assert.deepEqual(
      names.slice(5).map((name) => safe[name]),
      [-9007199254740991, -9007199254740991, -9007199254740991, 9007199254740991, 9007199254740991],
    );
  });

  it('reads floats as short numbers, and those that JSON cannot print as null, which it counts', () => {
    const schema = proto3('float a = 1; double b = 2;');
    assert.deepEqual(decoded(schema, { a: 0.1, b: 0.1 }), { a: 0.1, b: 0.1 });
    const { decode, overflows } = compile(schema);
    assert.deepEqual(decode(encoded(schema, { a: Infinity, b: NaN })), { a: null, b: null });
    assert.equal(overflows.count, 2);
  });

  it('reads enums as names, and numbers that the schema does not know as numbers', () => {
    const schema = proto3(
      'enum State { option allow_alias = true; NEW = 0; PAID = 1; PAYED = 1; } repeated State v = 1;',
    );
    assert.deepEqual(compile(schema).decode(first(0x0a, 3, 0, 1, 9)), { v: ['NEW', 'PAID', 9] });
  });

  it('reads lists of numbers in either form', () => {
    for (const schema of [proto3('repeated int32 v = 1;'), proto3('repeated int32 v = 1 [packed = false];')]) {
      assert.deepEqual(compile(schema).decode(first(0x08, 1, 0x0a, 2, 2, 3, 0x08, 4)), { v: [1, 2, 3, 4] });
    }
  });

  it('merges a message that comes twice, and keeps the last field of a oneof', () => {
    const schema = proto3(
      'message A { int32 x = 1; repeated int32 y = 2; } A a = 1; oneof one { A b = 2; string c = 3; int32 d = 4; }',
    );
    const bytes = first(0x0a, 4, 0x08, 1, 0x10, 2, 0x0a, 2, 0x10, 3, 0x1a, 1, 0x61, 0x12, 2, 0x08, 7);
    assert.deepEqual(printed(compile(schema).decode(bytes)), { a: { x: 1, y: [2, 3] }, b: { x: 7, y: [] } });
  });

  it('keeps the last field of a oneof in a message that comes twice', () => {
    const { decode } = compile(proto3('message A { oneof one { int32 x = 1; int32 y = 2; A z = 3; } } A a = 1;'));
    const field = (...bytes: number[]) => [0x0a, bytes.length, ...bytes];
    const last = (...bytes: number[]) => printed(decode(first(...bytes)));
    assert.deepEqual(last(...field(0x08, 1), ...field(0x10, 2)), { a: { y: 2 } });
    assert.deepEqual(last(...field(0x08, 1, 0x10, 2, 0x08, 3)), { a: { x: 3 } });
    assert.deepEqual(last(...field(0x1a, 2, 0x08, 1), ...field(0x1a, 2, 0x10, 2)), { a: { z: { y: 2 } } });
    assert.deepEqual(last(...field(0x1a, 0), ...field(0x08, 1)), { a: { x: 1 } });
  });

  it('skips unknown fields of every wire type, and known ids of another wire type', () => {
    const { decode } = compile(proto3('string v = 1;'));
    const unknown = [
      0x50,
      0xff,
      1,
      0x51,
      ...Array<number>(8).fill(1),
      0x52,
      2,
      1,
      1,
      0x53,
      0x53,
      0x08,
      1,
      0x54,
      0x54,
      0x55,
      1,
      1,
      1,
      1,
      0x08,
      5,
    ];
    assert.deepEqual(decode(first(...unknown, 0x0a, 1, 0x61)), { v: 'a' });
  });

  it('reads times and durations as text, and as milliseconds where a number is read', () => {
    const schema = proto3(
      'google.protobuf.Timestamp at = 1; google.protobuf.Duration took = 2; repeated google.protobuf.Timestamp all = 3;',
    );
    const value = {
      at: { seconds: 1795485670, nanos: 120_000_000 },
      took: { seconds: -1, nanos: -5000 },
      all: [{ seconds: 1 }],
    };
    assert.deepEqual(decoded(schema, value), {
      at: '2026-11-24T02:01:10.120Z',
      took: '-1.000005s',
      all: ['1970-01-01T00:00:01Z'],
    });
    assert.deepEqual(decoded(schema, value, { kinds: { at: 'number', took: 'number', all: 'number' } }), {
      at: 1795485670120,
      took: -1000.005,
      all: [1000],
    });
    const { decode, overflows } = compile(schema);
    assert.equal(decode(encoded(schema, { at: { seconds: '9223372036854775807' } }))['at'], null);
    assert.equal(overflows.count, 1);
  });

  it('reads wrappers as their bare values', () => {
    const names = ['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'];
    const schema = proto3(names.map((name, i) => `google.protobuf.${name}Value ${name}_v = ${i + 1};`).join(' '));
    const values = [1.5, 0.1, -1, '18446744073709551615', -7, 7, true, 'text', 'AQ=='];
    const value = Object.fromEntries(names.map((name, i) => [`${name}_v`, { value: values[i] }]));
    assert.deepEqual(Object.values(decoded(schema, value)), values);
  });

  it('reads Struct, Value, ListValue, FieldMask and Empty as their JSON', () => {
    const schema = proto3(`google.protobuf.Struct s = 1; google.protobuf.Value v = 2; google.protobuf.ListValue l = 3;
      google.protobuf.FieldMask m = 4; google.protobuf.Empty e = 5; google.protobuf.NullValue n = 6;`);
    const struct = {
      fields: {
        'Ann.Lee@x.com': { numberValue: 1.5 },
        list: { listValue: { values: [{ nullValue: 0 }, { boolValue: true }, { structValue: {} }] } },
      },
    };
    assert.deepEqual(
      decoded(schema, { s: struct, v: { stringValue: 'x' }, l: { values: [{}] }, m: { paths: ['a_b.c', 'd'] }, e: {} }),
      { s: { 'Ann.Lee@x.com': 1.5, list: [null, true, {}] }, v: 'x', l: [null], m: 'aB.c,d', e: {}, n: null },
    );
  });

  it('reads Any as the message with its type, and as base64 if the schema does not have it', () => {
    const schema = proto3('message Line { int32 unitPrice = 1; string type = 2; } google.protobuf.Any v = 1;');
    const any = (url: string, value: Buffer) => decoded(schema, { v: { type_url: url, value } })['v'];
    const line = Buffer.of(0x08, 5);
    assert.deepEqual(any('type.googleapis.com/shop.Order.Line', line), { type: '', unit_price: 5 });
    assert.deepEqual(decoded(schema, { v: { type_url: 'x/shop.Order.Line', value: line } }, { nameOf: keep })['v'], {
      '@type': 'x/shop.Order.Line',
      unitPrice: 5,
      type: '',
    });
    assert.deepEqual(any('x/google.protobuf.Duration', line), { type: 'x/google.protobuf.Duration', value: '5s' });
    for (const url of ['x/shop.None', '', 'constructor', 'x/__proto__', 'shop']) {
      assert.deepEqual(any(url, line), { type: url, value: 'CAU=' });
    }
  });

  it('finds the message by the indexes before its bytes', () => {
    const schema = `syntax = "proto3"; package shop; enum E { Z = 0; }
      message A { int32 a = 1; message B { int32 b = 1; } enum X { Y = 0; } message C { int32 c = 1; message D { int32 d = 1; } } }
      service S {} message Z { int32 z = 1; }`;
    const { decode } = compile(schema);
    const value = [0x08, 1];
    for (const [indexes, key] of [
      [[0], 'a'],
      [[2, 0], 'a'],
      [[2, 2], 'z'],
      [[4, 0, 0], 'b'],
      [[4, 0, 2], 'c'],
      [[6, 0, 2, 0], 'd'],
    ] as const) {
      assert.deepEqual(decode(Buffer.of(...indexes, ...value)), { [key]: 1 });
    }
    for (const indexes of [
      [2, 4],
      [4, 2, 0],
      [2, 1],
      [1, 0],
      [4, 0, 1],
      [8, 0, 2, 0, 0],
      [0xff, 0xff, 0xff, 0xff, 0x0f],
      [],
    ]) {
      assert.throws(() => decode(Buffer.from([...indexes, ...value].slice(0, indexes.length || 0))), {
        reason: 'not_protobuf',
      });
    }
  });

  it('counts the messages of the main file only, and finds types in references', () => {
    const references = [
      { name: 'money.proto', text: 'syntax = "proto3"; package shop; message Money { int64 amountCents = 1; }' },
      {
        name: 'line.proto',
        text: 'syntax = "proto3"; package shop; import "money.proto"; message Line { Money price = 1; }',
      },
    ];
    const schema = 'syntax = "proto3"; package shop; import "line.proto"; message Order { repeated Line lines = 1; }';
    const { decode } = compile(schema, { references });
    assert.deepEqual(decode(first(0x0a, 4, 0x0a, 2, 0x08, 5)), { lines: [{ price: { amount_cents: 5 } }] });
  });

  it('reads well-known types that several files import, or that the registry has, too', () => {
    const line = `syntax = "proto3"; ${GOOGLE} message Line { google.protobuf.Timestamp at = 1; }`;
    const timestamp =
      'syntax = "proto3"; package google.protobuf; message Timestamp { int64 seconds = 1; int32 nanos = 2; }';
    const references = [
      { name: 'google/protobuf/timestamp.proto', text: timestamp },
      { name: 'line.proto', text: line },
    ];
    const schema = `syntax = "proto3"; ${GOOGLE} import "line.proto";
      message Order { google.protobuf.Timestamp at = 1; Line line = 2; }`;
    const { decode } = compile(schema, { references });
    assert.deepEqual(printed(decode(first(0x0a, 2, 0x08, 1, 0x12, 2, 0x0a, 0))), {
      at: '1970-01-01T00:00:01Z',
      line: { at: '1970-01-01T00:00:00Z' },
    });
  });

  it('reads the types that serializers of Confluent do not register', () => {
    const schema = `syntax = "proto3";
      import "google/type/money.proto"; import "google/type/datetime.proto"; import "google/type/month.proto";
      import "google/protobuf/type.proto"; import "confluent/meta.proto"; import "confluent/type/decimal.proto";
      message Order {
        google.type.Money price = 1 [(confluent.field_meta).doc = "of one"];
        google.type.DateTime at = 2;
        google.type.Month month = 3;
        google.protobuf.Type type = 4;
      }`;
    const { decode } = compile(schema);
    const bytes = first(0x0a, 7, 0x0a, 3, Buffer.from('EUR'), 0x10, 5, 0x12, 4, 0x42, 2, 0x08, 9, 0x18, 12);
    const { price, at, month } = printed(decode(bytes)) as Record<string, object>;
    assert.deepEqual(price, { currency_code: 'EUR', units: 5, nanos: 0 });
    assert.deepEqual(at, { year: 0, month: 0, day: 0, hours: 0, minutes: 0, seconds: 0, nanos: 0, utc_offset: '9s' });
    assert.equal(month, 'DECEMBER');
  });

  it("reads Confluent's decimal as the exact text of its digits, and as a number where only numbers are read", () => {
    const schema = `syntax = "proto3"; import "confluent/type/decimal.proto";
      message Order { confluent.type.Decimal total = 1; confluent.type.Decimal rate = 2; }`;
    const { decode } = compile(schema, { kinds: { rate: 'number' } });
    const decimal = (scale: readonly number[], ...digits: number[]) => [
      4 + digits.length + scale.length - 1,
      0x0a,
      digits.length,
      ...digits,
      0x18,
      ...scale,
    ];
    const total = (...bytes: number[]) => decode(first(0x0a, ...bytes))['total'];
    assert.deepEqual(decode(first(0x0a, ...decimal([2], 0x04, 0xe2), 0x12, ...decimal([1], 0xff))), {
      total: '12.50',
      rate: -0.1,
    });
    const large = decimal([0], 0x20, 0, 0, 0, 0, 0, 1);
    assert.equal(decode(first(0x0a, ...decimal([0], 1), 0x12, ...large))['rate'], '9007199254740993');
    assert.equal(total(...decimal([0x80, 0x80, 0x40], 1)), null);
    // A scale of -2.
    const minusTwo = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    assert.equal(total(...decimal(minusTwo, 7)), '700');
    assert.equal(total(...decimal(minusTwo, 0)), '0');
    assert.equal(total(0), '0');
  });

  it('reads a schema with options of its own, and with extensions of them', () => {
    const schema = `syntax = "proto3"; import "google/protobuf/descriptor.proto"; import "rules.proto";
      extend google.protobuf.FieldOptions { string owner = 50001; }
      message Order { string orderId = 1 [(owner) = "sales", (rules.pii) = true]; }`;
    const rules = `syntax = "proto3"; package rules; import "google/protobuf/descriptor.proto";
      extend google.protobuf.FieldOptions { bool pii = 50002; }`;
    const { decode, fields } = compile(schema, { references: [{ name: 'rules.proto', text: rules }] });
    assert.deepEqual(decode(first(0x0a, 1, 0x61)), { order_id: 'a' });
    assert.deepEqual(fields.keys, ['order_id']);
  });

  it('reads a schema and its references that are registered as descriptors, as by the clients of librdkafka', () => {
    const line = { name: 'unitPrice', number: 1, type: 5, label: 1 };
    const references = [
      {
        name: 'line.proto',
        text: base64({ package: 'shop', syntax: 'proto3', messageType: [{ name: 'Line', field: [line] }] }),
      },
    ];
    const field = [
      { name: 'line', number: 1, type: 11, typeName: '.shop.Line', label: 1 },
      { name: 'at', number: 2, type: 11, typeName: '.google.protobuf.Timestamp', label: 1 },
    ];
    const file = { package: 'shop', syntax: 'proto3', dependency: ['line.proto', 'google/protobuf/timestamp.proto'] };
    const { decode } = compile(base64({ ...file, messageType: [{ name: 'Order', field }] }), { references });
    assert.deepEqual(decode(first(0x0a, 2, 0x08, 5, 0x12, 2, 0x08, 1)), {
      line: { unit_price: 5 },
      at: '1970-01-01T00:00:01Z',
    });
  });

  it('reads a message that contains itself, with the kinds of each place', () => {
    const schema = proto3('google.protobuf.Timestamp at = 1; Order next = 2;');
    const { decode, fields } = compile(schema, { kinds: { 'next.at': 'number' } });
    const bytes = first(0x0a, 0, 0x12, 6, 0x0a, 0, 0x12, 2, 0x0a, 0);
    assert.deepEqual(printed(decode(bytes)), {
      at: '1970-01-01T00:00:00Z',
      next: { at: 0, next: { at: '1970-01-01T00:00:00Z' } },
    });
    assert.deepEqual(fields.at('next')?.at('next')?.keys, ['at', 'next']);
  });

  it('lists the fields of the messages that no other one contains', () => {
    const schema = `syntax = "proto3"; ${GOOGLE}
      message Line { int32 unitPrice = 1; }
      message Created { string orderId = 1; repeated Line lines = 2; google.protobuf.Struct more = 3; }
      message Deleted { string orderId = 1; google.protobuf.Timestamp deletedAt = 2; map<string, Line> byMail = 3; }`;
    const { fields } = compile(schema);
    assert.deepEqual(fields.keys, ['order_id', 'lines', 'more', 'deleted_at', 'by_mail']);
    assert.deepEqual(fields.at('lines')?.keys, ['unit_price']);
    assert.equal(fields.at('more')?.keys, undefined);
    assert.equal(fields.at('deleted_at'), undefined);
    assert.equal(fields.at('by_mail')?.keys, undefined);
    assert.deepEqual(fields.at('by_mail')?.at('any')?.keys, ['unit_price']);
  });

  it('names what is wrong with a schema', () => {
    assert.throws(() => compile('syntax = "proto3"; message Order { Money price = 1; }'), /no such.*Money/);
    assert.throws(() => compile('message {'), /illegal/);
    assert.throws(() => compile('bm8gc2NoZW1h'), /neither the text of a .proto file nor a descriptor in base64/);
    assert.throws(() => compile(base64({ syntax: 'editions' })), /a descriptor of an edition; register the text/);
    assert.throws(() => compile('syntax = "proto3"; enum E { A = 0; }'), /no message in the file/);
  });

  describe('types of Kafka Connect', () => {
    const schema = `syntax = "proto3"; import "google/type/date.proto"; import "google/type/timeofday.proto";
      message Order {
        google.type.Date day = 1; google.type.TimeOfDay opensAt = 2; optional VariableScaleDecimal total = 3;
        repeated VariableScaleDecimal totals = 4; google.type.Date read = 5;
        message VariableScaleDecimal { int32 scale = 1; bytes value = 2; }
      }`;
    const bytes = first(
      ...[0x0a, 7, 0x08, 0xea, 0x0f, 0x10, 11, 0x18, 24],
      ...[0x12, 11, 0x08, 2, 0x10, 7, 0x18, 50, 0x20, 0xc0, 0xa9, 0xd3, 0x3a],
      ...[0x1a, 6, 0x08, 2, 0x12, 2, 0x04, 0xe2],
      ...[0x22, 5, 0x08, 1, 0x12, 1, 0xf1],
    );
    const kindsOf = <Kind extends string>(kind: Kind) => ({ day: kind, opens_at: kind, total: kind, totals: kind });

    it('reads dates, times and decimals with a scale of their own as texts, also in custom scalars', () => {
      const row = { day: '2026-11-24', opens_at: '02:07:50.123', total: '12.50', totals: ['-1.5'] };
      assert.deepEqual(printed(compile(schema, { kinds: kindsOf('text') }).decode(bytes)), row);
      assert.deepEqual(printed(compile(schema, { kinds: kindsOf('custom') }).decode(bytes)), row);
    });

    it('reads numbers where only numbers are read', () => {
      const row = printed(compile(schema, { kinds: kindsOf('number') }).decode(bytes));
      assert.deepEqual(row, { day: 1_795_478_400_000, opens_at: 7_670_123, total: 12.5, totals: [-1.5] });
    });

    it('reads the messages where objects, or nothing, read them', () => {
      for (const kinds of [kindsOf('object'), {}]) {
        const { decode, fields } = compile(schema, { kinds });
        assert.deepEqual(printed(decode(bytes)), {
          day: { year: 2026, month: 11, day: 24 },
          opens_at: { hours: 2, minutes: 7, seconds: 50, nanos: 123_000_000 },
          total: { scale: 2, value: 'BOI=' },
          totals: [{ scale: 1, value: '8Q==' }],
        });
        assert.deepEqual(fields.at('day')?.keys, ['year', 'month', 'day']);
      }
      assert.equal(compile(schema, { kinds: kindsOf('text') }).fields.at('day'), undefined);
    });

    it('counts dates and times that are none, which become null', () => {
      const { decode, overflows } = compile(schema, { kinds: kindsOf('text') });
      assert.deepEqual(printed(decode(first(0x0a, 0, 0x12, 2, 0x08, 25))), { day: null, opens_at: null, totals: [] });
      const february = [0x0a, 7, 0x08, 0xea, 0x0f, 0x10, 2, 0x18, 30];
      assert.deepEqual(printed(decode(first(...february, 0x12, 2, 0x08, 24))), {
        day: null,
        opens_at: '24:00:00',
        totals: [],
      });
      assert.equal(overflows.count, 3);
    });
  });
});

describe('compileProtobuf, with hostile records', () => {
  const refuses = (schema: string, bytes: Buffer, reason = 'not_protobuf', options?: Options) => {
    assert.throws(() => compile(schema, options).decode(bytes), { name: 'UndecodableError', reason });
  };

  it('refuses truncated bytes, and ends of messages within their fields', () => {
    const schema = proto3('message A { string s = 1; repeated int64 n = 2; double d = 3; fixed32 f = 4; } A a = 1;');
    const bytes = encoded(schema, { a: { s: 'text', n: [1, 300, 2 ** 40], d: 1.5, f: 9 } });
    // The message without its last bytes, and then with its length made to fit.
    for (let end = 2; end < bytes.length; end++) refuses(schema, bytes.subarray(0, end));
    refuses(schema, first(0x0a, 2, 0x0a, 5, ...Buffer.from('hello')));
    refuses(schema, first(0x0a, 3, 0x12, 5, 1, 1, 1, 1, 1));
    refuses(schema, first(0x0a, 2, 0x19, 1, 1, 1, 1, 1, 1, 1, 1));
    refuses(schema, Buffer.alloc(0));
  });

  it('refuses lengths, tags and varints that cannot be', () => {
    const schema = proto3('string s = 1; bytes b = 2; Order o = 3; int64 n = 4;');
    for (const tag of [0x0a, 0x12, 0x1a, 0x7a]) refuses(schema, first(tag, 0xff, 0xff, 0xff, 0xff, 0x0f, 1));
    for (const tag of [0x00, 0x01, 0x05, 0x0c, 0x0e, 0x0f, 0x24]) refuses(schema, first(tag, 0, 0, 0, 0, 0, 0, 0, 0));
    refuses(schema, first(0x20, ...Array<number>(11).fill(0xff), 1));
    refuses(schema, first(0x7b, 0x7b, 0x7c));
    refuses(schema, first(0x7b, 0x74));
  });

  it('refuses a record whose keys and zero values would take more than the largest record', () => {
    const wide = Array.from({ length: 100 }, (_, i) => `int32 a_field_that_is_hardly_set_${i} = ${i + 1};`).join(' ');
    const schema = proto3(`message Wide { ${wide} } repeated Wide v = 1; map<int32, Wide> m = 2;`);
    const items = (count: number, tag: number) => first(...Array.from({ length: count }, () => Buffer.of(tag, 0)));
    assert.equal((compile(schema).decode(items(20, 0x0a))['v'] as unknown[]).length, 20);
    refuses(schema, items(40, 0x0a), 'too_large');
    refuses(schema, items(40, 0x12), 'too_large');
  });

  it('refuses names of enums and times whose text would take more than the largest record', () => {
    const name = 'A'.repeat(10_000);
    const schema = proto3(`
      enum State { ${name} = 0; } message Line { State s = 1; }
      repeated State v = 1; repeated Line w = 2; map<int32, State> m = 3;
      repeated google.protobuf.Timestamp t = 4; repeated google.protobuf.Duration d = 5;`);
    const { decode } = compile(schema);
    const items = (count: number, ...item: number[]) => Array.from({ length: count }, () => Buffer.of(...item));
    const rows: [most: number, ...item: number[]][] = [
      [9, 0x08, 0],
      [9, 0x12, 0],
      [4, 0x12, 2, 0x08, 0],
      [9, 0x1a, 0],
      [9, 0x1a, 2, 0x10, 0],
      [4000, 0x22, 0],
      [5000, 0x2a, 6, 0x08, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ];
    for (const [most, ...item] of rows) {
      assert.ok(JSON.stringify(decode(first(...items(most, ...item)))).length < 300_000, `${item.join()}`);
      refuses(schema, first(...items(5 * most, ...item)), 'too_large');
    }
    refuses(schema, first(0x0a, 20, Buffer.alloc(20)), 'too_large');
  });

  it('needs its own bound on keys: protobufjs makes all of them (twin)', () => {
    const schema = 'syntax = "proto3"; message Order { message Wide { repeated int32 a = 1; } repeated Wide v = 1; }';
    const type = protobuf.parse(schema).root.lookupType('Order');
    const bytes = Buffer.concat(Array.from({ length: 50_000 }, () => Buffer.of(0x0a, 0)));
    const message = type.toObject(type.decode(bytes), { arrays: true }) as { v: object[] };
    assert.deepEqual([message.v.length, message.v[0]], [50_000, { a: [] }]);
    refuses(schema, Buffer.concat([FIRST, bytes]), 'too_large');
  });

  it('refuses nesting beyond the limit, in messages, groups, unknown groups, Struct and Any', () => {
    const delimited = (tag: number, depth: number): Buffer => {
      let bytes = Buffer.alloc(0);
      for (let i = 0; i < depth; i++) {
        const length: number[] = [];
        for (let left = bytes.length; ; left >>>= 7) {
          if (left < 0x80) {
            length.push(left);
            break;
          }
          length.push((left & 0x7f) | 0x80);
        }
        bytes = Buffer.concat([Buffer.of(tag, ...length), bytes]);
      }
      return bytes;
    };
    const nested = proto3('Order next = 1;');
    assert.equal(JSON.stringify(compile(nested).decode(first(delimited(0x0a, 19)))).match(/{/g)!.length, 20);
    refuses(nested, first(delimited(0x0a, 20)), 'too_deep');
    refuses(nested, first(delimited(0x0a, 10_000)), 'too_deep');
    refuses(nested, first(Buffer.alloc(20_000, 0x7b)), 'too_deep');
    const group = 'syntax = "proto2"; message Order { optional group Next = 1 { optional Order order = 1; } }';
    refuses(group, first(...Array.from({ length: 10 }, () => Buffer.of(0x0b, 0x0a, 100))), 'not_protobuf');
    const list = proto3('google.protobuf.ListValue v = 1;');
    const lists = (depth: number) => {
      let bytes = Buffer.alloc(0);
      for (let i = 0; i < depth; i++) {
        const inner = Buffer.concat([Buffer.of(0x32, bytes.length), bytes]);
        bytes = Buffer.concat([Buffer.of(0x0a, inner.length), inner]);
      }
      return first(0x0a, bytes.length, bytes);
    };
    assert.equal(JSON.stringify(compile(list).decode(lists(18))), `{"v":${'['.repeat(19)}${']'.repeat(19)}}`);
    refuses(list, lists(20), 'too_deep');
    const any = proto3('google.protobuf.Any v = 1;');
    const anys = (depth: number) => {
      let bytes = Buffer.alloc(0);
      for (let i = 0; i < depth; i++) {
        const root = protobuf.parse('syntax = "proto3"; message Any { string url = 1; bytes value = 2; }').root;
        const type = root.lookupType('Any');
        bytes = Buffer.from(type.encode({ url: i === 0 ? '' : 'x/google.protobuf.Any', value: bytes }).finish());
      }
      return Buffer.concat([first(0x0a), Buffer.from(protobuf.Writer.create().bytes(bytes).finish())]);
    };
    assert.ok(compile(any).decode(anys(10)));
    refuses(any, anys(20), 'too_deep');
  });

  it('drops fields and keys named __proto__', () => {
    const schema = proto3('map<string, int32> m = 1; google.protobuf.Struct s = 2; int32 __proto__ = 3;');
    const key = Buffer.from('__proto__');
    const payload = compile(schema, { nameOf: keep }).decode(
      first(0x0a, 13, 0x0a, 9, key, 0x10, 1, 0x12, 13, 0x0a, 11, 0x0a, 9, key, 0x18, 1),
    );
    assert.equal(JSON.stringify(payload), '{"m":{},"s":{}}');
    assert.equal(Object.getPrototypeOf(payload), Object.prototype);
  });
});

describe('compileProtobuf, with hostile schemas', () => {
  it('refuses more than 4,000 fields and values in a file, for which protobufjs takes seconds', () => {
    const numbered = (count: number, of: string) =>
      Array.from({ length: count }, (_, i) => `${of}${i} = ${i};`).join(' ');
    const values = (count: number) => proto3(`enum Kind { ${numbered(count, 'K')} } Kind kind = 1;`);
    assert.ok(compile(values(3999)));
    const refusal = /^Error: more than 4000 fields and values in a file$/;
    assert.throws(() => compile(values(4000)), refusal);
    const value = Array.from({ length: 4001 }, (_, number) => ({ name: `K${number}`, number }));
    const order = { name: 'Order', enumType: [{ name: 'Kind', value }] };
    assert.throws(() => compile(base64({ syntax: 'proto3', messageType: [order] })), refusal);
  });

  it('refuses more than 20,000 fields and values in a schema and its references', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `int32 f${i} = ${i + 1};`).join(' ');
    // protobufjs takes time for each pair of fields of a message.
    const messages = Array.from({ length: 10 }, (_, i) => `message Part${i} { ${fields(399)} }`).join(' ');
    const references = Array.from({ length: 5 }, (_, i) => ({
      name: `part${i}.proto`,
      text: `syntax = "proto3"; package part${i}; ${messages}`,
    }));
    assert.ok(compile(proto3(fields(50)), { references }));
    const refusal = /^Error: more than 20000 fields and values in a schema and its references$/;
    assert.throws(() => compile(proto3(fields(51)), { references }), refusal);
  });

  it('takes names of a descriptor as they are, and none of them as code', () => {
    const evil = "a'] = 1; globalThis.injected = true; x['";
    const field = [evil, '__proto__', 'constructor'].map((name, i) => ({ name, number: i + 1, type: 5, label: 1 }));
    const schema = base64({ syntax: 'proto3', messageType: [{ name: 'Order', field }] });
    const payload = compile(schema, { nameOf: keep }).decode(first(0x08, 1, 0x10, 2, 0x18, 3));
    assert.deepEqual(Object.entries(payload), [
      [evil, 1],
      ['constructor', 3],
    ]);
    assert.equal('injected' in globalThis, false);
  });

  it('writes the reader of a oneof in the length of its fields', () => {
    const fields = Array.from({ length: 1500 }, (_, i) => `int32 f${i} = ${i + 1};`).join(' ');
    // A clearing assignment for each pair of fields would be 40 MB of source.
    assert.deepEqual(printed(compile(proto3(`oneof one { ${fields} }`)).decode(first(0x08, 7, 0x10, 8))), { f_1: 8 });
  });

  it('compiles names that are words of JavaScript, and refuses names that are no names', () => {
    const names = ['constructor', 'toString', 'toJSON', 'hasOwnProperty', 'valueOf', 'class', 'message'];
    const schema = proto3(names.map((name, i) => `int32 ${name} = ${i + 1};`).join(' '));
    const payload = compile(schema, { nameOf: keep }).decode(first(0x08, 1));
    assert.equal(JSON.stringify(payload), `{${names.map((name, i) => `"${name}":${i === 0 ? 1 : 0}`).join()}}`);
    const evil = 'a"]=1;globalThis.injected=true;x["';
    for (const text of [
      `syntax = "proto3"; message Order { int32 ${evil} = 1; }`,
      `syntax = "proto3"; message Order { int32 a = 1 [json_name = "${evil}]"]; } message ${evil} {}`,
      `syntax = "proto3"; message Order { oneof ${evil} { int32 a = 1; } }`,
    ]) {
      assert.throws(() => compile(text));
    }
    assert.equal('injected' in globalThis, false);
  });
});
