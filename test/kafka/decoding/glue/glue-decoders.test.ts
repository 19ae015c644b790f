import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { deflateSync } from 'node:zlib';
import { snakeCaseName } from '../../../../src/base/json/key-naming.ts';
import type { RecordContent } from '../../../../src/kafka/batch.ts';
import { COMPILERS } from '../../../../src/kafka/decoding/compilers.ts';
import { UNREAD } from '../../../../src/kafka/decoding/decoder.ts';
import { graphDecoders } from '../../../../src/kafka/decoding/graph-decoders.ts';
import { PayloadReader } from '../../../../src/kafka/decoding/payload-reader.ts';
import { RecordKeys } from '../../../../src/kafka/decoding/record-keys.ts';
import { MissingRegistryError, SchemaUnavailableError } from '../../../../src/kafka/decoding/schema-errors.ts';
import { SnakeCase } from '../../../../src/kafka/decoding/snake-case.ts';
import { framed } from '../../../support/schema-registry.ts';
import { readableLog } from '../../consumer-harness.ts';
import { GLUE_RECORDS } from './glue-records.ts';

const LIMITS = { maxBytes: 1000, maxDepth: 8 };
const [AVRO, JSON_RECORD] = GLUE_RECORDS;
const NOTE = 'a'.repeat(40);

interface StageOptions {
  readonly format?: string | undefined;
  readonly hasGlue?: boolean;
  /** Of each request. */
  readonly failure?: Error;
}

function createStage(options: StageOptions = {}) {
  const { format, hasGlue = true } = options;
  const asked: string[] = [];
  const glue = {
    schema: (id: string) => {
      asked.push(id);
      if (options.failure) return Promise.reject(options.failure);
      const found = GLUE_RECORDS.find(({ version }) => id === `glue/${version}`);
      return Promise.resolve(found && { type: found.format, text: found.schema, references: [] });
    },
  };
  const { log, lines } = readableLog();
  const { values, keys } = graphDecoders([{ topic: 'rows', format, nameOf: snakeCaseName, shape: UNREAD }], {
    registry: undefined,
    glue: hasGlue ? glue : undefined,
    compilers: COMPILERS,
    limits: LIMITS,
    onOverflow: assert.fail,
    log,
  });
  const reader = new PayloadReader({ limits: LIMITS, keyPlaces: new Map(), decoders: values });
  const recordKeys = new RecordKeys({
    limits: LIMITS,
    snakeCase: new SnakeCase(),
    keyPlace: undefined,
    decoders: keys.get('rows'),
  });
  const read = async (value: Buffer, headers?: RecordContent['headers']) => {
    const { payload, poison } = (await reader.read({ topic: 'rows', headers }, value))!;
    return poison ?? (JSON.parse(JSON.stringify(payload)) as unknown);
  };
  const readKey = async (key: Buffer, value: Buffer | null = null) => {
    const { keyValue, keyProblem } = await recordKeys.read({ topic: 'rows', key, value });
    return keyProblem ?? keyValue;
  };
  return { read, readKey, asked, lines };
}

const header = (compression: number, version = AVRO!.version) =>
  Buffer.concat([Buffer.of(3, compression), Buffer.from(version.replaceAll('-', ''), 'hex')]);

