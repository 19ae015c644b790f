import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseExactly } from '../../../../src/base/json/exact-numbers.ts';
import { ConnectSchemas } from '../../../../src/kafka/decoding/connect/connect-schemas.ts';
import { decoderOptions } from '../schema-decoders.ts';

type Options = Parameters<typeof decoderOptions>[0];

const CONNECT = 'org.apache.kafka.connect.data';
const TIME = 'io.debezium.time';
const DATA = 'io.debezium.data';

const struct = (...fields: object[]) => ({ type: 'struct', fields, optional: false, name: 'db.rows.Value' });
const typed = (field: string, type: string, name: string, parameters?: object) => {
  return { type, optional: true, name, version: 1, ...(parameters && { parameters }), field };
};

/** The payload of a schema and the text of a payload. */
function converted(schema: unknown, payload: string, options?: Options) {
  const decoding = decoderOptions(options);
  const convert = new ConnectSchemas(decoding).of(Buffer.from(JSON.stringify(schema)));
  return { payload: convert ? convert(parseExactly(payload)) : undefined, overflows: decoding.overflows.count };
}

/** A value of a row with one column. @param json its text */
function valueOf(type: string, name: string, json: string, options: Options & { parameters?: object } = {}) {
  const { payload, overflows } = converted(
    struct(typed('v', type, name, options.parameters)),
    `{"v":${json}}`,
    options,
  );
  return { value: (payload as { v: unknown } | undefined)?.v, overflows };
}

const decimal = (json: string, scale: number, options?: Options) =>
  valueOf('bytes', `${CONNECT}.Decimal`, json, { ...options, parameters: { scale: String(scale) } }).value;
const text = (type: string, name: string, json: string) => valueOf(type, name, json).value;
const number = (type: string, name: string, json: string) => valueOf(type, name, json, { kinds: { v: 'number' } });

