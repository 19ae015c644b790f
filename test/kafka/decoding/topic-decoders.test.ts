import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRouters } from '../../../src/graph/router.ts';
import type { Conversion } from '../../../src/kafka/batch.ts';
import { Converter } from '../../../src/kafka/decoding/converter.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';
import { TopicDecoders } from '../../../src/kafka/decoding/topic-decoders.ts';
import type { TopicDecodersOptions } from '../../../src/kafka/decoding/topic-decoders.ts';
import { SchemaUnavailableError } from '../../../src/kafka/decoding/schema-errors.ts';
import { UndecodableError } from '../../../src/kafka/decoding/decoder.ts';
import type { CompileSchema } from '../../../src/kafka/decoding/decoder.ts';
import type { RegisteredSchema, SchemaType } from '../../../src/kafka/decoding/schema-registry.ts';
import type { SchemaId } from '../../../src/kafka/decoding/wire-format.ts';
import { framed } from '../../support/schema-registry.ts';
import { waitFor } from '../../support/wait-for.ts';
import { settled } from './settled.ts';
import { readableLog } from '../consumer-harness.ts';

const LIMITS = { maxBytes: 1000, maxDepth: 8 };
const bids = { field: 'bid', topics: ['bids'], match: [], payload: [], where: [], isShared: true };
const JSON_TEXT = Buffer.from('{"auctionId":7}');
const PAYLOAD = '{"auction_id":7}';

/** A schema whose records are `{"text": <the bytes>}`; its text `broken` cannot be compiled. */
const compileText: CompileSchema = (text) => {
  if (text === 'broken') throw new Error('line 1: no schema');
  const decode = (bytes: Buffer) => {
    if (bytes.toString() === 'poison') throw new UndecodableError('not_avro');
    return { schema: text, text: bytes.toString() };
  };
  return { fields: { keys: ['text'], at: () => undefined }, decode, decodeKey: decode };
};

const load = () => Promise.resolve(compileText);

const schema = (type: SchemaType, text = 'v1'): RegisteredSchema => ({ type, text, references: [] });

function createStage({
  format,
  schemas = new Map(),
  loadAvro = load,
}: {
  format?: TopicDecodersOptions['format'];
  schemas?: Map<SchemaId, RegisteredSchema | Promise<RegisteredSchema> | Error>;
  loadAvro?: typeof load;
} = {}) {
  const { log, lines } = readableLog();
  const asked: SchemaId[] = [];
  const decoders = new TopicDecoders({
    topic: 'bids',
    format,
    registry: {
      isApicurio: false,
      schema: (id) => {
        asked.push(id);
        const found = schemas.get(id);
        return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
      },
    },
    compilers: { AVRO: loadAvro, PROTOBUF: load, JSON: load },
    decoderOptions: {
      nameOf: (key) => key,
      shape: { kinds: new Set(), at: () => assert.fail() },
      limits: LIMITS,
      onOverflow: () => undefined,
    },
    log,
  });
  const converter = new Converter(createRouters([bids], 'p:'), LIMITS, new SnakeCase(), {
    decoders: new Map([['bids', decoders]]),
  });
  const convert = (value: Buffer) => converter.convert({ topic: 'bids', key: null, value });
  const outcome = async (value: Buffer) => {
    const { poison, payload } = settled(await convert(value));
    return poison ?? String(payload);
  };
  return { convert, outcome, asked, lines };
}