describe("records of AWS Glue's own serializers", () => {
  it('are decoded, raw and compressed, beside JSON', async () => {
    const { read, asked } = createStage();
    for (const record of [AVRO!.raw, AVRO!.zlib, AVRO!.raw, AVRO!.zlib])
      assert.deepEqual(await read(record), { order_id: 7, note: NOTE });
    assert.deepEqual(await read(JSON_RECORD!.raw), { order_id: 7 });
    assert.deepEqual(await read(JSON_RECORD!.zlib), { order_id: 7 });
    assert.deepEqual(await read(Buffer.from('{"orderId":8}')), { order_id: 8 });
    assert.equal(new Set(asked).size, 2);
  });

  for (const { name, raw, zlib } of GLUE_RECORDS.filter(({ format }) => format === 'PROTOBUF')) {
    it(`are decoded by the message that they name: ${name}`, async () => {
      const { read } = createStage({ format: 'PROTOBUF' });
      const expected = {
        'shop.Order': { order_id: 7, labels_by_id: {} },
        'shop.Order.Line': { no: 7, parts: {} },
        'shop.Zone': { no: 7, odd_name_2: {} },
      };
      const row = expected[name as keyof typeof expected] ?? { no: 7 };
      assert.deepEqual(await read(raw), row);
      assert.deepEqual(await read(zlib), row);
    });
  }

  it('read a map, whose entries the schema writes as messages', async () => {
    const { raw } = GLUE_RECORDS.find(({ name }) => name === 'shop.Order')!;
    const entry = Buffer.from([0x12, 5, 0x0a, 1, 0x61, 0x10, 3]);
    assert.deepEqual(await createStage().read(Buffer.concat([raw, entry])), { order_id: 7, labels_by_id: { a: 3 } });
  });

  it('are poison if they name an entry of a map, or no message', async () => {
    const { raw } = GLUE_RECORDS.find(({ name }) => name === 'shop.Order')!;
    for (const index of [2, 12]) {
      const other = Buffer.from(raw);
      other[18] = index;
      assert.equal(await createStage().read(other), 'not_protobuf');
    }
  });

  it('are keys', async () => {
    const { read, readKey } = createStage();
    await read(AVRO!.raw);
    assert.deepEqual(await readKey(AVRO!.raw), { order_id: 7, note: NOTE });
    assert.deepEqual(await readKey(AVRO!.zlib), { order_id: 7, note: NOTE });
    assert.deepEqual(await readKey(JSON_RECORD!.zlib), { order_id: 7 });
    const { readKey: readOther } = createStage({ hasGlue: false });
    assert.equal(await readOther(AVRO!.raw), undefined);
  });

  it('are keys from the first record on, where the value beside it is of Glue, too', async () => {
    const { readKey } = createStage();
    assert.deepEqual(await readKey(AVRO!.raw, JSON_RECORD!.raw), { order_id: 7, note: NOTE });
  });

  it('are keys beside other values after Glue has known one, for which no record waits', async () => {
    const { readKey, asked } = createStage();
    assert.equal(await readKey(AVRO!.raw), undefined);
    await setImmediate();
    assert.deepEqual(await readKey(AVRO!.raw), { order_id: 7, note: NOTE });
    assert.deepEqual(new Set(asked), new Set([`glue/${AVRO!.version}`]));
  });

  it('are no keys while Glue knows none of the topic: a binary key stays what it is', async () => {
    for (const failure of [new SchemaUnavailableError('AWS Glue refuses'), undefined]) {
      const { readKey, asked } = createStage(failure && { failure });
      for (let i = 0; i < 50; i++)
        assert.equal(await readKey(Buffer.concat([header(0, `${i}`.padStart(32, '0'))])), undefined);
      assert.equal(asked.length, 1);
    }
  });

  it('are poison where AWS is not set up, and the log has the fix', async () => {
    const failure = new MissingRegistryError('AWS Glue is not asked: Region is missing; set AWS_REGION');
    const { read, readKey, lines } = createStage({ failure });
    assert.equal(await read(AVRO!.raw), 'needs_registry');
    assert.match(lines.join(''), /set AWS_REGION/);
    assert.deepEqual(await read(Buffer.from('{"orderId":8}')), { order_id: 8 });
    assert.equal(await readKey(AVRO!.raw), undefined);
  });

  it('leave JSON whose header names no id that can be read as it is, without a registry', async () => {
    const { read, readKey } = createStage();
    for (const name of ['__value_schema_id', 'apicurio.value.globalId', 'apicurio.value.contentId'])
      assert.deepEqual(await read(Buffer.from('{"id":1}'), { [name]: Buffer.from('x') }), { id: 1 });
    assert.equal(await readKey(Buffer.from('7')), undefined);
  });

  it('wait while Glue refuses, and say how to end that for JSON, until Glue has known a schema of the topic', async () => {
    const failure = new SchemaUnavailableError('AWS Glue refuses');
    const doubt =
      /^AWS Glue refuses\. It has known no schema of this topic since the start: if the records are JSON, say format: JSON in @kafka$/;
    await assert.rejects(createStage({ failure }).read(AVRO!.raw), { code: 'ERR_SCHEMA_UNAVAILABLE', message: doubt });
    await assert.rejects(createStage({ failure, format: 'AVRO' }).read(AVRO!.raw), { message: 'AWS Glue refuses' });
    const options = { failure };
    const { read } = createStage(options);
    options.failure = undefined!;
    await read(JSON_RECORD!.raw);
    options.failure = failure;
    await assert.rejects(read(AVRO!.raw), { message: 'AWS Glue refuses' });
  });

  it('are poison with a reason if their body is no zlib, is cut off, or exceeds the limit of records', async () => {
    const { read, readKey, asked } = createStage();
    for (const junk of ['no zlib', 'x', '', '\x78'])
      assert.equal(await read(Buffer.concat([header(5), Buffer.from(junk)])), 'not_zlib');
    assert.deepEqual(asked, []);
    assert.equal(await read(AVRO!.zlib.subarray(0, -5)), 'not_zlib');
    await read(AVRO!.raw);
    const bomb = Buffer.concat([header(5), deflateSync(Buffer.alloc(100_000))]);
    assert.ok(bomb.length < LIMITS.maxBytes);
    assert.equal(await read(bomb), 'too_large');
    assert.equal(await readKey(bomb), 'too_large');
    const json = Buffer.concat([header(5, JSON_RECORD!.version), deflateSync(Buffer.alloc(100_000))]);
    assert.equal(await read(json), 'too_large');
  });

  it('are read without asking Glue where the format is JSON_SCHEMA, and refused where it is another', async () => {
    const { read, asked } = createStage({ format: 'JSON_SCHEMA' });
    assert.deepEqual(await read(JSON_RECORD!.raw), { order_id: 7 });
    assert.deepEqual(await read(JSON_RECORD!.zlib), { order_id: 7 });
    assert.deepEqual(asked, []);
    assert.equal(await createStage({ format: 'PROTOBUF' }).read(AVRO!.raw), 'other_format');
  });

  it('need the package, and with it leave what others write as it is', async () => {
    for (const format of [undefined, 'AVRO'])
      assert.equal(await createStage({ format, hasGlue: false }).read(AVRO!.raw), 'needs_registry');
    const { read, readKey, asked } = createStage();
    assert.equal(await read(framed(7, Buffer.of(1))), 'needs_registry');
    assert.equal(await readKey(framed(7, Buffer.of(1))), 'needs_registry');
    // JSON may name its schema.
    const guid = Buffer.from(`01${AVRO!.version.replaceAll('-', '')}`, 'hex');
    assert.deepEqual(await read(Buffer.from('{"id":1}'), { __value_schema_id: guid }), { id: 1 });
    for (const other of [header(4), header(0).subarray(0, 17)]) {
      assert.match(String(await read(other)), /^(invalid_utf8|not_json)$/);
      assert.equal(await readKey(other), undefined);
    }
    assert.deepEqual(asked, []);
  });
});
