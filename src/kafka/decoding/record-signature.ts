import { isUtf8 } from 'node:buffer';
import { USE_GLUE } from '../../config/glue-package.ts';
import type { PoisonReason, RecordContent } from '../batch.ts';
import { envelopeSignatureOf, foreignSignatureOf } from './foreign-formats.ts';
import type { Signature } from './foreign-formats.ts';
import { SCHEMA_HEADERS } from './schema-headers.ts';
import { HEADER_BYTES, MAGIC_BYTE, glueFramingOf, longIdOf, schemaIdOf } from './wire-format.ts';
import type { GlueFraming } from './wire-format.ts';

type Content = Pick<RecordContent, 'value' | 'headers'>;

/** Characters that are looked at. */
const MAX_CHARACTERS = 4096;

const PREFIXED = "have the producer write its schema's id into the value, as Confluent's serializers do by default";
const UNCOMPRESSED = 'have the producer compress its batches (compression.type), not the values';

const OF_APICURIO = `name the Apicurio that gave it by its URL that ends in /apis/ccompat/v7, or ${PREFIXED} (Apicurio: without headers, with ids of 4 bytes)`;

/** By the name of a header in which serializers write the id of a schema: what to do if that id cannot be used. */
const ID_HEADERS: Readonly<Record<string, string>> = {
  [SCHEMA_HEADERS.value.guid]:
    `${PREFIXED} (value.schema.id.serializer=io.confluent.kafka.serializers.schema.id.PrefixSchemaIdSerializer)`,
  [SCHEMA_HEADERS.value.globalId]: OF_APICURIO,
  [SCHEMA_HEADERS.value.contentId]: OF_APICURIO,
  'apicurio.value.artifactId': 'have the producer write the id of the schema (apicurio.registry.use-id=contentId)',
};

const BINARY_FIX = 'have the producer write JSON, or decode the records in formats.ts';

/** Formats that begin with bytes of their own; two bytes at least. */
const MAGIC_NUMBERS: readonly (readonly [bytes: string, found: string, fix?: string])[] = [
  ['1f8b', 'gzip data', UNCOMPRESSED],
  ['789c', 'zlib data', UNCOMPRESSED],
  ['78da', 'zlib data', UNCOMPRESSED],
  ['28b52ffd', 'zstd data', UNCOMPRESSED],
  ['04224d18', 'lz4 data', UNCOMPRESSED],
  ['82534e41505059', 'snappy data', UNCOMPRESSED],
  ['ff060000734e6150', 'snappy data', UNCOMPRESSED],
  ['4f626a01', 'an Avro file', `have the producer write each record without a file around it; ${PREFIXED}`],
  ['3a290a', 'Smile, a binary JSON', BINARY_FIX],
  ['d9d9f7', 'CBOR', BINARY_FIX],
  ['aced0005', "an object of Java's serialization", 'have the producer write JSON, or a schema'],
  ['efbbbf', 'a byte order mark', 'have the producer write UTF-8 without it'],
  ['fffe', 'UTF-16', 'have the producer write UTF-8'],
  ['feff', 'UTF-16', 'have the producer write UTF-8'],
  ['7b00', 'UTF-16', 'have the producer write UTF-8'],
];

/** Reasons that say that the record is of another format than its topic's. */
const FORMAT_REASONS: ReadonlySet<PoisonReason> = new Set<PoisonReason>([
  'invalid_utf8',
  'not_json',
  'not_object',
  'not_avro',
  'not_protobuf',
  'not_zlib',
  'needs_registry',
  'no_schema_id',
  'unknown_schema',
  'unusable_schema',
  'other_format',
]);

const JSON_REASONS: ReadonlySet<PoisonReason> = new Set<PoisonReason>(['invalid_utf8', 'not_json', 'not_object']);

