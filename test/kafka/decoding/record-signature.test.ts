import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { RecordContent } from '../../../src/kafka/batch.ts';
import { UndecodableError } from '../../../src/kafka/decoding/decoder.ts';
import { graphDecoders } from '../../../src/kafka/decoding/graph-decoders.ts';
import { PayloadReader } from '../../../src/kafka/decoding/payload-reader.ts';
import type { DecodeReason } from '../../../src/kafka/decoding/record.ts';
import { signatureOf } from '../../../src/kafka/decoding/record-signature.ts';
import { ForeignSchemaError } from '../../../src/kafka/decoding/schema-errors.ts';
import type { SchemaId } from '../../../src/kafka/decoding/wire-format.ts';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';
import { undecodableReason } from '../../../src/kafka/undecodable-reason.ts';
import { framed } from '../../support/schema-registry.ts';
import { readableLog } from '../consumer-harness.ts';

const SECRET = 'hunter2';
const AVRO = Buffer.from(`\u000e${SECRET}\u00ff\u0002`, 'latin1');
const UUID = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');
const JSON_TEXT = JSON.stringify({ name: SECRET });
const header = (name: string, value: Buffer | string = SECRET) => ({ [name]: Buffer.from(value) });
const GUID = Buffer.concat([Buffer.of(1), UUID]);
const LONG_ID = Buffer.from('0000000000000009', 'hex');
const bytes = (...parts: (Buffer | string | number[])[]) =>
  Buffer.concat(parts.map((part) => (Array.isArray(part) ? Buffer.from(part) : Buffer.from(part))));

type Format = 'AVRO' | 'JSON_SCHEMA' | 'JSON' | undefined;
/** @param format of the topic; `JSON`: also without a registry */
type Case = readonly [
  format: Format,
  value: Buffer | string,
  reason: DecodeReason,
  found: RegExp,
  fix: RegExp,
  headers?: RecordContent['headers'],
];

const OBJECT = /write a JSON object/;
const WIRE = /write its schema's id into the value/;
const GLUE = /^AWS Glue's header, with schema version 01234567-89ab-cdef-0123-456789abcdef$/;
const INSTALL = /^npm install @aws-sdk\/client-glue@\S+ beside the graph/;
const AZURE = /^a schema id of Azure's Schema Registry$/;
const contentType = (id: Buffer) => header('content-type', `avro/binary+${id.toString('hex')}`);
const BATCHES = /compress its batches/;

