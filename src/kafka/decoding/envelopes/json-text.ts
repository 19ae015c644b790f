import { MAX_RECORD_DEPTH } from '../../../config/limits.ts';
import { decodeRecord } from '../record.ts';
import { notOfEnvelope } from './envelope.ts';
import type { JsonObject } from './envelope.ts';

/** A text inside of a record is not larger than the record. */
const LIMITS = { maxBytes: Infinity, maxDepth: MAX_RECORD_DEPTH };

/** The object that a JSON text inside of a JSON value is. @throws UndecodableError */
export function objectOfText(text: string): JsonObject {
  return decodeRecord(Buffer.from(text), LIMITS).payload ?? notOfEnvelope();
}
