import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as settle } from 'node:timers/promises';
import avsc from 'avsc';
import { COMPILERS } from '../../../src/kafka/decoding/compilers.ts';
import { graphDecoders } from '../../../src/kafka/decoding/graph-decoders.ts';
import { RecordKeys } from '../../../src/kafka/decoding/record-keys.ts';
import { SchemaUnavailableError } from '../../../src/kafka/decoding/schema-errors.ts';
import type { SchemaId } from '../../../src/kafka/decoding/wire-format.ts';
import type { RegisteredSchema } from '../../../src/kafka/decoding/schema-registry.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';
import { snakeCaseName } from '../../../src/base/json/key-naming.ts';
import { UNREAD } from '../../../src/kafka/decoding/decoder.ts';
import type { RecordContent } from '../../../src/kafka/batch.ts';
import { framed } from '../../support/schema-registry.ts';
import { readableLog } from '../consumer-harness.ts';

const LIMITS = { maxBytes: 1000, maxDepth: 8 };
const BIG = '9007199254740993';
const GUID = '89791762-2336-4186-9674-299b90a802e2';

const ID = JSON.stringify({ type: 'record', name: 'K', fields: [{ name: 'orderId', type: 'long' }] });

function recordOf(key: Buffer | string | null, headers?: RecordContent['headers']): RecordContent {
  return { topic: 'rows', key: typeof key === 'string' ? Buffer.from(key) : key, value: null, headers };
}

type KnownSchema = Pick<RegisteredSchema, 'type' | 'text'> & Partial<RegisteredSchema>;
type Schemas = ReadonlyMap<SchemaId, KnownSchema | Error>;

function keysOf(schemas?: Schemas, isApicurio = false) {
  const schema = (id: SchemaId) => {
    const found = schemas?.get(id);
    if (found instanceof Error) return Promise.reject(found);
    return Promise.resolve(found && { references: [], ...found });
  };
  const options = { registry: { schema, isApicurio }, compilers: COMPILERS, limits: LIMITS, onOverflow: assert.fail };
  const topic = { topic: 'rows', format: undefined, nameOf: snakeCaseName, shape: UNREAD };
  const { keys } = graphDecoders([topic], { ...options, log: readableLog().log });
  const decoders = schemas && keys.get('rows');
  return new RecordKeys({ limits: LIMITS, snakeCase: new SnakeCase(), keyPlace: undefined, decoders });
}

/** The decoded key, and the text that the record has now. */
async function read(keys: RecordKeys, key: Buffer | string, headers?: RecordContent['headers']): Promise<unknown> {
  const { keyValue, keyProblem, key: now } = await keys.read(recordOf(key, headers));
  return keyProblem ?? [keyValue, now && now.toString()];
}

const bodyOf = (schema: string, value: unknown) =>
  avsc.Type.forSchema(JSON.parse(schema) as avsc.Schema).toBuffer(value);
const avro = (id: number, schema: string, value: unknown) => framed(id, bodyOf(schema, value));

