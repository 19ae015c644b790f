import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RecordHeaders } from '../../../src/kafka/batch.ts';
import { COMPILERS } from '../../../src/kafka/decoding/compilers.ts';
import { UNREAD } from '../../../src/kafka/decoding/decoder.ts';
import type { RecordPart } from '../../../src/kafka/decoding/decoder.ts';
import { PayloadReader } from '../../../src/kafka/decoding/payload-reader.ts';
import { ForeignSchemaError, SchemaUnavailableError } from '../../../src/kafka/decoding/schema-errors.ts';
import { TopicDecoders } from '../../../src/kafka/decoding/topic-decoders.ts';
import type { TopicDecodersOptions } from '../../../src/kafka/decoding/topic-decoders.ts';
import type { RegisteredSchema, SchemaType } from '../../../src/kafka/decoding/schema-registry.ts';
import type { SchemaId } from '../../../src/kafka/decoding/wire-format.ts';
import { framed } from '../../support/schema-registry.ts';
import { waitFor } from '../../support/wait-for.ts';
import { readableLog } from '../consumer-harness.ts';

const LIMITS = { maxBytes: 1000, maxDepth: 8 };
const AVRO_SCHEMA = JSON.stringify({
  type: 'record',
  name: 'Row',
  fields: [
    { name: 'before', type: ['null', 'string'] },
    { name: 'id', type: 'long' },
  ],
});
/** `before: null` first: the bytes begin with zeros. */
const AVRO = hex('000e');
const ROW = { before: null, id: 7 };
const PROTO_SCHEMA = `syntax = "proto3";
  message Row { int32 id = 1; message Old { string name = 1; } }
  message Note { string text = 1; Row.Old old = 2; }`;
const PROTO_ROW = hex('0807');
const PROTO_TEXT = hex('0a0161');
const JSON_TEXT = Buffer.from('{"id":7}');

// Written by HeaderSchemaIdSerializer of @confluentinc/schemaregistry 1.10.1.
const AVRO_GUID = hex('01a0e5e4f9473a4a1699bcd807e9ae4310');
const JSON_GUID = hex('018a7bcfca5bdc44b980d4ff82edb40427');
const PROTO_GUID = '0189791762233641869674299b90a802e2';
const AVRO_BY_GUID = 'guids/a0e5e4f9-473a-4a16-99bc-d807e9ae4310';
const JSON_BY_GUID = 'guids/8a7bcfca-5bdc-44b9-80d4-ff82edb40427';
const PROTO_BY_GUID = 'guids/89791762-2336-4186-9674-299b90a802e2';

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

const schema = (type: SchemaType, text: string): RegisteredSchema => ({ type, text, references: [] });
const avro = schema('AVRO', AVRO_SCHEMA);
const proto = schema('PROTOBUF', PROTO_SCHEMA);

interface StageOptions extends Pick<Partial<TopicDecodersOptions>, 'format' | 'subject'> {
  readonly part?: RecordPart;
  readonly schemas: Map<SchemaId, RegisteredSchema | Error>;
}

function createStage({ schemas, ...options }: StageOptions) {
  const asked: SchemaId[] = [];
  const decoders = new TopicDecoders({
    topic: 'rows',
    format: undefined,
    ...options,
    registry: {
      isApicurio: true,
      schema: (id) => {
        asked.push(id);
        const found = schemas.get(id);
        return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
      },
    },
    compilers: COMPILERS,
    decoderOptions: {
      nameOf: (key) => key,
      shape: UNREAD,
      limits: LIMITS,
      onOverflow: () => undefined,
    },
    log: readableLog().log,
  });
  const reader = new PayloadReader({ limits: LIMITS, keyPlaces: new Map(), decoders: new Map([['rows', decoders]]) });
  const read = async (value: Buffer, headers?: RecordHeaders) => {
    const { payload, poison } = (await reader.read({ topic: 'rows', headers }, value))!;
    return poison ?? payload;
  };
  return { read, asked };
}