const CASES: Readonly<Record<string, Case>> = {
  'AWS Glue, Avro': [undefined, bytes([3, 0], UUID, AVRO), 'needs_registry', GLUE, INSTALL],
  'AWS Glue, zlib': [undefined, bytes([3, 5], UUID, deflateSync(AVRO)), 'needs_registry', GLUE, INSTALL],
  'AWS Glue, JSON': ['JSON', bytes([3, 0], UUID, JSON_TEXT), 'needs_registry', GLUE, INSTALL],
  'AWS Glue for an Avro topic': ['AVRO', bytes([3, 0], UUID, AVRO), 'needs_registry', GLUE, INSTALL],
  'AWS Glue, cut off': ['AVRO', bytes([3, 0], UUID.subarray(1)), 'no_schema_id', /^binary data/, WIRE],
  "an id in Azure's header": [undefined, AVRO, 'invalid_utf8', AZURE, /cannot ask Azure's/, contentType(UUID)],
  "an id in Azure's header, for an Avro topic": ['AVRO', AVRO, 'no_schema_id', AZURE, /formats\.ts/, contentType(UUID)],
  "an id before Azure's former records": [
    undefined,
    bytes([0, 0, 0, 0], UUID.toString('hex'), AVRO),
    'unknown_schema',
    AZURE,
    /Confluent's wire format/,
  ],
  "Cloudera's header": [
    undefined,
    bytes([1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 2], AVRO),
    'invalid_utf8',
    /^the header of Cloudera's/,
    /serdes\.protocol\.version=0/,
  ],
  "an id in Cloudera's header of Kafka": [
    'AVRO',
    AVRO,
    'no_schema_id',
    /Cloudera/,
    /in\.header=false/,
    header('value.schema.version.id', Buffer.from([3, 0, 0, 0, 4])),
  ],
  "a schema in Spring's header": [
    'AVRO',
    AVRO,
    'no_schema_id',
    /Spring Cloud Stream/,
    /useNativeEncoding/,
    header('contentType', '"application/vnd.order.v1+avro"'),
  ],
  'another content type': ['AVRO', AVRO, 'no_schema_id', /^binary data/, WIRE, header('content-type', 'avro/binary')],
  'an id of 4 bytes without a registry': [
    'JSON',
    framed(12, AVRO),
    'needs_registry',
    /Confluent's header, with schema 12$/,
    /SCHEMA_REGISTRY_URL .*leave out format/,
  ],
  'an id that the registry does not know': [
    undefined,
    framed(404, AVRO),
    'unknown_schema',
    /schema 404$/,
    /correct SCHEMA_REGISTRY_URL/,
  ],
  'an id of 8 bytes': [
    undefined,
    bytes([0, 0, 0, 0, 0, 0, 0, 0, 9], AVRO),
    'no_schema_id',
    /id of 8 bytes/,
    /ids of 4 bytes/,
  ],
  'an id of 8 bytes without a registry': [
    'JSON',
    bytes([0, 0, 0, 0, 0, 0, 0, 0, 9], AVRO),
    'needs_registry',
    /8 bytes/,
    /set SCHEMA_REGISTRY_URL /,
  ],
  'a zero byte of another format': [
    undefined,
    bytes([0, 255, 255, 255, 255], AVRO),
    'no_schema_id',
    /a zero byte/,
    WIRE,
  ],
  "an id in Confluent's header": [
    'AVRO',
    AVRO,
    'no_schema_id',
    /in the header __value_schema_id$/,
    /PrefixSchemaIdSerializer/,
    header('__value_schema_id'),
  ],
  'an id in a header, without a registry': [
    'JSON',
    AVRO,
    'invalid_utf8',
    /__value_schema_id$/,
    /set SCHEMA_REGISTRY_URL /,
    header('__value_schema_id', GUID),
  ],
  'an id in a header, before a null': [
    undefined,
    bytes([0, 0, 0, 1, 148], AVRO),
    'unknown_schema',
    /__value_schema_id$/,
    /correct SCHEMA_REGISTRY_URL/,
    header('__value_schema_id', GUID),
  ],
  "an id in Apicurio's header": [
    'AVRO',
    AVRO,
    'no_schema_id',
    /apicurio\.value\.globalId$/,
    /\/apis\/ccompat.*Apicurio: without headers/,
    header('apicurio.value.globalId', LONG_ID),
  ],
  'cut off JSON with an id in a header': [
    'JSON',
    '{"a":',
    'not_json',
    /cut off/,
    /producer/,
    header('__value_schema_id'),
  ],
  'JSON in a topic of Avro': ['AVRO', JSON_TEXT, 'no_schema_id', /a JSON object without the id/, /correct the format/],
  'a JSON text inside a string': [
    'JSON',
    JSON.stringify(JSON_TEXT),
    'not_object',
    /a JSON text inside a string/,
    /serialize the object once .*expand\.json\.payload/,
  ],
  'an indented JSON text inside a string': [
    'JSON',
    JSON.stringify(`\n [${JSON_TEXT}]`),
    'not_object',
    /inside a string/,
    /once/,
  ],
  'a JSON text inside a string, after a header': [
    'JSON_SCHEMA',
    framed(1, Buffer.from(JSON.stringify(JSON_TEXT))),
    'not_object',
    /inside a string/,
    /once/,
  ],
  'a string': ['JSON', JSON.stringify(SECRET), 'not_object', /^a JSON string$/, OBJECT],
  'a list': ['JSON', `[${JSON_TEXT}]`, 'not_object', /^a JSON array$/, /a record for each object/],
  'a number': ['JSON', '7', 'not_object', /^a JSON number, true, false or null$/, OBJECT],
  null: ['JSON', 'null', 'not_object', /null$/, OBJECT],
  NaN: ['JSON', `{"name":"${SECRET}","x":NaN}`, 'not_json', /^NaN or Infinity/, /write null/],
  'minus Infinity in a list': ['JSON', '{"x":[1, -Infinity]}', 'not_json', /^NaN or Infinity/, /write null/],
  'single quotes': ['JSON', `{'name': '${SECRET}'}`, 'not_json', /^single quotes/, /double quotes/],
  'several objects': ['JSON', `${JSON_TEXT}\n${JSON_TEXT}`, 'not_json', /^several objects/, /a record for each object/],
  'an object that is cut off': ['JSON', JSON_TEXT.slice(0, -1), 'not_json', /cut off or malformed/, /producer/],
  'plain text': ['JSON', `order of ${SECRET}`, 'not_json', /^plain text$/, OBJECT],
  XML: ['JSON', `<order>${SECRET}</order>`, 'not_json', /^XML$/, OBJECT],
  'an empty value': ['JSON', '', 'not_json', /^an empty value$/, /null for a tombstone/],
  'Latin-1': ['JSON', Buffer.from('{"name":"é"}', 'latin1'), 'invalid_utf8', /not UTF-8/, /write UTF-8/],
  'a byte order mark': ['JSON', `\ufeff${JSON_TEXT}`, 'not_json', /byte order mark/, /without it/],
  'UTF-16': ['JSON', Buffer.from(`\ufeff${JSON_TEXT}`, 'utf16le'), 'invalid_utf8', /^UTF-16$/, /UTF-8/],
  'UTF-16 without a mark': ['JSON', Buffer.from(JSON_TEXT, 'utf16le'), 'not_json', /^UTF-16$/, /UTF-8/],
  gzip: ['JSON', gzipSync(JSON_TEXT), 'invalid_utf8', /^gzip data$/, BATCHES],
  zlib: ['JSON', deflateSync(JSON_TEXT), 'invalid_utf8', /^zlib data$/, BATCHES],
  Smile: ['JSON', bytes(':)\n\u0001', AVRO), 'invalid_utf8', /^Smile/, /formats\.ts/],
  CBOR: ['JSON', bytes([0xa1, 0x62], 'id', [0x18, 0xff]), 'invalid_utf8', /looks like CBOR$/, /formats\.ts/],
  MessagePack: ['JSON', bytes([0x81, 0xa2], 'id', [7]), 'invalid_utf8', /looks like MessagePack$/, /formats\.ts/],
  'an Avro file': ['JSON', bytes('Obj\u0001', AVRO), 'invalid_utf8', /^an Avro file$/, /without a file/],
  'Avro without a header': ['JSON', AVRO, 'invalid_utf8', /^binary data without a header$/, WIRE],
  'binary data that is UTF-8': ['AVRO', `\u0002${SECRET}`, 'no_schema_id', /^binary data/, WIRE],
  Brotli: ['JSON', brotliCompressSync(JSON_TEXT.repeat(9)), 'invalid_utf8', /^binary data/, WIRE],
};

const isOfConfluent = (id: SchemaId) => typeof id === 'number' || id.startsWith('guids/');

/** As the worker decodes it. */
async function reasonOf(
  format: Format,
  value: Buffer,
  headers: RecordContent['headers'],
): Promise<DecodeReason | undefined> {
  const limits = { maxBytes: 10_000, maxDepth: 8 };
  const { values: decoders } = graphDecoders(
    [{ topic: 'orders', format, nameOf: String, shape: { kinds: new Set(), at: () => assert.fail() } }],
    {
      limits,
      onOverflow: () => undefined,
      log: readableLog().log,
      registry: {
        isApicurio: false,
        schema: (id) =>
          Promise.reject(isOfConfluent(id) ? new UndecodableError('unknown_schema') : new ForeignSchemaError('')),
      },
      compilers: { AVRO: assert.fail, PROTOBUF: assert.fail, JSON: assert.fail },
    },
  );
  return (await new PayloadReader({ limits, keyPlaces: new Map(), decoders }).read({ topic: 'orders', headers }, value))
    ?.poison;
}

describe('signatureOf', () => {
  for (const [name, [format, content, expected, found, fix, headers]] of Object.entries(CASES)) {
    it(`says what the record is: ${name}`, async () => {
      const value = Buffer.from(content);
      const reason = await reasonOf(format, value, headers);
      assert.equal(reason, expected);
      const said = undecodableReason(reason, { value, headers }, ENVIRONMENT_NAMES);
      assert.ok(said.why.startsWith(`${reason}: `), said.why);
      assert.match(said.why.slice(reason.length + 2), found);
      assert.match(said.fix, fix);
      assert.doesNotMatch(JSON.stringify(said), new RegExp(SECRET));
    });
  }

  it('says of a record of no envelope that it is one of ExtJsonConverter, with the setting of the connector', () => {
    const value = Buffer.from('{"schemaId":7,"payload":{"op":"c"}}');
    const { why, fix } = undecodableReason('not_envelope', { value }, ENVIRONMENT_NAMES);
    assert.match(why, /^not_envelope: JSON of Apicurio's ExtJsonConverter/);
    assert.match(fix, /^set value\.converter of the connector to/);
    assert.equal(signatureOf('not_envelope', { value: Buffer.from('{"id":7,"payload":{}}') }), undefined);
  });

  it('says of a record of AWS Glue that was asked what else is wrong', () => {
    const said = (reason: DecodeReason, ...parts: Parameters<typeof bytes>) =>
      undecodableReason(reason, { value: bytes(...parts) }, ENVIRONMENT_NAMES);
    assert.match(said('unknown_schema', [3, 0], UUID, AVRO).fix, /^correct AWS_REGION/);
    assert.match(said('not_zlib', [3, 5], UUID, AVRO).fix, /the header says zlib/);
    assert.match(said('not_json', [3, 0], UUID, '{"a":').why, /cut off/);
    assert.match(said('unusable_schema', [3, 0], UUID, AVRO).fix, /^the log says why/);
  });

  it('says nothing of a record whose reason says all, and of one that was not read', () => {
    const value = Buffer.from('{');
    assert.equal(signatureOf('too_large', { value }), undefined);
    assert.equal(signatureOf('too_deep', { value }), undefined);
    assert.equal(signatureOf('batch_corrupt', { value: null }), undefined);
    assert.equal(undecodableReason('too_deep', { value }, ENVIRONMENT_NAMES).why, 'too_deep');
  });

  it('names the setting as its reader does', () => {
    const names = { ...ENVIRONMENT_NAMES, MAX_RECORD_BYTES: 'maxRecordBytes' };
    assert.equal(undecodableReason('too_large', { value: null }, names).fix, 'raise maxRecordBytes');
  });
});