describe('RecordKeys', () => {
  it('leaves a key that is a text, and one that is binary, as they are', () => {
    const keys = keysOf();
    const long = Buffer.alloc(8);
    long.writeBigInt64BE(7n);
    for (const key of ['7', 'x', '', '7.0', '{"id":', '"x', '{7}', '[7]', long, Buffer.from([0]), null]) {
      const record = recordOf(key);
      assert.equal(keys.read(record), record);
    }
  });

  it('converts the values of a key with the schema of Connect as those of rows are', async () => {
    const fields = [
      { type: 'bytes', name: 'org.apache.kafka.connect.data.Decimal', parameters: { scale: '2' }, field: 'accountNo' },
      { type: 'int32', name: 'io.debezium.time.Date', field: 'day' },
    ];
    const key = { schema: { type: 'struct', fields, optional: false }, payload: { accountNo: 'BOI=', day: 20_455 } };
    const value = { account_no: '12.50', day: '2026-01-02' };
    assert.deepEqual(await read(keysOf(), JSON.stringify(key)), [value, JSON.stringify(value)]);
    const broken = JSON.stringify(key).replace('20455', '20x55');
    assert.deepEqual(await read(keysOf(), broken), [undefined, broken]);
  });

  it('decodes JSON, whose text stays what it is and whose members have the names of payloads', async () => {
    const keys = keysOf();
    assert.deepEqual(await read(keys, '{"orderId": 7}'), [{ order_id: 7 }, '{"orderId": 7}']);
    assert.deepEqual(await read(keys, `{"id":${BIG},"at":{"unitNo":1}}`), [
      { id: BIG, at: { unit_no: 1 } },
      `{"id":${BIG},"at":{"unitNo":1}}`,
    ]);
    assert.deepEqual(await read(keys, '"x"'), ['x', '"x"']);
  });

  it('takes the payload of JSON with its schema, as Kafka Connect writes it', async () => {
    const keys = keysOf();
    const struct = '{"type":"struct","fields":[{"type":"int64","optional":false,"field":"orderId"}],"optional":false}';
    const read7 = await read(keys, `{"schema":${struct},"payload":{"orderId":${BIG}}}`);
    assert.deepEqual(read7, [{ order_id: BIG }, `{"order_id":"${BIG}"}`]);
    assert.deepEqual(await read(keys, '{"schema":{"type":"int64"},"payload":7}'), [7, '7']);
    assert.deepEqual(await read(keys, '{"schema":{"type":"string"},"payload":"x"}'), ['x', 'x']);
    assert.deepEqual(await read(keys, '{"schema":null,"payload":null}'), [undefined, null]);
    for (const own of ['{"schema":7,"payload":8}', '{"schema":{},"payload":8}', '{"payload":8}', '{"schema":null}'])
      assert.equal(((await read(keys, own)) as unknown[])[1], own, 'a key with these names of its own');
  });

  it('has the texts of payloads for types that only the schema of Kafka Connect names, such as an unsigned BIGINT of MySQL', async () => {
    const keys = keysOf();
    const decimal = (scale: string) =>
      `{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"${scale}"},"field":"id"}`;
    const date = '{"type":"int32","name":"io.debezium.time.Date","version":1,"field":"dueOn"}';
    const struct = (...fields: string[]) => `{"type":"struct","fields":[${fields.join(',')}],"optional":false}`;
    assert.deepEqual(
      await read(keys, `{"schema":${struct(decimal('0'), date)},"payload":{"id":"AP//////////","dueOn":20485}}`),
      [{ id: '18446744073709551615', due_on: '2026-02-01' }, '{"id":"18446744073709551615","due_on":"2026-02-01"}'],
    );
    assert.deepEqual(await read(keys, `{"schema":${decimal('2')},"payload":"BBo="}`), ['10.50', '10.50']);
    const tooLong = `{"schema":${decimal('-2000')},"payload":"AQ=="}`;
    assert.equal(await read(keys, tooLong), 'too_large');
  });

  it('decodes keys with schemas of Avro, also of scalars, Protobuf and JSON Schema, at once after the first', async () => {
    const proto = 'syntax = "proto3"; message Key { int64 orderId = 1; string tenant = 2; }';
    const schemas = new Map([
      [1, { type: 'AVRO', text: ID }],
      [2, { type: 'AVRO', text: '"string"' }],
      [3, { type: 'AVRO', text: '{"type":"long"}' }],
      [4, { type: 'PROTOBUF', text: proto }],
      [5, { type: 'JSON', text: '{}' }],
      [6, { type: 'AVRO', text: '["null","string"]' }],
    ] as const);
    const keys = keysOf(schemas);
    assert.deepEqual(await read(keys, avro(1, ID, { orderId: 7 })), [{ order_id: 7 }, '{"order_id":7}']);
    assert.deepEqual(await read(keys, avro(2, '"string"', 'x7')), ['x7', 'x7']);
    assert.deepEqual(await read(keys, avro(3, '"long"', 2 ** 52)), [2 ** 52, `${2 ** 52}`]);
    const message = Buffer.from([0, 0x08, 7, 0x12, 1, 0x61]);
    assert.deepEqual(await read(keys, framed(4, message)), [
      { order_id: 7, tenant: 'a' },
      '{"order_id":7,"tenant":"a"}',
    ]);
    assert.deepEqual(await read(keys, framed(5, Buffer.from('{"orderId":7}'))), [{ order_id: 7 }, '{"order_id":7}']);
    assert.deepEqual(await read(keys, framed(5, Buffer.from(BIG))), [BIG, BIG]);
    assert.deepEqual(await read(keys, framed(5, Buffer.from('"x"'))), ['x', 'x']);
    assert.deepEqual(await read(keys, framed(6, Buffer.from([0]))), [undefined, null]);
    assert.ok(!(keys.read(recordOf(avro(1, ID, { orderId: 7 }))) instanceof Promise));
  });

  it('gives one key one text, whichever schema it was written with', async () => {
    const later = JSON.stringify({ ...(JSON.parse(ID) as object), doc: 'later' });
    const schemas = new Map([1, 2].map((id) => [id, { type: 'AVRO', text: id === 1 ? ID : later }] as const));
    const keys = keysOf(schemas);
    const texts = await Promise.all([1, 2].map((id) => read(keys, avro(id, ID, { orderId: 7 }))));
    assert.deepEqual(texts[0], texts[1]);
  });

  it('names why a key with a schema cannot be decoded, and waits while the schema cannot be had', async () => {
    const key = avro(1, ID, { orderId: 7 });
    assert.equal(await read(keysOf(), key), 'needs_registry');
    const schemas = new Map<SchemaId, KnownSchema | Error>([
      [1, new SchemaUnavailableError('away')],
      [2, { type: 'AVRO', text: 'broken' }],
      [5, { type: 'JSON', text: '{}' }],
    ]);
    const keys = keysOf(schemas);
    await assert.rejects(read(keys, key), { code: 'ERR_SCHEMA_UNAVAILABLE', schema: 1 });
    schemas.set(1, { type: 'AVRO', text: ID });
    assert.deepEqual(await read(keys, key), [{ order_id: 7 }, '{"order_id":7}']);
    const windowed = Buffer.concat([key, Buffer.from('0000019a00000000', 'hex')]);
    assert.equal(await read(keys, windowed), 'not_avro');
    assert.equal(await read(keys, framed(2, Buffer.from([1]))), 'unusable_schema');
    assert.equal(await read(keys, framed(5, Buffer.from('x'))), 'not_json');
    assert.equal(await read(keys, framed(1, Buffer.alloc(1000))), 'too_large');
  });

  describe('that are binary, and begin like one with a schema', () => {
    const away = new SchemaUnavailableError('away');

    function longKey(value: bigint): Buffer {
      const key = Buffer.alloc(8);
      key.writeBigInt64BE(value);
      return key;
    }

    /** A long of 8 bytes whose bytes are the id of a schema, and 3 bytes that no long of Avro has. */
    const longOf = (id: number) => longKey((BigInt(id) << 24n) | 0xffffffn);

    /** A registry that knows schema 7 only, whose further answers a test may set. */
    function stage() {
      const schemas = new Map<SchemaId, KnownSchema | Error>([[7, { type: 'AVRO', text: ID }]]);
      const asked: SchemaId[] = [];
      const get = schemas.get.bind(schemas);
      schemas.get = (id) => {
        asked.push(id);
        return get(id);
      };
      return { schemas, asked, keys: keysOf(schemas) };
    }

    it('hold up no record once a schema has not decoded one, whatever the registry answers', async () => {
      const { schemas, asked, keys } = stage();
      assert.equal(await read(keys, longOf(7)), 'not_avro');
      for (const key of [longOf(8), longOf(1_000_000), Buffer.from('00123e4567e89b12d3a456426614174000', 'hex')])
        assert.equal(await read(keys, key), 'unknown_schema');
      schemas.set(9, away);
      assert.equal(await read(keys, longOf(9)), 'unknown_schema');
      const hanging = { then: () => undefined } as unknown as Error;
      schemas.set(10, hanging);
      for (let id = 11; id < 1000; id++) {
        schemas.set(id, hanging);
        assert.equal(await read(keys, longOf(id)), 'unknown_schema');
      }
      // Each question to a registry that does not answer holds a record up.
      assert.ok(asked.length <= 16, `${asked.length}`);
    });

    it('wait for a schema as long as no key has been read, and where most keys have one', async () => {
      const { schemas, keys } = stage();
      await assert.rejects(read(keys, longOf(8)), {
        code: 'ERR_SCHEMA_UNAVAILABLE',
        message: /does not know schema 8$/,
      });
      schemas.set(9, away);
      await assert.rejects(read(keys, longOf(9)), { code: 'ERR_SCHEMA_UNAVAILABLE', message: 'away' });
      for (let i = 0; i < 3; i++)
        assert.deepEqual(await read(keys, avro(7, ID, { orderId: 7 })), [{ order_id: 7 }, '{"order_id":7}']);
      assert.equal(await read(keys, longOf(7)), 'not_avro');
      await assert.rejects(read(keys, longOf(10)), /does not know schema 10$/);
    });

    it('are decoded again once most keys have a schema', async () => {
      const { schemas, keys } = stage();
      for (let i = 0; i < 100; i++) assert.equal(await read(keys, longOf(7)), 'not_avro');
      schemas.set(8, { type: 'AVRO', text: ID });
      for (let i = 0; i < 17; i++)
        assert.deepEqual(((await read(keys, avro(8, ID, { orderId: 7 }))) as unknown[])[0], { order_id: 7 });
      await assert.rejects(read(keys, longOf(10)), /does not know schema 10$/);
    });

    it('lose none among them that has a schema: the registry is waited for while it answers', async () => {
      const { schemas, keys } = stage();
      const late = {
        then: (resolve: (schema: KnownSchema) => void) =>
          void settle(20, { type: 'AVRO', text: ID, references: [] } as const).then(resolve),
      };
      assert.equal(await read(keys, longOf(7)), 'not_avro');
      schemas.set(8, late as unknown as Error);
      assert.deepEqual(((await read(keys, avro(8, ID, { orderId: 7 }))) as unknown[])[0], { order_id: 7 });
      for (let i = 0; i < 3; i++) assert.equal(await read(keys, longOf(7)), 'not_avro');
      schemas.set(9, { type: 'JSON', text: '{}' });
      assert.deepEqual(await read(keys, framed(9, Buffer.from('{"orderId":7}'))), [{ order_id: 7 }, '{"order_id":7}']);
    });

    it('stay what they are if they cannot have the id of a schema: an int of 4 bytes, a small long, a negative one', () => {
      for (const { keys } of [stage(), { keys: keysOf(new Map(), true) }]) {
        const int = Buffer.alloc(4);
        int.writeInt32BE(70_000);
        for (const key of [
          int,
          longKey(7n),
          longKey(2n ** 24n - 1n),
          longKey(-7n),
          longKey(2n ** 55n),
          Buffer.alloc(0),
        ]) {
          const record = recordOf(key);
          assert.equal(keys.read(record), record);
        }
      }
    });
  });

  it('decodes keys whose schema is in headers, which say nothing of the value', async () => {
    const proto =
      'syntax = "proto3"; message Other { string x = 1; } message Key { int64 orderId = 1; message In { string id = 1; } }';
    const keys = keysOf(
      new Map<SchemaId, KnownSchema>([
        [`guids/${GUID}`, { type: 'PROTOBUF', text: proto }],
        ['globalIds/5', { type: 'AVRO', text: ID }],
        ['contentIds/5', { type: 'PROTOBUF', text: proto }],
        [9, { type: 'AVRO', text: ID }],
      ]),
    );
    const seven = [{ order_id: 7 }, '{"order_id":7}'];
    const guid = (indexes: string) => ({
      __key_schema_id: Buffer.from(`01${GUID.replaceAll('-', '')}${indexes}`, 'hex'),
    });
    const message = Buffer.from([0x08, 7]);
    assert.deepEqual(await read(keys, message, guid('0202')), seven);
    assert.deepEqual(await read(keys, Buffer.from([0x0a, 1, 0x61]), guid('040200')), [{ id: 'a' }, '{"id":"a"}']);
    assert.deepEqual(
      await read(keys, bodyOf(ID, { orderId: 7 }), { __key_schema_id: Buffer.from('0000000009', 'hex') }),
      seven,
    );
    const five = Buffer.from('0000000000000005', 'hex');
    assert.deepEqual(await read(keys, bodyOf(ID, { orderId: 7 }), { 'apicurio.key.globalId': five }), seven);
    const named = { 'apicurio.key.contentId': five, 'apicurio.protobuf.type.key': Buffer.from('Key') };
    assert.deepEqual(await read(keys, message, named), seven);
    assert.equal(await read(keys, message, { __key_schema_id: Buffer.from([1, 2]) }), 'no_schema_id');
    const ofValue = { __value_schema_id: guid('00').__key_schema_id, 'apicurio.value.globalId': five };
    assert.deepEqual(await read(keys, '7', ofValue), [undefined, '7']);
    assert.equal(await read(keysOf(), message, guid('')), 'needs_registry');
  });

  it('decodes keys with an id of 8 bytes of an Apicurio; elsewhere they are windowed longs', async () => {
    const schemas = new Map<SchemaId, KnownSchema>([['globalIds/5', { type: 'AVRO', text: ID }]]);
    const key = Buffer.concat([Buffer.from('000000000000000005', 'hex'), bodyOf(ID, { orderId: 7 })]);
    assert.deepEqual(await read(keysOf(schemas, true), key), [{ order_id: 7 }, '{"order_id":7}']);
    for (const keys of [keysOf(schemas), keysOf()]) {
      const record = recordOf(key);
      assert.equal(keys.read(record), record);
    }
  });

  it('decodes keys whose schema refers to others', async () => {
    const place = '{"type":"record","name":"Place","namespace":"a","fields":[{"name":"unitNo","type":"int"}]}';
    const key = '{"type":"record","name":"K","fields":[{"name":"at","type":"a.Place"}]}';
    const schemas = new Map([
      [1, { type: 'AVRO', text: key, references: [{ name: 'a.Place', text: place }] }],
    ] as const);
    assert.deepEqual(await read(keysOf(schemas), framed(1, Buffer.from([14]))), [
      { at: { unit_no: 7 } },
      '{"at":{"unit_no":7}}',
    ]);
  });
});
