import { isUtf8 } from 'node:buffer';
import { BACKSLASH, CLOSING, CLOSING_SQUARE, OPENING, OPENING_SQUARE, QUOTE } from '../../base/json/characters.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';
import { isJsonObject } from '../../base/json/json-object.ts';
import { MAGIC_BYTE, glueFramingOf } from './wire-format.ts';

/** Why a record cannot become a payload. */
export type DecodeReason =
  | 'too_large'
  | 'invalid_utf8'
  | 'too_deep'
  | 'not_json'
  /** JSON, but a scalar, null or an array: GraphQL reads fields from objects only. Also Avro whose schema is no record. */
  | 'not_object'
  /** The bytes do not fit the schema with which they were written. */
  | 'not_avro'
  | 'not_protobuf'
  /** The header of AWS Glue says that the body is compressed by zlib, and it is not, or it is cut off. */
  | 'not_zlib'
  /** The decoder of the graph's own format has thrown. */
  | 'not_own_format'
  /** It names a schema of a registry, and SCHEMA_REGISTRY_URL is not set. */
  | 'needs_registry'
  /** The format of its topic needs the id of a schema, and it has none. */
  | 'no_schema_id'
  | 'unknown_schema'
  /** The registry's schema cannot be compiled. */
  | 'unusable_schema'
  /** The schema is of another format than its topic's. */
  | 'other_format'
  /** Its value is not what the `envelope` of its topic says. */
  | 'not_envelope';

/** Exactly one of the two is set. */
export type Decoded =
  | { readonly payload: Record<string, unknown>; readonly poison?: undefined }
  | { readonly poison: DecodeReason; readonly payload?: undefined };

export interface RecordLimits {
  readonly maxBytes: number;
  /** Levels of objects and arrays; an object of scalars is one. */
  readonly maxDepth: number;
}

/**
 * Returns the JSON object in a record's value. Never throws, and keeps no reference to the buffer: kafkajs's values are slices of a
 * whole fetch response. The checks run in the order of DecodeReason, cheap ones first. Depth is checked before parsing, because the
 * code after it recurses.
 *
 * A byte order mark is not JSON (https://www.rfc-editor.org/rfc/rfc8259#section-8.1): such a record is poison.
 * The last value of a repeated name counts. A number whose digits a double loses, such as an integer beyond 2^53, becomes its text.
 * 1e400 becomes Infinity, which SnakeCase turns into null.
 */
export function decodeRecord(value: Buffer, limits: RecordLimits): Decoded {
  const { json, poison } = decodeJson(value, limits);
  if (poison !== undefined) return { poison };
  return isJsonObject(json) ? { payload: json } : { poison: 'not_object' };
}

/** Likewise for JSON of any kind. */
export function decodeJson(
  value: Buffer,
  limits: RecordLimits,
): { readonly json?: unknown; readonly poison?: DecodeReason } {
  if (value.length > limits.maxBytes) return { poison: 'too_large' };
  if (value[0] === MAGIC_BYTE || glueFramingOf(value)) return { poison: 'needs_registry' };
  if (!isUtf8(value)) return { poison: 'invalid_utf8' };
  if (isDeeper(value, limits.maxDepth)) return { poison: 'too_deep' };
  try {
    return { json: parseExactly(value.toString('utf8')) };
  } catch {
    return { poison: 'not_json' };
  }
}

/** Exact for JSON. For other text the result is arbitrary, and JSON.parse rejects the text anyway. */
export function isDeeper(text: Buffer, maxDepth: number): boolean {
  return hasMoreOpenings(text, maxDepth) && nestsDeeper(text, maxDepth);
}

/** Text with at most `limit` opening brackets cannot nest deeper. This settles nearly all records. */
function hasMoreOpenings(text: Buffer, limit: number): boolean {
  let count = 0;
  for (let at = text.indexOf(OPENING); at !== -1; at = text.indexOf(OPENING, at + 1)) if (++count > limit) return true;
  for (let at = text.indexOf(OPENING_SQUARE); at !== -1; at = text.indexOf(OPENING_SQUARE, at + 1)) {
    if (++count > limit) return true;
  }
  return false;
}

function nestsDeeper(text: Buffer, maxDepth: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const byte = text[i]!;
    if (byte === QUOTE) {
      for (i++; i < text.length && text[i] !== QUOTE; i++) if (text[i] === BACKSLASH) i++;
    } else if (byte === OPENING || byte === OPENING_SQUARE) {
      if (++depth > maxDepth) return true;
    } else if (byte === CLOSING || byte === CLOSING_SQUARE) depth--;
  }
  return false;
}
