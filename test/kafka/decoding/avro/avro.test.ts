import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import avro from 'avsc';
import type { Schema } from 'avsc';
import { compileAvro } from '../../../../src/kafka/decoding/avro/avro.ts';
import type { SchemaReference } from '../../../../src/kafka/decoding/decoder.ts';
import { decoderOptions, keep } from '../schema-decoders.ts';

type Options = Parameters<typeof decoderOptions>[0] & { readonly references?: readonly SchemaReference[] };

const record = (...fields: object[]) => ({ type: 'record', name: 'Order', fields });
const field = (name: string, type: unknown) => ({ name, type });

function compile(schema: unknown, { references = [], ...options }: Options = {}) {
  const decoding = decoderOptions(options);
  const decoder = compileAvro(JSON.stringify(schema), references, decoding);
  const decode = (bytes: Buffer) => decoder.decode(bytes);
  return { fields: decoder.fields, decode, overflows: decoding.overflows };
}

/** The payload of bytes that avsc wrote. */
function decoded(schema: unknown, value: unknown, options?: Options): Record<string, unknown> {
  const bytes = avro.Type.forSchema(schema as Schema, { wrapUnions: 'always' }).toBuffer(value);
  return compile(schema, options).decode(bytes);
}

/** The value of a record with one field of the type. */
function valueOf(type: unknown, value: unknown, options?: Options): unknown {
  return decoded(record(field('v', type)), { v: value }, options)['v'];
}

/** The bytes of one value, as numbers. */
const bytesOf = (...bytes: number[]) => Buffer.from(bytes);
const zigzag = (value: bigint) => {
  const bytes: number[] = [];
  let bits = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  for (; bits >= 0x80n; bits >>= 7n) bytes.push(Number(bits & 0x7fn) | 0x80);
  return [...bytes, Number(bits)];
};
const longBytes = (value: bigint) => Buffer.from(zigzag(value));