describe('values of records with a schema of Kafka Connect', () => {
  describe('decimals', () => {
    it('prints the unscaled bytes with all digits', () => {
      assert.equal(decimal('"BAg="', 4), '0.1032');
      assert.equal(decimal('"AA=="', 2), '0.00');
      assert.equal(decimal('"/w=="', 0), '-1');
      assert.equal(decimal('"+/g="', 4), '-0.1032');
      assert.equal(decimal('"DA=="', -2), '1200');
      assert.equal(decimal('"ACip85j2H0dQ"', 10), '293014087.0871041872');
    });

    it('prints numbers of decimal.format=NUMERIC with the digits of the scale', () => {
      assert.equal(decimal('12.5', 2), '12.50');
      assert.equal(decimal('-0.1032', 4), '-0.1032');
      assert.equal(decimal('7', 3), '7.000');
      assert.equal(decimal('1.2E+3', -2), '1200');
      assert.equal(decimal('12345678901234567.89', 2), '12345678901234567.89');
      assert.equal(decimal('9007199254740993', 0), '9007199254740993');
      assert.equal(decimal('1.5E-7', 2), '0.00000015');
    });

    it('gives a number to fields that read a number only', () => {
      assert.equal(decimal('"BAg="', 4, { kinds: { v: 'number' } }), 0.1032);
      assert.equal(decimal('"ACip85j2H0dQ"', 0, { kinds: { v: 'number' } }), '2930140870871041872');
    });

    it('reads the scale beside a value', () => {
      const schema = struct({ ...typed('v', 'struct', `${DATA}.VariableScaleDecimal`), fields: [] });
      const variable = (json: string, options?: Options) =>
        (converted(schema, `{"v":${json}}`, options).payload as { v: unknown } | undefined)?.v;
      assert.equal(variable('{"scale":2,"value":"BOI="}'), '12.50');
      assert.equal(variable('{"scale":0,"value":"gA=="}'), '-128');
      assert.equal(variable('{"scale":-3,"value":"AQ=="}'), '1000');
      assert.equal(variable('{"scale":2,"value":"BOI="}', { kinds: { v: 'number' } }), 12.5);
      assert.equal(variable('null'), null);
      assert.equal(variable('{"scale":2,"value":"BOI="}', { kinds: { v: 'object' } }), undefined);
    });

    it('leaves what is no decimal', () => {
      assert.equal(decimal('"__debezium_unavailable_value"', 2), '__debezium_unavailable_value');
      assert.equal(decimal('"not base64"', 2), 'not base64');
      assert.deepEqual(decimal('[1]', 2), [1]);
      assert.equal(decimal('null', 2), null);
      assert.equal(decimal('"BAg="', 3000), 'BAg=');
      assert.equal(decimal('1E400', 0), Infinity);
      const { value } = valueOf('bytes', `${CONNECT}.Decimal`, '"BAg="', { parameters: { scale: 'four' } });
      assert.equal(value, undefined);
      const long = `1.${'0'.repeat(5000)}1`;
      assert.equal(decimal(long, 0), long);
    });
  });

  describe('times', () => {
    it('prints days as dates, also before 1970', () => {
      for (const name of [`${CONNECT}.Date`, `${TIME}.Date`]) {
        assert.equal(text('int32', name, '20781'), '2026-11-24');
        assert.equal(text('int32', name, '-1'), '1969-12-31');
        assert.equal(text('int32', name, '2932897'), '+010000-01-01');
        assert.deepEqual(number('int32', name, '20781'), { value: 1_795_478_400_000, overflows: 0 });
      }
    });

    it('prints timestamps of every precision in UTC', () => {
      for (const name of [`${CONNECT}.Timestamp`, `${TIME}.Timestamp`]) {
        assert.equal(text('int64', name, '1795486070123'), '2026-11-24T02:07:50.123Z');
        assert.equal(text('int64', name, '-1'), '1969-12-31T23:59:59.999Z');
      }
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '1795486070123456'), '2026-11-24T02:07:50.123456Z');
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '-1'), '1969-12-31T23:59:59.999999Z');
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '1795486070000000'), '2026-11-24T02:07:50Z');
      assert.equal(text('int64', `${TIME}.NanoTimestamp`, '1795486070123456789'), '2026-11-24T02:07:50.123456789Z');
      assert.equal(text('int64', `${TIME}.NanoTimestamp`, '1795486070000000000'), '2026-11-24T02:07:50Z');
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '253402300800000000'), '+010000-01-01T00:00:00Z');
      assert.equal(number('int64', `${TIME}.MicroTimestamp`, '1795486070123456').value, 1_795_486_070_123.456);
    });

    it('prints times of a day, 24:00, and times of MySQL that are longer or negative', () => {
      for (const name of [`${CONNECT}.Time`, `${TIME}.Time`]) {
        assert.equal(text('int32', name, '7670123'), '02:07:50.123');
      }
      assert.equal(text('int64', `${TIME}.MicroTime`, '0'), '00:00:00');
      assert.equal(text('int64', `${TIME}.MicroTime`, '86400000000'), '24:00:00');
      assert.equal(text('int64', `${TIME}.MicroTime`, '3020399000000'), '838:59:59');
      assert.equal(text('int64', `${TIME}.MicroTime`, '-3020399000000'), '-838:59:59');
      assert.equal(text('int64', `${TIME}.MicroTime`, '-1'), '-00:00:00.000001');
      assert.equal(text('int64', `${TIME}.NanoTime`, '7670123456789'), '02:07:50.123456789');
      assert.equal(number('int64', `${TIME}.MicroTime`, '7670123000').value, 7_670_123);
    });

    it('prints durations in ISO 8601', () => {
      assert.equal(text('int64', `${TIME}.MicroDuration`, '93784500000'), 'PT93784.500S');
      assert.equal(text('int64', `${TIME}.MicroDuration`, '-1500000'), '-PT1.500S');
      assert.equal(text('int64', `${TIME}.NanoDuration`, '9000000000000000001'), 'PT9000000000.000000001S');
      assert.equal(number('int64', `${TIME}.MicroDuration`, '1500000').value, 1500);
    });

    it('prints the infinities of PostgreSQL as PostgreSQL does, and counts them where a number is read', () => {
      assert.equal(text('int32', `${TIME}.Date`, '2147483647'), 'infinity');
      assert.equal(text('int32', `${TIME}.Date`, '-2147483648'), '-infinity');
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '9223372036825200000'), 'infinity');
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '-9223372036832400000'), '-infinity');
      assert.equal(text('int64', `${TIME}.NanoTimestamp`, '9223372036854775807'), 'infinity');
      assert.equal(text('int64', `${TIME}.NanoTimestamp`, '-9223372036854775808'), '-infinity');
      assert.equal(text('string', `${TIME}.IsoDate`, '"infinity"'), 'infinity');
      for (const [type, name, json] of [
        ['int32', `${TIME}.Date`, '2147483647'],
        ['int64', `${TIME}.MicroTimestamp`, '9223372036825200000'],
        ['string', `${TIME}.ZonedTimestamp`, '"-infinity"'],
      ] as const) {
        assert.deepEqual(number(type, name, json), { value: null, overflows: 1 });
      }
    });

    it('counts times beyond the calendar of JavaScript, which become null', () => {
      assert.deepEqual(valueOf('int32', `${TIME}.Date`, '2000000000'), { value: null, overflows: 1 });
      assert.deepEqual(valueOf('int64', `${TIME}.Timestamp`, '8640000001000000'), { value: null, overflows: 1 });
    });

    it('keeps texts in ISO 8601, without the zone of a column that has none', () => {
      assert.equal(text('string', `${TIME}.IsoDate`, '"2026-11-24Z"'), '2026-11-24');
      assert.equal(text('string', `${TIME}.IsoTime`, '"02:07:50.123Z"'), '02:07:50.123');
      assert.equal(text('string', `${TIME}.ZonedTimestamp`, '"2026-11-24T02:07:50Z"'), undefined);
      assert.equal(text('string', `${TIME}.Interval`, '"P1Y2M3DT4H5M6.78S"'), undefined);
      assert.equal(number('string', `${TIME}.IsoDate`, '"2026-11-24Z"').value, 1_795_478_400_000);
      assert.equal(number('string', `${TIME}.IsoTime`, '"02:07:50.123Z"').value, 7_670_123);
      assert.equal(number('string', `${TIME}.ZonedTime`, '"02:07:50+02:00"').value, 470_000);
      assert.equal(number('string', `${TIME}.ZonedTimestamp`, '"2026-11-24T02:07:50.123Z"').value, 1_795_486_070_123);
      assert.equal(number('string', `${TIME}.IsoTimestamp`, '"soon"').value, 'soon');
    });

    it('prints structs of time.precision.mode=structured', () => {
      const structured = (name: string, json: string, options?: Options) =>
        valueOf('struct', `${TIME}.Structured${name}`, json, options);
      const day = '"year":2026,"month":11,"day":24';
      const clock = '"hour":2,"minute":7,"second":50,"nanos":123000000';
      const texts: readonly (readonly [string, string, string])[] = [
        ['Date', `{${day},"specialValue":null}`, '2026-11-24'],
        ['Date', '{"year":0,"month":0,"day":0}', '0000-00-00'],
        ['Date', '{"year":12026,"month":1,"day":2}', '+012026-01-02'],
        ['Date', '{"specialValue":"POSITIVE_INFINITY"}', 'infinity'],
        ['Time', `{${clock},"precision":3}`, '02:07:50.123'],
        ['ZonedTime', `{${clock},"offsetSeconds":-5400}`, '02:07:50.123-01:30'],
        ['Timestamp', `{${day},${clock}}`, '2026-11-24T02:07:50.123Z'],
        ['Timestamp', '{"special_value":"NEGATIVE_INFINITY"}', '-infinity'],
        ['ZonedTimestamp', `{${day},${clock},"offsetSeconds":0,"zoneId":null}`, '2026-11-24T02:07:50.123Z'],
        ['ZonedTimestamp', `{${day},${clock},"offset_seconds":7200}`, '2026-11-24T02:07:50.123+02:00'],
        [
          'Duration',
          '{"years":1,"months":2,"days":3,"hours":4,"minutes":5,"seconds":6,"nanos":780000000}',
          'P1Y2M3DT4H5M6.780S',
        ],
        ['Duration', '{"seconds":0,"nanos":-500000000}', 'P0Y0M0DT0H0M-0.500S'],
      ];
      for (const [name, json, expected] of texts) assert.equal(structured(name, json).value, expected);
      const ms = (name: string, json: string) => structured(name, json, { kinds: { v: 'number' } });
      assert.equal(ms('Date', `{${day}}`).value, 1_795_478_400_000);
      assert.equal(ms('ZonedTimestamp', `{${day},${clock},"offsetSeconds":7200}`).value, 1_795_478_870_123);
      assert.deepEqual(ms('Date', '{"specialValue":"POSITIVE_INFINITY"}'), { value: null, overflows: 1 });
      assert.equal(structured('Date', `{${day}}`, { kinds: { v: 'object' } }).value, undefined);
      assert.deepEqual(structured('Date', '{"a":1}').value, { a: 1 });
    });

    it('leaves what is no integer of 64 bits', () => {
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '1.5'), 1.5);
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '1e300'), 1e300);
      assert.equal(text('int64', `${TIME}.MicroTimestamp`, '"today"'), 'today');
      assert.equal(text('int32', `${TIME}.Date`, 'true'), true);
      assert.equal(text('int32', `${TIME}.Date`, 'null'), null);
    });
  });

  describe('other types of Debezium', () => {
    const bits = (bytes: number[], length: number) =>
      valueOf('bytes', `${DATA}.Bits`, JSON.stringify(Buffer.from(bytes).toString('base64')), {
        parameters: { length: String(length) },
      }).value;

    it('prints bits from the highest to the lowest, as many as the column has', () => {
      assert.equal(bits([0x05], 3), '101');
      assert.equal(bits([0x05, 0x01], 12), '000100000101');
      assert.equal(bits([0x05], 12), '000000000101');
      assert.equal(bits([0xff], 3), '11111111');
      assert.equal(bits([0x05], 2_147_483_647), '00000101');
      assert.equal(bits([], 4), '0000');
    });

    it('gives the value of Json to objects and custom scalars, else its text', () => {
      const json = (kind: 'object' | 'custom' | 'text', value: string) =>
        valueOf('string', `${DATA}.Json`, JSON.stringify(value), { kinds: { v: kind } }).value;
      assert.deepEqual(json('object', '{"userId":9007199254740993,"a":[1]}'), { userId: '9007199254740993', a: [1] });
      assert.deepEqual(json('custom', '[1,null]'), [1, null]);
      assert.equal(json('text', '{"a":1}'), undefined);
      assert.equal(json('object', '__debezium_unavailable_value'), '__debezium_unavailable_value');
      assert.throws(() => json('custom', '['.repeat(21) + ']'.repeat(21)), { reason: 'too_deep' });
    });

    it('needs nothing for types whose values are what fields read', () => {
      for (const name of ['Uuid', 'Enum', 'EnumSet', 'Xml', 'Ltree', 'Tsvector', 'geometry.Point', 'DoubleVector']) {
        assert.equal(text('string', `${DATA}.${name}`, '"a"'), undefined);
      }
      assert.equal(text('int32', `${TIME}.Year`, '2026'), undefined);
      assert.equal(text('int32', 'toString', '1'), undefined);
    });
  });

  it('converts in lists, maps, pairs and structs, at the places of the renamed keys', () => {
    const day = { type: 'int32', optional: true, name: `${TIME}.Date` };
    const schema = struct(
      {
        type: 'struct',
        field: 'shipTo',
        fields: [
          { ...day, field: 'dueOn' },
          { type: 'string', field: 'city' },
        ],
      },
      { type: 'array', field: 'days', items: day },
      { type: 'map', field: 'byName', keys: { type: 'string' }, values: day },
      { type: 'map', field: 'byId', keys: { type: 'int32' }, values: day },
      { type: 'array', field: 'rows', items: { type: 'struct', fields: [{ ...day, field: 'on' }] } },
    );
    const { payload } = converted(
      schema,
      `{"shipTo":{"dueOn":0,"city":"Bern","other":0},"days":[0,null,1],"byName":{"a":0,"b":null},"byId":[[7,0],[8,null]],
        "rows":[{"on":0},null,{}],"more":0}`,
      { kinds: { 'ship_to.due_on': 'number' } },
    );
    assert.deepEqual(payload, {
      shipTo: { dueOn: 0, city: 'Bern', other: 0 },
      days: ['1970-01-01', null, '1970-01-02'],
      byName: { a: '1970-01-01', b: null },
      byId: [
        [7, '1970-01-01'],
        [8, null],
      ],
      rows: [{ on: '1970-01-01' }, null, {}],
      more: 0,
    });
  });

  it('leaves a payload that is not of its schema, and drops no key of it', () => {
    const schema = struct(typed('v', 'int32', `${TIME}.Date`), {
      type: 'array',
      field: 'l',
      items: typed('', 'int32', `${TIME}.Date`),
    });
    for (const payload of ['null', '7', '[1]', '{}', '{"v":{"a":1},"l":{"a":1}}']) {
      assert.deepEqual(converted(schema, payload).payload, JSON.parse(payload));
    }
    const { payload } = converted(
      struct(typed('__proto__', 'int32', `${TIME}.Date`), typed('v', 'int32', `${TIME}.Date`)),
      '{"__proto__":{"a":1},"v":0}',
    );
    assert.equal((payload as { v: unknown }).v, '1970-01-01');
    assert.equal(Object.getPrototypeOf(payload), Object.prototype);
  });

  it('needs no conversion for a schema without such types, for null, and for what is no schema', () => {
    for (const schema of [struct({ type: 'int32', field: 'id' }), null, 7, 'text', [], { type: 'struct', fields: 7 }]) {
      assert.equal(new ConnectSchemas(decoderOptions()).of(Buffer.from(JSON.stringify(schema))), undefined);
    }
    assert.throws(() => new ConnectSchemas(decoderOptions()).of(Buffer.from('{')), { reason: 'not_json' });
  });

  it('takes records of JsonConverter apart, and compiles a schema once, also between records of another one', () => {
    const schemas = new ConnectSchemas(decoderOptions());
    const recordOf = (name: string, payload: string) =>
      Buffer.from(`{"schema":${JSON.stringify(struct(typed(name, 'int32', `${TIME}.Date`)))},"payload":${payload}}`);
    const read = (name: string, payload: string) => schemas.split(recordOf(name, payload))!;
    const first = read('a', '{"a":0}');
    assert.equal(first.payload.toString(), '{"a":0}');
    assert.deepEqual(first.convert!({ a: 0 }), { a: '1970-01-01' });
    assert.equal(read('a', '{"a":1}').convert, first.convert);
    assert.equal(read('a', 'null').payload.toString(), 'null');
    assert.notEqual(read('b{}\\"', '{"a":1}').convert, first.convert);
    assert.equal(read('a', '{"a":2}').convert, first.convert);
    assert.equal(schemas.split(Buffer.from(`{"schema":{"type":"int32"},"payload":7}`))!.convert, undefined);
  });

  it('leaves records that JsonConverter does not write to those who parse them', () => {
    const schemas = new ConnectSchemas(decoderOptions());
    const record = `{"schema":{"type":"int32"},"payload":7}`;
    for (const other of [
      '',
      '{}',
      '{"schema":',
      '{"schema":{"a":1}',
      '{"schema":null,"payload":7}',
      '{"schema":{"type":"int32"} ,"payload":7}',
      '{"payload":7,"schema":{"type":"int32"}}',
      `${record} `,
      record.slice(0, -1),
    ]) {
      assert.equal(schemas.split(Buffer.from(other)), undefined, other);
      assert.equal(schemas.split(Buffer.from(record))!.payload.toString(), '7');
    }
  });

  it('refuses a record whose values would take more text than a record may have', () => {
    const schema = {
      type: 'array',
      items: { type: 'bytes', name: `${CONNECT}.Decimal`, parameters: { scale: '2400' } },
    };
    const payload = (count: number) => JSON.stringify(Array.from({ length: count }, () => 'AQ=='));
    assert.equal((converted(schema, payload(40), { maxBytes: 100_000 }).payload as unknown[]).length, 40);
    assert.throws(() => converted(schema, payload(50), { maxBytes: 100_000 }), { reason: 'too_large' });
  });
});
