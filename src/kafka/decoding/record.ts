import { isUtf8 } from 'node:buffer';
import { BACKSLASH, CLOSING, CLOSING_SQUARE, OPENING, OPENING_SQUARE, QUOTE } from '../../json/characters.ts';

/** Why a record cannot become a payload. */
export type DecodeReason =
  | 'tombstone'
  | 'too_large'
  | 'invalid_utf8'
  | 'too_deep'
  | 'not_json'
  /** JSON, but a scalar, null or an array: what GraphQL reads fields from is an object. */
  | 'not_object';

/** Exactly one of the two is there. */
export type Decoded =
  | { readonly payload: Record<string, unknown>; readonly poison?: undefined }
  | { readonly poison: DecodeReason; readonly payload?: undefined };

export interface RecordLimits {
  readonly maxBytes: number;
  /** Levels of objects and arrays; an object of scalars is one. */
  readonly maxDepth: number;
}

/**
 * The JSON object that a record's value holds. Never throws and keeps no reference to the buffer (kafkajs's values are slices
 * of a whole fetch response). The checks run in the order of DecodeReason, the cheap ones first; depth is known before
 * anything is parsed, because what is nested deeper breaks every recursion after it.
 *
 * A byte order mark is not JSON (https://www.rfc-editor.org/rfc/rfc8259#section-8.1): such a record is poison.
 * Of a name that stands twice in an object the last value counts. Numbers are doubles: an integer beyond 2^53 and a
 * decimal of more than 17 digits lose their last digits, 1e400 becomes Infinity, of which SnakeCase makes null; producers send those as strings.
 */
export function decodeRecord(value: Buffer | null, limits: RecordLimits): Decoded {
  if (value === null) return { poison: 'tombstone' };
  if (value.length > limits.maxBytes) return { poison: 'too_large' };
  if (!isUtf8(value)) return { poison: 'invalid_utf8' };
  if (isDeeper(value, limits.maxDepth)) return { poison: 'too_deep' };
  let json: unknown;
  try {
    json = JSON.parse(value.toString('utf8'));
  } catch {
    return { poison: 'not_json' };
  }
  return isObject(json) ? { payload: json } : { poison: 'not_object' };
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Exact for JSON text; of other text it may say either, and JSON.parse refuses that. */
function isDeeper(text: Buffer, maxDepth: number): boolean {
  return hasMoreOpenings(text, maxDepth) && nestsDeeper(text, maxDepth);
}

/** Text with no more opening brackets than levels cannot nest deeper. Nearly all records are done after this look. */
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
