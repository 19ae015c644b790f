/**
 * Confluent's wire format: a zero byte, the id of a schema in four bytes (big endian), the record. JSON never begins with a zero byte.
 * https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format
 */
export const MAGIC_BYTE = 0;
export const HEADER_BYTES = 5;

/** Ids of Confluent's registry are positive 32-bit integers. */
const MAX_SCHEMA_ID = 2_147_483_647;

/**
 * The format of Apicurio's Legacy8ByteIdHandler, the default before its version 3: a zero byte, and the global id of a schema in eight bytes.
 * https://www.apicur.io/registry/docs/apicurio-registry/3.0.x/getting-started/assembly-configuring-kafka-client-serdes.html
 */
export const LONG_HEADER_BYTES = 9;

/** A path of Apicurio's own API. */
export type ApicurioId = `globalIds/${number}` | `contentIds/${number}`;

/** With the UUID of a schema version of AWS Glue. */
export type GlueId = `glue/${string}`;

/** A number is an id of Confluent's API. The others are paths of a registry's API, those of Confluent's are `guids` and the newest of `subjects`. */
export type RegistryId = number | `guids/${string}` | `subjects/${string}` | ApicurioId;

/** A schema, as a record or a graph names it. */
export type SchemaId = RegistryId | GlueId;

/** How a record names its schema, and where its body is. */
export interface Framing {
  /** The decoder of the topic is kept under this. */
  readonly key: number | string;
  readonly schema: SchemaId;
  /** Offset of the body. */
  readonly bodyAt: number;
  /** What names the message of Protobuf, if that is not in the body: the indexes of Confluent, or the `Ref` of Apicurio. */
  readonly message?: Buffer;
  /** True if the body may begin with a `Ref` of Apicurio instead. */
  readonly mayHaveRef?: true;
  /** True if the body is compressed by zlib. */
  readonly isCompressed?: boolean;
}

/** The indexes of the first message of a Protobuf file. */
export const FIRST_MESSAGE = Buffer.of(0);

/** The schema's id; undefined: the record has no header, or one that no registry gives. */
export function schemaIdOf(record: Buffer): number | undefined {
  if (record.length < HEADER_BYTES || record[0] !== MAGIC_BYTE) return undefined;
  const id = record.readUInt32BE(1);
  return id >= 1 && id <= MAX_SCHEMA_ID ? id : undefined;
}

/** The id of 8 bytes; undefined: the record has none. Those of 4 bytes are not zero, so an id beyond 32 bits is taken for one of them. */
export function longIdOf(record: Buffer): number | undefined {
  if (record.length < LONG_HEADER_BYTES || record.readUIntBE(0, HEADER_BYTES) !== 0) return undefined;
  return record.readUInt32BE(HEADER_BYTES) || undefined;
}

export function uuidOf(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const REF_NAME = 0x0a;
/** Of the length of a message in one byte. */
const MAX_REF_BYTES = 127;

/**
 * Apicurio's `Ref { string name = 1; }`, after its length: it names the message of Protobuf before the record.
 * undefined: the name is too long.
 */
export function refTo(name: Buffer): Buffer | undefined {
  return name.length + 2 > MAX_REF_BYTES ? undefined : Buffer.from([name.length + 2, REF_NAME, name.length, ...name]);
}

/** True if the body of a record begins like a `Ref`. */
export function startsWithRef(body: Buffer): boolean {
  return refNameIn(body, 0) !== undefined;
}

/** The name in the `Ref` that begins at an offset; undefined: there is none. */
export function refNameIn(bytes: Buffer, at: number): string | undefined {
  const length = bytes[at + 2]!;
  if (bytes[at + 1] !== REF_NAME || bytes[at] !== length + 2 || at + 3 + length > bytes.length) return undefined;
  const name = bytes.toString('latin1', at + 3, at + 3 + length);
  return /^[A-Za-z_][\w.]*$/.test(name) ? name : undefined;
}

/**
 * The first byte of records of AWS Glue's serializers. 0 or for zlib 5 follows, then the UUID of a schema version in 16 bytes. JSON never begins
 * with this byte.
 * https://github.com/awslabs/aws-glue-schema-registry/blob/master/common/src/main/java/com/amazonaws/services/schemaregistry/utils/AWSSchemaRegistryConstants.java
 */
export const GLUE_BYTE = 3;
const UNCOMPRESSED = 0;
const ZLIB = 5;
const GLUE_HEADER_BYTES = 18;

export interface GlueFraming extends Framing {
  readonly schema: GlueId;
}

/** How a record of AWS Glue names its schema; undefined: it is none. */
export function glueFramingOf(record: Buffer): GlueFraming | undefined {
  if (record.length < GLUE_HEADER_BYTES || record[0] !== GLUE_BYTE) return undefined;
  const compression = record[1];
  if (compression !== UNCOMPRESSED && compression !== ZLIB) return undefined;
  const schema = `glue/${uuidOf(record, 2)}` as const;
  const framing = { key: schema, schema, bodyAt: GLUE_HEADER_BYTES };
  return compression === ZLIB ? { ...framing, key: `${schema}/zlib`, isCompressed: true } : framing;
}