/** undefined: the reason says all, or nothing is known of the record. */
export function signatureOf(reason: PoisonReason, { value, headers = {} }: Content): Signature | undefined {
  if (value === null) return undefined;
  if (reason === 'not_envelope') return envelopeSignatureOf(value);
  if (!FORMAT_REASONS.has(reason)) return undefined;
  // JSON may have such a header, too, for those who validate it.
  const isJson = JSON_REASONS.has(reason) && /^\s*[{["]/.test(value.toString('latin1', 0, MAX_CHARACTERS));
  const header = Object.keys(ID_HEADERS).find((name) => !isJson && Object.hasOwn(headers, name));
  if (header !== undefined) {
    const found = `the id of its schema is in the header ${header}`;
    if (reason === 'no_schema_id') return { found, fix: ID_HEADERS[header] };
    // The registry has been asked, unless the record was read as JSON.
    return JSON_REASONS.has(reason) || reason === 'needs_registry' ? { found, fixOf: 'needs_registry' } : { found };
  }
  const ofGlue = glueFramingOf(value);
  if (ofGlue) return glueSignature(reason, value, ofGlue);
  const foreign = foreignSignatureOf(value, headers);
  if (foreign) return foreign;
  const magic = MAGIC_NUMBERS.find(([prefix]) => value.toString('hex', 0, prefix.length / 2) === prefix);
  if (magic) return { found: magic[1], fix: magic[2] };
  if (value[0] === MAGIC_BYTE) {
    // What could not be read is the JSON that follows the header.
    return JSON_REASONS.has(reason)
      ? textSignature(reason, value.subarray(HEADER_BYTES))
      : headerSignature(reason, value);
  }
  const binary = value.length > 1 ? mapFormatOf(value[0]!, value[1]!) : undefined;
  if (binary !== undefined) return { found: `binary data that looks like ${binary}`, fix: BINARY_FIX };
  return textSignature(reason, value);
}

/** Of a record of AWS Glue. Glue has been asked, unless it needs a registry. */
function glueSignature(reason: PoisonReason, value: Buffer, { schema, bodyAt, isCompressed }: GlueFraming): Signature {
  if (JSON_REASONS.has(reason) && !isCompressed) return textSignature(reason, value.subarray(bodyAt));
  const found = `AWS Glue's header, with schema version ${schema.slice('glue/'.length)}`;
  switch (reason) {
    case 'needs_registry':
      return {
        found,
        fix: `${USE_GLUE}: then crier asks Glue; and leave out format: JSON`,
      };
    case 'unknown_schema':
      return {
        found,
        fix: 'correct AWS_REGION or the account of the credentials: there Glue does not know this version',
      };
    case 'not_zlib':
      return {
        found,
        fix: 'correct what the producer writes: the header says zlib, and the body is none or is cut off',
      };
    default:
      return { found };
  }
}

/** The format of a map whose first key is a short text. */
function mapFormatOf(first: number, second: number): string | undefined {
  const isIn = (byte: number, from: number, to: number) => byte >= from && byte <= to;
  if ((isIn(first, 0x81, 0x8f) || first === 0xde) && isIn(second, 0xa1, 0xbf)) return 'MessagePack';
  return (isIn(first, 0xa1, 0xb8) || first === 0xbf) && isIn(second, 0x61, 0x78) ? 'CBOR' : undefined;
}

/** Of a record that begins with a zero byte. */
function headerSignature(reason: PoisonReason, value: Buffer): Signature {
  const id = schemaIdOf(value);
  if (id !== undefined) return { found: `Confluent's header, with schema ${id}` };
  if (longIdOf(value) !== undefined) {
    const found = 'a header with an id of 8 bytes, as Apicurio writes';
    if (reason === 'needs_registry') return { found, fixOf: reason };
    if (reason !== 'no_schema_id') return { found };
    return {
      found,
      fix: "name the Apicurio that gave it by its URL that ends in /apis/ccompat/v7, or have the producer write ids of 4 bytes, as Confluent's serializers do (apicurio.registry.id-handler)",
    };
  }
  return { found: 'a zero byte without the id of a schema', fix: `correct the topic, or ${PREFIXED}` };
}

const OBJECT_IN_STRING = /^"(\\[nrt]|\s)*[{[]/;
const NO_NUMBER = /[[:,]\s*-?(NaN|Infinity)\b/;

/** Of a record that may be a text. */
function textSignature(reason: PoisonReason, value: Buffer): Signature {
  const text = value.toString('latin1', 0, MAX_CHARACTERS).trimStart();
  // Nobody says whether the format or the producer is wrong.
  const fix = reason === 'no_schema_id' ? undefined : 'have the producer write a JSON object';
  if (text === '') return { found: 'an empty value', fix: 'have the producer write null for a tombstone' };
  if (reason === 'invalid_utf8' || !isUtf8(value)) {
    if (text.startsWith('{'))
      return { found: 'an object whose text is not UTF-8', fix: 'have the producer write UTF-8' };
    return { found: 'binary data without a header', fix: `correct the topic, or ${PREFIXED}` };
  }
  if (reason === 'not_json' && /^[{["]/.test(text)) return malformedSignature(text);
  if (text.startsWith('{')) return { found: 'a JSON object without the id of a schema', fix };
  if (OBJECT_IN_STRING.test(text)) {
    return {
      found: 'a JSON text inside a string',
      fix: "have the producer serialize the object once (Debezium's outbox: table.expand.json.payload=true)",
    };
  }
  if (text.startsWith('[')) return { found: 'a JSON array', fix: 'have the producer write a record for each object' };
  if (text.startsWith('"')) return { found: 'a JSON string', fix };
  if (reason === 'not_object') return { found: 'a JSON number, true, false or null', fix };
  if (text.startsWith('<')) return { found: 'XML', fix };
  if (CONTROL.test(text)) return { found: 'binary data without a header', fix: `correct the topic, or ${PREFIXED}` };
  return { found: 'plain text', fix };
}

/** Control characters but white space. */
const CONTROL = /[\0-\x08\x0e-\x1f]/;

/** Of a text that begins like JSON. */
function malformedSignature(text: string): Signature {
  if (NO_NUMBER.test(text)) {
    return { found: 'NaN or Infinity, which JSON does not have', fix: 'have the producer write null or a string' };
  }
  if (/^\{\s*'/.test(text)) return { found: 'single quotes', fix: 'have the producer write JSON, with double quotes' };
  if (/\}\s*\n\s*\{/.test(text)) {
    return { found: 'several objects', fix: 'have the producer write a record for each object' };
  }
  return { found: 'JSON that is cut off or malformed', fix: 'correct what the producer writes' };
}
