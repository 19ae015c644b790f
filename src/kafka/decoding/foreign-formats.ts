import type { PoisonReason, RecordHeaders } from '../batch.ts';

/** What a record that cannot be decoded is, by its first bytes and the names of its headers. Has no value of the record. */
export interface Signature {
  readonly found: string;
  /** undefined: that of the reason. */
  readonly fix?: string | undefined;
  /** The fix is that of another reason. */
  readonly fixOf?: PoisonReason;
}

const OR_JSON = 'or JSON, or decode the values in formats.ts';
const CONFLUENT = "have the producer write Confluent's wire format with a registry of that kind";

const CLOUDERA: Signature = {
  found: "the header of Cloudera's serializers",
  fix: `have the producer write Confluent's wire format (serdes.protocol.version=0, store.schema.version.id.in.header=false), ${OR_JSON}`,
};

const AZURE: Signature = {
  found: "a schema id of Azure's Schema Registry",
  fix: `${CONFLUENT}, ${OR_JSON}: crier cannot ask Azure's`,
};

const SPRING: Signature = {
  found: 'a schema that Spring Cloud Stream names by subject and version in the header contentType',
  fix: `${CONFLUENT} (useNativeEncoding: true and Confluent's serializer), ${OR_JSON}`,
};

/**
 * Formats of registries that crier does not ask, by what a header has. The ids of Azure are UUIDs with or without hyphens.
 * https://github.com/hortonworks/registry/blob/master/docs/serdes.rst
 * https://github.com/Azure/azure-schema-registry-for-kafka
 * https://docs.spring.io/spring-cloud-stream/reference/schema-registry/spring-cloud-stream-schema-registry.html
 */
const OF_HEADERS: readonly (readonly [header: string, value: RegExp, signature: Signature])[] = [
  ['content-type', /^"?avro\/binary\+[\da-f]{8}-?([\da-f]{4}-?){3}[\da-f]{12}"?$/i, AZURE],
  ['contentType', /^"?application\/(\w+\.)*[\w-]+\.v\d+\+avro"?$/, SPRING],
  ['value.schema.version.id', /^/, CLOUDERA],
];

/** Azure's former serializers: 4 zero bytes, and an id of 32 hexadecimal digits. */
const AZURE_ID = /^[\da-f]{32}$/;
/** Cloudera's protocol 1: the id of a schema in 8 bytes, and its version in 4. Both are counted from 1. */
const CLOUDERA_BYTES = 13;
const CLOUDERA_PROTOCOL = 1;
const MAX_VERSION = 0xffff;
/** Characters that are looked at. */
const MAX_CHARACTERS = 128;

/** What a record of a registry that is not asked is; undefined: it is of none that is known. */
export function foreignSignatureOf(value: Buffer, headers: RecordHeaders): Signature | undefined {
  const byHeader = OF_HEADERS.find(([name, pattern]) => {
    const text = textOf(headers, name);
    return text !== undefined && pattern.test(text);
  });
  if (byHeader) return byHeader[2];
  if (value.length > 36 && value.readUInt32BE(0) === 0 && AZURE_ID.test(value.toString('latin1', 4, 36))) return AZURE;
  return isOfCloudera(value) ? CLOUDERA : undefined;
}

/** Kafka Connect's JSON by Apicurio's converter, which Debezium's images have: envelopes do not know it. */
const EXT_JSON = /^\s*\{\s*"schemaId"\s*:\s*\d+\s*,\s*"payload"\s*:/;

/** What a record is that is none of the envelope of its topic; undefined: the reason says all. */
export function envelopeSignatureOf(value: Buffer): Signature | undefined {
  if (!EXT_JSON.test(value.toString('latin1', 0, MAX_CHARACTERS))) return undefined;
  return {
    found: "JSON of Apicurio's ExtJsonConverter, with the value in its member payload",
    fix: 'set value.converter of the connector to org.apache.kafka.connect.json.JsonConverter, or to io.apicurio.registry.utils.converter.AvroConverter',
  };
}

function isOfCloudera(value: Buffer): boolean {
  if (value.length < CLOUDERA_BYTES || value[0] !== CLOUDERA_PROTOCOL) return false;
  const version = value.readUInt32BE(9);
  const id = value.readUInt32BE(5);
  return value.readUInt32BE(1) === 0 && id > 0 && version > 0 && version <= MAX_VERSION;
}

/** Of several headers of one name the last one counts. */
function textOf(headers: RecordHeaders, name: string): string | undefined {
  const header = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return (Array.isArray(header) ? header.at(-1) : header)?.toString();
}