describe('TopicDecoders, of schemas in headers', () => {
  it('decodes by a GUID of Confluent, also values that begin like a record with an id', async () => {
    const schemas = new Map([
      [AVRO_BY_GUID, avro],
      [JSON_BY_GUID, schema('JSON', '{"type":"object"}')],
    ] as const);
    const { read, asked } = createStage({ schemas });
    const zeros = hex(`00${'00'.repeat(3)}0a`);
    assert.deepEqual(await read(AVRO, { __value_schema_id: AVRO_GUID }), ROW);
    assert.equal(await read(zeros, { __value_schema_id: AVRO_GUID }), 'not_avro');
    assert.deepEqual(await read(JSON_TEXT, { __value_schema_id: JSON_GUID }), { id: 7 });
    assert.deepEqual(await read(JSON_TEXT, {}), { id: 7 });
    assert.deepEqual(asked, [AVRO_BY_GUID, JSON_BY_GUID]);
  });

  it('reads the message of Protobuf from the header', async () => {
    const { read } = createStage({ schemas: new Map([[PROTO_BY_GUID, proto]]) });
    const by = (indexes: string) => ({ __value_schema_id: hex(`${PROTO_GUID}${indexes}`) });
    assert.deepEqual(await read(PROTO_ROW, by('00')), { id: 7 });
    assert.deepEqual(await read(PROTO_ROW, by('')), { id: 7 });
    assert.equal(JSON.stringify(await read(PROTO_TEXT, by('0202'))), '{"text":"a"}');
    assert.deepEqual(await read(PROTO_TEXT, by('040000')), { name: 'a' });
  });

  it('takes an id of 4 bytes in the header, the last of several headers, and those of keys for keys', async () => {
    const schemas = new Map<SchemaId, RegisteredSchema>([
      [9, avro],
      [AVRO_BY_GUID, avro],
    ]);
    assert.deepEqual(await createStage({ schemas }).read(AVRO, { __value_schema_id: hex('0000000009') }), ROW);
    const several = { __value_schema_id: [hex('00'), AVRO_GUID] };
    assert.deepEqual(await createStage({ schemas }).read(AVRO, several), ROW);
    const headers = { __key_schema_id: AVRO_GUID, __value_schema_id: hex('00') };
    assert.deepEqual(await createStage({ schemas, part: 'key' }).read(AVRO, headers), ROW);
  });

  it('decodes by the ids of Apicurio, whose type of a Protobuf record is in a header or before the record', async () => {
    const id = hex('0000000000000005');
    const schemas = new Map<SchemaId, RegisteredSchema>([
      ['globalIds/5', avro],
      ['contentIds/5', proto],
    ]);
    const { read } = createStage({ schemas });
    assert.deepEqual(await read(AVRO, { 'apicurio.value.globalId': id }), ROW);
    const headers = { 'apicurio.value.contentId': id };
    const ref = Buffer.concat([hex('060a04'), Buffer.from('Note')]);
    const note = '{"text":"a"}';
    assert.deepEqual(await read(PROTO_ROW, headers), { id: 7 });
    assert.equal(JSON.stringify(await read(Buffer.concat([ref, PROTO_TEXT]), headers)), note);
    const typed = { ...headers, 'apicurio.protobuf.type': Buffer.from('Note') };
    assert.equal(JSON.stringify(await read(PROTO_TEXT, typed)), note);
    assert.equal(JSON.stringify(await read(Buffer.concat([ref, PROTO_TEXT]), typed)), note);
  });

  it('asks for nothing if the header cannot be read, whatever the value begins with', async () => {
    const { read, asked } = createStage({ schemas: new Map() });
    for (const name of ['__value_schema_id', 'apicurio.value.globalId', 'apicurio.value.contentId'])
      assert.equal(await read(framed(7, AVRO), { [name]: hex('05') }), 'no_schema_id');
    assert.equal(await read(AVRO, { 'apicurio.value.globalId': hex('ffffffffffffffff') }), 'no_schema_id');
    assert.deepEqual(asked, []);
  });

  it('waits with the GUID while the registry is away', async () => {
    const away = new SchemaUnavailableError('away');
    const { read } = createStage({ schemas: new Map([[AVRO_BY_GUID, away]]) });
    await assert.rejects(read(AVRO, { __value_schema_id: AVRO_GUID }), { message: 'away', schema: AVRO_BY_GUID });
  });
});