describe('compileAvro', () => {
  it('names the fields of records once, and keeps the keys of maps', () => {
    const line = { type: 'record', name: 'Line', fields: [field('unitPrice', 'int')] };
    const schema = record(
      field('orderId', 'string'),
      field('orderLines', { type: 'array', items: line }),
      field('byMail', { type: 'map', values: 'Line' }),
    );
    const value = { orderId: 'a', orderLines: [{ unitPrice: 1 }], byMail: { 'Ann.Lee@x.com': { unitPrice: 2 } } };
    assert.equal(
      JSON.stringify(decoded(schema, value)),
      '{"order_id":"a","order_lines":[{"unit_price":1}],"by_mail":{"Ann.Lee@x.com":{"unit_price":2}}}',
    );
    assert.deepEqual(decoded(schema, value, { nameOf: keep }), value);
    assert.deepEqual(
      decoded(schema, value, { kinds: { '': 'custom' } }),
      value,
      'a custom scalar is the whole payload',
    );
    assert.deepEqual(decoded(schema, value, { kinds: { order_lines: 'custom' } }), {
      order_id: 'a',
      order_lines: [{ unitPrice: 1 }],
      by_mail: { 'Ann.Lee@x.com': { unit_price: 2 } },
    });
  });

  it('lets a field that has the wanted name win over one that is converted to it', () => {
    const schema = record(
      field('_id', 'string'),
      field('id', 'string'),
      field('fooBar', 'int'),
      field('foo_Bar', 'int'),
    );
    assert.deepEqual(decoded(schema, { _id: 'mongo', id: 'mine', fooBar: 1, foo_Bar: 2 }), { id: 'mine', foo_bar: 1 });
  });

  it('reads the bare value of the branch of a union', () => {
    const union = [
      'null',
      'long',
      'string',
      { type: 'array', items: 'int' },
      { type: 'enum', name: 'E', symbols: ['A', 'B'] },
    ];
    assert.equal(valueOf(union, null), null);
    assert.equal(valueOf(union, { long: 5 }), 5);
    assert.equal(valueOf(union, { string: 'x' }), 'x');
    assert.deepEqual(valueOf(union, { array: [1, 2] }), [1, 2]);
    assert.equal(valueOf(union, { E: 'B' }), 'B');
  });

  it('reads bytes and fixed as base64', () => {
    assert.equal(valueOf('bytes', Buffer.from('hello')), 'aGVsbG8=');
    assert.equal(valueOf({ type: 'fixed', name: 'F', size: 3 }, Buffer.from([0xff, 0, 1])), '/wAB');
  });

  it('reads a long as a number, and as a string if a double would lose digits', () => {
    const { decode } = compile(record(field('v', 'long')));
    const max = BigInt(Number.MAX_SAFE_INTEGER);
    for (const value of [0n, -1n, 63n, 64n, -64n, -65n, 2n ** 31n, -(2n ** 31n), 2n ** 32n, 2n ** 35n, max, -max]) {
      assert.equal(decode(longBytes(value))['v'], Number(value));
    }
    for (const value of [max + 1n, -max - 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      assert.equal(decode(longBytes(value))['v'], String(value));
    }
  });

  it('reads a float as its shortest number, and NaN and the infinities as null, which it counts', () => {
    assert.deepEqual(
      [0.1, 1.5, 16777216, 3.4e38, -2.5e-30].map((float) => valueOf('float', float)),
      [0.1, 1.5, 16777216, 3.4e38, -2.5e-30],
    );
    const schema = record(field('f', 'float'), field('d', 'double'));
    const { decode, overflows } = compile(schema);
    for (const value of [NaN, Infinity, -Infinity]) {
      const bytes = Buffer.alloc(12);
      bytes.writeFloatLE(value, 0);
      bytes.writeDoubleLE(value, 4);
      assert.deepEqual(decode(bytes), { f: null, d: null });
    }
    assert.equal(overflows.count, 6);
  });

  it('reads a decimal as the exact text of its digits, and as a number where only numbers are read', () => {
    const decimal = { type: 'bytes', logicalType: 'decimal', precision: 30, scale: 2 };
    const unscaled = (value: bigint) => {
      const hex = BigInt.asUintN(128, value).toString(16).padStart(32, '0');
      return Buffer.from(hex, 'hex');
    };
    for (const [value, text] of [
      [1250n, '12.50'],
      [-1n, '-0.01'],
      [0n, '0.00'],
      [123456789012345678901234567890n, '1234567890123456789012345678.90'],
    ] as const) {
      assert.equal(valueOf(decimal, unscaled(value)), text);
      assert.equal(valueOf({ ...decimal, type: 'fixed', name: 'F', size: 16 }, unscaled(value)), text);
    }
    assert.equal(valueOf(decimal, Buffer.from([0xff])), '-0.01');
    assert.equal(valueOf(decimal, Buffer.from([4, 0xe2])), '12.50');
    assert.equal(valueOf(decimal, Buffer.from([4, 0xe2]), { kinds: { v: 'number' } }), 12.5);
    assert.equal(valueOf({ type: 'bytes', logicalType: 'decimal', precision: 4 }, Buffer.from([4, 0xe2])), '1250');
    // Not valid: Avro says to ignore such a logical type.
    assert.equal(valueOf({ ...decimal, scale: 31 }, Buffer.from([1])), 'AQ==');
    assert.equal(
      valueOf({ type: 'bytes', logicalType: 'decimal', precision: 1e9, scale: 1e9 }, Buffer.from([1])),
      'AQ==',
    );
  });

  it('reads a decimal beyond a double as null where only numbers are read, which it counts', () => {
    const schema = record(field('v', { type: 'bytes', logicalType: 'decimal', precision: 2000 }));
    const { decode, overflows } = compile(schema, { kinds: { v: 'number' } });
    assert.deepEqual(decode(Buffer.concat([bytesOf(0x80 | 16, 5), Buffer.alloc(328, 0x7f)])), { v: null });
    assert.equal(overflows.count, 1);
  });

  it('reads times as ISO text, and as milliseconds where a number is read', () => {
    const ms = Date.UTC(2026, 10, 24, 2, 7, 50, 123);
    for (const [type, value, text, number] of [
      [{ type: 'long', logicalType: 'timestamp-millis' }, ms, '2026-11-24T02:07:50.123Z', ms],
      [{ type: 'long', logicalType: 'timestamp-millis' }, -1, '1969-12-31T23:59:59.999Z', -1],
      [{ type: 'long', logicalType: 'timestamp-millis' }, 0, '1970-01-01T00:00:00Z', 0],
      [{ type: 'long', logicalType: 'timestamp-micros' }, ms * 1000 + 7, '2026-11-24T02:07:50.123007Z', ms + 0.007],
      [{ type: 'long', logicalType: 'local-timestamp-millis' }, ms, '2026-11-24T02:07:50.123', ms],
      [{ type: 'long', logicalType: 'local-timestamp-micros' }, ms * 1000, '2026-11-24T02:07:50.123', ms],
      [{ type: 'int', logicalType: 'date' }, 20781, '2026-11-24', 20781 * 86_400_000],
      [{ type: 'int', logicalType: 'time-millis' }, 7_670_001, '02:07:50.001', 7_670_001],
      [{ type: 'long', logicalType: 'time-micros' }, 7_670_000_001, '02:07:50.000001', 7_670_000.001],
    ] as const) {
      assert.equal(valueOf(type, value), text);
      assert.equal(valueOf(type, value, { kinds: { v: 'custom' } }), text);
      assert.equal(valueOf(type, value, { kinds: { v: 'number' } }), number);
    }
    const nanos = compile(record(field('v', { type: 'long', logicalType: 'timestamp-nanos' })));
    assert.equal(nanos.decode(longBytes(BigInt(ms) * 1_000_000n + 9n))['v'], '2026-11-24T02:07:50.123000009Z');
    assert.equal(nanos.decode(longBytes(-1n))['v'], '1969-12-31T23:59:59.999999999Z');
  });

  it('reads a time beyond the calendar as null, which it counts', () => {
    const { decode, overflows } = compile(record(field('v', { type: 'long', logicalType: 'timestamp-millis' })));
    assert.equal(decode(longBytes(2n ** 63n - 1n))['v'], null);
    const time = compile(record(field('v', { type: 'int', logicalType: 'time-millis' })));
    assert.equal(time.decode(longBytes(86_400_000n))['v'], null);
    assert.equal(overflows.count + time.overflows.count, 2);
  });

  it('reads a uuid and a duration', () => {
    const uuid = '0123abcd-4567-89ab-cdef-0123456789ab';
    const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
    assert.equal(valueOf({ type: 'string', logicalType: 'uuid' }, uuid), uuid);
    assert.equal(valueOf({ type: 'fixed', name: 'U', size: 16, logicalType: 'uuid' }, bytes), uuid);
    const duration = bytesOf(1, 0, 0, 0, 2, 0, 0, 0, 0xbc, 0x0b, 0, 0);
    assert.equal(valueOf({ type: 'fixed', name: 'D', size: 12, logicalType: 'duration' }, duration), 'P1M2DT3.004S');
  });

  it('reads a type that has an unknown logical type as what it is made of', () => {
    assert.equal(valueOf({ type: 'string', logicalType: "x']; throw 1; //" }, 'a'), 'a');
    assert.equal(valueOf({ type: 'string', logicalType: 'date' }, 'a'), 'a');
    assert.equal(valueOf({ type: 'string', logicalType: 'constructor' }, 'a'), 'a');
  });

  it('finds types in references, in the order in which they are given', () => {
    const money = { type: 'record', name: 'Money', namespace: 'shop', fields: [field('amountCents', 'long')] };
    const line = { type: 'record', name: 'shop.Line', fields: [field('price', 'shop.Money')] };
    const references = [
      { name: 'shop.Money', text: JSON.stringify(money) },
      { name: 'shop.Line', text: JSON.stringify(line) },
    ];
    const schema = record(field('total', 'shop.Money'), field('first', ['null', 'shop.Line']));
    const { decode } = compile(schema, { references });
    assert.deepEqual(decode(bytesOf(4, 2, 6)), { total: { amount_cents: 2 }, first: { price: { amount_cents: 3 } } });
  });

  it('reads a record that contains itself, with the kinds of each place', () => {
    const schema = {
      type: 'record',
      name: 'Node',
      fields: [field('at', { type: 'long', logicalType: 'timestamp-millis' }), field('next', ['null', 'Node'])],
    };
    const { decode, fields } = compile(schema, { kinds: { 'next.at': 'number' } });
    assert.deepEqual(decode(bytesOf(0, 2, 2, 2, 4, 0)), {
      at: '1970-01-01T00:00:00Z',
      next: { at: 1, next: { at: '1970-01-01T00:00:00.002Z', next: null } },
    });
    assert.deepEqual(fields.at('next')?.at('next')?.at('next')?.keys, ['at', 'next']);
  });

  it('ignores defaults, also those that avsc would refuse', () => {
    const schema = record(
      { ...field('a', ['null', 'string']), default: 'x' },
      { ...field('default', 'int'), default: {} },
    );
    assert.deepEqual(compile(schema).decode(bytesOf(0, 2)), { a: null, default: 1 });
  });

  it('lists the fields of each place by their names in the payload', () => {
    const line = { type: 'record', name: 'Line', fields: [field('unitPrice', 'int')] };
    const other = { type: 'record', name: 'Other', fields: [field('unitPrice', 'int'), field('extra', 'int')] };
    const { fields } = compile(
      record(
        field('_id', 'int'),
        field('id', 'int'),
        field('lines', { type: 'array', items: ['null', line, other] }),
        field('tags', { type: 'map', values: 'Line' }),
      ),
    );
    assert.deepEqual(fields.keys, ['id', 'lines', 'tags']);
    assert.deepEqual(fields.at('lines')?.keys, ['unit_price', 'extra']);
    assert.equal(fields.at('tags')?.keys, undefined);
    assert.deepEqual(fields.at('tags')?.at('any')?.keys, ['unit_price']);
    assert.equal(fields.at('id'), undefined);
    assert.equal(fields.at('none'), undefined);
  });
});

describe('compileAvro, with hostile records', () => {
  const refuses = (schema: unknown, bytes: Buffer, reason = 'not_avro', options?: Options) => {
    assert.throws(() => compile(schema, options).decode(bytes), { name: 'UndecodableError', reason });
  };

  it('refuses truncated and trailing bytes', () => {
    const schema = record(field('a', 'string'), field('b', { type: 'array', items: 'long' }), field('c', 'double'));
    const bytes = avro.Type.forSchema(schema as Schema).toBuffer({ a: 'text', b: [1, 300, 2 ** 40], c: 1.5 });
    for (let end = 0; end < bytes.length; end++) refuses(schema, bytes.subarray(0, end));
    refuses(schema, Buffer.concat([bytes, bytesOf(0)]));
  });

  it('refuses lengths, indexes and integers that cannot be', () => {
    refuses(record(field('v', 'string')), longBytes(-1n));
    refuses(record(field('v', 'string')), longBytes(2n ** 62n));
    refuses(record(field('v', 'bytes')), Buffer.concat([longBytes(2n ** 31n), Buffer.alloc(100)]));
    refuses(record(field('v', ['null', 'int'])), longBytes(2n));
    refuses(record(field('v', ['null', 'int'])), longBytes(-1n));
    refuses(record(field('v', { type: 'enum', name: 'E', symbols: ['A'] })), longBytes(1n));
    refuses(record(field('v', 'int')), longBytes(2n ** 31n));
    refuses(record(field('v', 'boolean')), bytesOf(2));
    refuses(record(field('v', 'long')), Buffer.alloc(11, 0xff));
  });

  it('reads blocks with the size of their bytes', () => {
    const schema = record(field('v', { type: 'array', items: 'int' }));
    assert.deepEqual(compile(schema).decode(bytesOf(3, 4, 2, 4, 2, 6, 0)), { v: [1, 2, 3] });
    refuses(schema, Buffer.concat([longBytes(-(2n ** 63n)), bytesOf(2, 2, 0)]));
    refuses(schema, bytesOf(3, 1, 2, 4, 0));
  });

  it('refuses a list of more items than JSON text of the largest record can hold', () => {
    for (const items of ['null', { type: 'fixed', name: 'F', size: 0 }, { type: 'record', name: 'R', fields: [] }]) {
      for (const type of [
        { type: 'array', items },
        { type: 'map', values: items },
      ]) {
        for (const count of [100_000n, 2n ** 53n - 1n, -(2n ** 40n)]) {
          const header = Buffer.from([...zigzag(count), ...(count < 0 ? [0] : [])]);
          refuses(record(field('v', type)), Buffer.concat([header, bytesOf(0)]), 'too_large');
        }
        refuses(record(field('v', type)), longBytes(2n ** 60n));
      }
    }
    // Many small blocks.
    const blocks = Buffer.concat(Array.from({ length: 100 }, () => Buffer.from(zigzag(1000n))));
    refuses(record(field('v', { type: 'array', items: 'null' })), blocks, 'too_large');
  });

  it('needs its own bound on items: avsc believes the count', () => {
    const type = avro.Type.forSchema(record(field('v', { type: 'array', items: 'null' })) as Schema);
    const bytes = Buffer.concat([longBytes(1_000_000n), bytesOf(0)]);
    assert.equal((type.fromBuffer(bytes) as { v: unknown[] }).v.length, 1_000_000);
  });

  it('refuses enum symbols, decimals and times whose text would take more than the largest record', () => {
    const enumOf = (symbol: string) => ({ type: 'enum', name: 'E', symbols: [symbol] });
    const logical = (type: string, logicalType: string) => ({ type, logicalType });
    const rows: [items: object, most: number, kind?: 'number'][] = [
      [enumOf('A'.repeat(10_000)), 9],
      [{ ...logical('bytes', 'decimal'), precision: 2400, scale: 2400 }, 41],
      [{ ...logical('bytes', 'decimal'), precision: 2400, scale: 2400 }, 41, 'number'],
      [logical('int', 'date'), 8000],
      [logical('int', 'time-millis'), 9000],
      [logical('long', 'timestamp-micros'), 4500],
    ];
    for (const [items, most, kind] of rows) {
      const schema = record(field('v', { type: 'array', items }));
      const listOf = (count: number) => Buffer.concat([longBytes(BigInt(count)), Buffer.alloc(count), bytesOf(0)]);
      const { decode } = compile(schema, kind && { kinds: { v: kind } });
      const payload = decode(listOf(most));
      assert.equal((payload['v'] as unknown[]).length, most, JSON.stringify(items).slice(0, 60));
      assert.ok(JSON.stringify(payload).length < 200_000);
      assert.throws(() => decode(listOf(2 * most)), { reason: 'too_large' });
    }
  });

  it('refuses a record whose keys would take more than the largest record', () => {
    const sparse = {
      type: 'record',
      name: 'Sparse',
      fields: Array.from({ length: 100 }, (_, i) => field(`a_field_that_is_hardly_set_${i}`, ['null', 'int'])),
    };
    const schema = record(field('v', { type: 'array', items: sparse }));
    const items = (count: number) => Buffer.concat([longBytes(BigInt(count)), Buffer.alloc(count * 100), bytesOf(0)]);
    assert.equal((compile(schema).decode(items(20))['v'] as unknown[]).length, 20);
    refuses(schema, items(40), 'too_large');
  });

  it('refuses nesting beyond the limit, and counts levels as JSON does', () => {
    const schema = { type: 'record', name: 'N', fields: [field('c', { type: 'array', items: 'N' })] };
    const nested = (levels: number) =>
      Buffer.from([...Array<number>(levels).fill(2), 0, ...Array<number>(levels).fill(0)]);
    const depth = JSON.stringify(compile(schema).decode(nested(9))).match(/[[{]/g)!.length;
    assert.equal(depth, 20);
    refuses(schema, nested(10), 'too_deep');
    refuses(schema, nested(40_000), 'too_deep', { maxBytes: 1_000_000 });
  });

  it('drops a field and a key named __proto__', () => {
    const schema = record(
      field('__proto__', { type: 'map', values: 'int' }),
      field('v', { type: 'map', values: 'int' }),
    );
    for (const nameOf of [keep, undefined]) {
      const bytes = Buffer.from([2, 2, 0x61, 2, 0, 2, 18, ...Buffer.from('__proto__'), 4, 0]);
      const payload = compile(schema, nameOf && { nameOf }).decode(bytes);
      assert.equal(JSON.stringify(payload), '{"v":{}}');
      assert.equal(Object.getPrototypeOf(payload), Object.prototype);
    }
  });

  it('refuses a value that is no record', () => {
    refuses('string', bytesOf(2, 0x61), 'not_object');
    refuses(['null', 'int'], bytesOf(0), 'not_object');
    refuses({ type: 'array', items: 'int' }, bytesOf(0), 'not_object');
  });
});

describe('compileAvro, with hostile schemas', () => {
  it('refuses a schema with names that are no names', () => {
    const evil = 'x; globalThis.injected = true; //';
    for (const schema of [
      record(field(evil, 'int')),
      record(field("a'] = 1; globalThis.injected = true; x['", 'int')),
      { ...record(field('a', 'int')), name: evil },
      { ...record(field('a', 'int')), namespace: evil },
      record(field('v', { type: 'enum', name: 'E', symbols: [evil] })),
      record(field('v', ['null', { type: 'fixed', name: `F'); ${evil}`, size: 1 }])),
      record(field('v', 'toString')),
      record(field('v', { type: 'constructor' })),
      record(field('v', { type: '__proto__' })),
      { type: 'constructor', typeName: 'record', fields: [{ name: `"]: 1}; ${evil}`, type: 'int' }] },
    ]) {
      assert.throws(() => compile(schema), Error, JSON.stringify(schema));
    }
    assert.equal('injected' in globalThis, false);
  });

  const many = <Of>(count: number, of: (i: number) => Of) => Array.from({ length: count }, (_, i) => of(i));
  const TOO_MANY = /^Error: more than 4000 fields, types and symbols in a schema$/;

  it('refuses more than 4,000 fields, types and symbols, for which avsc and the readers take seconds', () => {
    const fields = (count: number) => record(...many(count, (i) => field(`f${i}`, ['null', 'int'])));
    assert.ok(compile(fields(3999)));
    assert.throws(() => compile(fields(4000)), TOO_MANY);
    // A field, its record and the field of that.
    const line = (i: number) => ({ type: 'record', name: `Line${i}`, fields: [field('a', 'int')] });
    const records = (count: number) => record(...many(count, (i) => field(`f${i}`, line(i))));
    assert.ok(compile(records(1333)));
    assert.throws(() => compile(records(1334)), TOO_MANY);
    const symbols = (count: number) =>
      record(field('v', { type: 'enum', name: 'E', symbols: many(count, (i) => `S${i}`) }));
    assert.ok(compile(symbols(3997)));
    assert.throws(() => compile(symbols(3998)), TOO_MANY);
    const lists = (count: number) =>
      record(...many(count, (i) => field(`f${i}`, { type: 'array', items: { type: 'map', values: 'int' } })));
    assert.ok(compile(lists(1333)));
    assert.throws(() => compile(lists(1334)), TOO_MANY);
    const unions = (count: number) =>
      record(...many(count, (i) => field(`f${i}`, ['null', 'int', 'string', 'boolean', 'bytes'])));
    assert.ok(compile(unions(999)));
    assert.throws(() => compile(unions(1000)), TOO_MANY);
  });

  it('counts the references of a schema with it', () => {
    const reference = (name: string) => {
      const schema = { type: 'record', name, fields: many(1998, (i) => field(`f${i}`, 'int')) };
      return { name, text: JSON.stringify(schema) };
    };
    const [a, b] = [reference('A'), reference('B')];
    assert.ok(compile(record(field('a', 'A')), { references: [a, b] }));
    assert.throws(() => compile(record(field('a', 'A'), field('b', 'B')), { references: [a, b] }), TOO_MANY);
  });

  it('refuses more than 200 levels of types, of which V8 would run out of stack', () => {
    const nested = (levels: number) => {
      let type: unknown = 'int';
      for (let i = 0; i < levels; i++) type = { type: 'array', items: type };
      return record(field('v', type));
    };
    assert.ok(compile(nested(199)));
    assert.throws(() => compile(nested(200)), /^Error: more than 200 levels of types in a schema$/);
    assert.throws(() => compile(nested(3000)), /^Error: more than 200 levels/);
  });

  it('compiles names that are words of JavaScript', () => {
    const names = ['class', 'constructor', 'toString', 'toJSON', 'hasOwnProperty', 'valueOf', 'this', 'v0'];
    const schema = { ...record(...names.map((name) => field(name, 'int'))), name: 'function' };
    const { decode } = compile(schema, { nameOf: keep });
    const payload = decode(Buffer.alloc(names.length, 2));
    assert.deepEqual(Object.keys(payload), names);
    assert.equal(JSON.stringify(payload), `{${names.map((name) => `"${name}":1`).join()}}`);
  });

  it('keeps no reference to the bytes of a record', () => {
    const { decode } = compile(record(field('a', 'string'), field('b', 'bytes')));
    const bytes = bytesOf(2, 0x61, 2, 1);
    const payload = decode(bytes);
    bytes.fill(0);
    assert.deepEqual(payload, { a: 'a', b: 'AQ==' });
  });
});
