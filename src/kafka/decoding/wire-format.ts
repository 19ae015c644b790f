/**
 * Confluent's wire format: a zero byte, the id of a schema in four bytes (big endian), the record. JSON never begins with a zero byte.
 * https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format
 */
export const MAGIC_BYTE = 0;
export const HEADER_BYTES = 5;

/** Ids of Confluent's registry are positive 32-bit integers. */
const MAX_SCHEMA_ID = 2_147_483_647;

/** The schema's id; undefined: the record has no header, or one that no registry gives. */
export function schemaIdOf(record: Buffer): number | undefined {
  if (record.length < HEADER_BYTES || record[0] !== MAGIC_BYTE) return undefined;
  const id = record.readUInt32BE(1);
  return id >= 1 && id <= MAX_SCHEMA_ID ? id : undefined;
}