describe('TopicDecoders, without a format', () => {
  it('takes a record that does not begin with a zero byte as JSON, at once', () => {
    const { convert, asked } = createStage();
    assert.equal(String((convert(JSON_TEXT) as Conversion).payload), PAYLOAD);
    assert.equal((convert(Buffer.from('\u0001')) as Conversion).poison, 'not_json');
    assert.equal((convert(Buffer.alloc(0)) as Conversion).poison, 'not_json');
    assert.deepEqual(asked, []);
  });

  it('decodes a record by its schema, and fetches each schema once', async () => {
    const schemas = new Map([
      [1, schema('AVRO')],
      [2, schema('PROTOBUF', 'v2')],
      [3, schema('JSON')],
    ]);
    const { convert, outcome, asked } = createStage({ schemas });
    const values = [1, 2, 1].map((id) => framed(id, Buffer.from('a')));
    assert.deepEqual(await Promise.all(values.map(outcome)), [
      '{"schema":"v1","text":"a"}',
      '{"schema":"v2","text":"a"}',
      '{"schema":"v1","text":"a"}',
    ]);
    assert.ok(!(convert(values[0]!) instanceof Promise));
    assert.equal(await outcome(framed(3, JSON_TEXT)), PAYLOAD);
    assert.equal(String((convert(framed(3, JSON_TEXT)) as Conversion).payload), PAYLOAD);
    assert.deepEqual([...new Set(asked)], [1, 2, 3]);
  });

  it('returns the reason of a record that its decoder refuses, and of one that is too large', async () => {
    const { outcome } = createStage({ schemas: new Map([[1, schema('AVRO')]]) });
    assert.equal(await outcome(framed(1, Buffer.from('poison'))), 'not_avro');
    assert.equal(await outcome(framed(1, Buffer.from('poison'))), 'not_avro');
    assert.equal(await outcome(framed(1, Buffer.alloc(1000))), 'too_large');
  });

  it('asks for no id that no registry gives', async () => {
    const { outcome, asked } = createStage();
    for (const bytes of [[0], [0, 0, 0, 0], [0, 0, 0, 0, 0, 1], [0, 255, 255, 255, 255, 1], [0, 128, 0, 0, 0, 1]])
      assert.equal(await outcome(Buffer.from(bytes)), 'no_schema_id');
    assert.deepEqual(asked, []);
  });

  it('names why a schema cannot be used, and asks for it once', async () => {
    const { outcome, asked, lines } = createStage({ schemas: new Map([[1, schema('AVRO', 'broken')]]) });
    for (let i = 0; i < 3; i++) assert.equal(await outcome(framed(1, JSON_TEXT)), 'unusable_schema');
    assert.deepEqual(asked, [1]);
    assert.match(lines.join(''), /"topic":"bids","schema":1,"reason":"unusable_schema".*line 1: no schema/);
  });

  it('retries while the module of a decoder cannot be loaded, which says nothing of the schema', async () => {
    let isLoaded = false;
    const loadAvro = () => (isLoaded ? load() : Promise.reject(new Error('EMFILE')));
    const { outcome } = createStage({ schemas: new Map([[1, schema('AVRO')]]), loadAvro });
    await assert.rejects(outcome(framed(1, Buffer.from('a'))), {
      code: 'ERR_SCHEMA_UNAVAILABLE',
      message: 'the decoder of AVRO could not be loaded: EMFILE',
      schema: 1,
    });
    isLoaded = true;
    assert.notEqual(await outcome(framed(1, Buffer.from('a'))), 'unusable_schema');
  });

  it('rejects with the id while the schema cannot be had, and decodes once it can', async () => {
    const schemas = new Map<number, RegisteredSchema | Error>([[1, new SchemaUnavailableError('away')]]);
    const { outcome } = createStage({ schemas });
    await assert.rejects(outcome(framed(1, JSON_TEXT)), { code: 'ERR_SCHEMA_UNAVAILABLE', message: 'away', schema: 1 });
    schemas.delete(1);
    await assert.rejects(outcome(framed(1, JSON_TEXT)), /does not know schema 1/);
    schemas.set(1, schema('JSON'));
    assert.equal(await outcome(framed(1, JSON_TEXT)), PAYLOAD);
  });

  it('rejects while the registry does not answer, and decodes by an answer that comes later', async () => {
    let answer!: (found: RegisteredSchema) => void;
    const schemas = new Map([[1, new Promise<RegisteredSchema>((resolve) => (answer = resolve))]]);
    const { outcome, convert, asked } = createStage({ schemas });
    const record = framed(1, Buffer.from('a'));
    const refusal = {
      code: 'ERR_SCHEMA_UNAVAILABLE',
      message: 'the schema registry has not answered yet',
      schema: 1,
      isPending: true,
    };
    await assert.rejects(outcome(record), refusal);
    await assert.rejects(outcome(record), refusal);
    answer(schema('AVRO'));
    await waitFor('the decoder', () => outcome(record).then(Boolean, () => false));
    assert.equal(String((convert(record) as Conversion).payload), '{"schema":"v1","text":"a"}');
    assert.deepEqual(asked, [1]);
  });
});

describe('TopicDecoders, with a format', () => {
  it('refuses records without the id of a schema', async () => {
    for (const format of ['AVRO', 'PROTOBUF', 'JSON_SCHEMA'] as const)
      assert.equal(await createStage({ format }).outcome(JSON_TEXT), 'no_schema_id');
  });

  it('reads JSON_SCHEMA without asking for the schema', () => {
    const { convert, asked } = createStage({ format: 'JSON_SCHEMA' });
    assert.equal(String((convert(framed(9, JSON_TEXT)) as Conversion).payload), PAYLOAD);
    assert.deepEqual(asked, []);
  });

  it('refuses a schema of another format', async () => {
    const { outcome, lines } = createStage({ format: 'AVRO', schemas: new Map([[1, schema('PROTOBUF')]]) });
    assert.equal(await outcome(framed(1, JSON_TEXT)), 'other_format');
    assert.match(lines.join(''), /its type is PROTOBUF; correct the format in @kafka, or leave it out/);
  });
});

describe('Converter without a schema registry', () => {
  it('says that a record with the id of a schema needs one', () => {
    const converter = new Converter(createRouters([bids], 'p:'), LIMITS, new SnakeCase());
    const conversion = converter.convert({ topic: 'bids', key: null, value: framed(1, Buffer.from([255])) });
    assert.deepEqual(conversion, { poison: 'needs_registry' });
  });
});
