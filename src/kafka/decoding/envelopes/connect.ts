import { isJsonObject } from '../../../base/json/json-object.ts';
import { notOfEnvelope } from './envelope.ts';
import type { Envelope } from './envelope.ts';

/**
 * The value of a record of Kafka Connect's JsonConverter with `schemas.enable`, without its schema:
 * https://cwiki.apache.org/confluence/display/KAFKA/KIP-301. Another value is returned as it is.
 */
export function withoutSchema(value: unknown): unknown {
  return isJsonObject(value) && 'payload' in value && isConnectSchema(value['schema']) ? value['payload'] : value;
}

/** Null is the schema of a value without one. */
function isConnectSchema(schema: unknown): boolean {
  return schema === null || (isJsonObject(schema) && typeof schema['type'] === 'string');
}

/** Rows of Kafka Connect, with or without a schema. */
export const CONNECT: Envelope = {
  read: (value) => {
    const row = withoutSchema(value);
    if (row === null) return { row: null, op: 'DELETE' };
    return isJsonObject(row) ? { row } : notOfEnvelope();
  },
};
