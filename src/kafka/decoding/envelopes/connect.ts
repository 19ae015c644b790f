import { isJsonObject } from '../../../base/json/json-object.ts';
import { notOfEnvelope } from './envelope.ts';
import type { Envelope } from './envelope.ts';

/** The types that a schema of JsonConverter names. */
const TYPES: ReadonlySet<unknown> = new Set(
  'boolean int8 int16 int32 int64 float double bytes string array map struct'.split(' '),
);

/**
 * The value of a record of Kafka Connect's JsonConverter with `schemas.enable`, without its schema: an object of exactly `schema` and `payload`.
 * Another value is returned as it is. https://cwiki.apache.org/confluence/display/KAFKA/KIP-301
 */
export function withoutSchema(value: unknown): unknown {
  if (!isJsonObject(value) || !('payload' in value) || !isConnectSchema(value['schema'])) return value;
  return Object.keys(value).length === 2 ? value['payload'] : value;
}

/** Null is the schema of a value without one. */
function isConnectSchema(schema: unknown): boolean {
  return schema === null || (isJsonObject(schema) && TYPES.has(schema['type']));
}

/** Rows of Kafka Connect, with or without a schema. */
export const CONNECT: Envelope = {
  read: (value) => {
    const row = withoutSchema(value);
    if (row === null) return { row: null, op: 'DELETE' };
    return isJsonObject(row) ? { row } : notOfEnvelope();
  },
};