describe('TopicDecoders, of ids of 8 bytes', () => {
  const longId = (id: number, body: Buffer) => Buffer.concat([hex('0000000000'), framed(id, body).subarray(1)]);

  it('decodes by a global id, beside ids of 4 bytes and JSON', async () => {
    const schemas = new Map<SchemaId, RegisteredSchema>([
      ['globalIds/5', avro],
      ['globalIds/6', proto],
      [5, proto],
    ]);
    const { read } = createStage({ schemas });
    const ref = Buffer.concat([hex('050a03'), Buffer.from('Row')]);
    assert.deepEqual(await read(longId(5, AVRO)), ROW);
    assert.deepEqual(await read(longId(6, Buffer.concat([ref, PROTO_ROW]))), { id: 7 });
    assert.deepEqual(await read(framed(5, Buffer.concat([ref, PROTO_ROW]))), { id: 7 });
    assert.deepEqual(await read(framed(5, Buffer.concat([hex('00'), PROTO_ROW]))), { id: 7 });
    assert.deepEqual(await read(JSON_TEXT), { id: 7 });
    const { read: readJson, asked } = createStage({ format: 'JSON_SCHEMA', schemas });
    assert.deepEqual(await readJson(longId(9, JSON_TEXT)), { id: 7 });
    assert.deepEqual(asked, []);
  });

  it('refuses them where the registry is no Apicurio, and asks once', async () => {
    const foreign = new ForeignSchemaError('no Apicurio');
    const { read, asked } = createStage({ schemas: new Map([['globalIds/5', foreign]]) });
    for (let i = 0; i < 3; i++) assert.equal(await read(longId(5, AVRO)), 'no_schema_id');
    assert.deepEqual(asked, ['globalIds/5']);
  });
});

describe('TopicDecoders, of a subject', () => {
  it('decodes bare records by its newest schema, whatever they begin with', async () => {
    const ofAvro = createStage({ format: 'AVRO', subject: 'rows', schemas: new Map([['subjects/rows', avro]]) });
    assert.deepEqual(await ofAvro.read(AVRO), ROW);
    assert.deepEqual(await ofAvro.read(hex('000000')), 'not_avro');
    assert.deepEqual(ofAvro.asked, ['subjects/rows']);
    const ofProto = createStage({ format: 'PROTOBUF', subject: 'rows', schemas: new Map([['subjects/rows', proto]]) });
    assert.deepEqual(await ofProto.read(PROTO_ROW), { id: 7 });
  });

  it('fetches the newest schema again after 30 s, and uses the former one meanwhile and while it is away', async (t) => {
    const schemas = new Map<SchemaId, RegisteredSchema | Error>([['subjects/rows', avro]]);
    let now = performance.now();
    t.mock.method(performance, 'now', () => now);
    const { read, asked } = createStage({ format: 'AVRO', subject: 'rows', schemas });
    assert.deepEqual(await read(AVRO), ROW);
    schemas.set('subjects/rows', new SchemaUnavailableError('away'));
    now += 30_001;
    assert.deepEqual(await read(AVRO), ROW);
    assert.deepEqual(await read(AVRO), ROW);
    assert.equal(asked.length, 2);
    schemas.set('subjects/rows', schema('AVRO', AVRO_SCHEMA.replace('"id"', '"key"')));
    now += 30_001;
    assert.deepEqual(await read(AVRO), ROW);
    await waitFor('the newer schema', async () => 'key' in ((await read(AVRO)) as object));
  });
});
