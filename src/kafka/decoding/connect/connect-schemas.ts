import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { BACKSLASH, CLOSING, OPENING, QUOTE } from '../../../base/json/characters.ts';
import { UndecodableError } from '../decoder.ts';
import type { DecoderOptions } from '../decoder.ts';
import { decodeJson } from '../record.ts';
import { SchemaPlace } from '../schema-place.ts';
import { connectValues } from './connect-schema.ts';
import type { ConvertValue, PayloadTexts } from './connect-value.ts';

/** Converts the payload of a record, in place where it is an object. @throws UndecodableError */
export type ConvertPayload = (payload: unknown) => unknown;

/** Schemas of one topic: it may carry many tables, each with several versions. */
const MAX_SCHEMAS = 200;
/** Of objects and lists in the text of a schema, three of which make one of a payload. */
const MAX_LEVELS = 200;

/** A record that JsonConverter writes with `schemas.enable`, without its schema. */
export interface ConnectRecord {
  /** JSON text, which may be invalid. A slice of the record. */
  readonly payload: Buffer;
  /** undefined: the payload's values are what fields read. */
  readonly convert: ConvertPayload | undefined;
}

const HEAD = Buffer.from('{"schema":');
const MIDDLE = Buffer.from(',"payload":');

/**
 * The conversions of the schemas of one topic. Payloads are converted before their keys are renamed, with numbers as `parseExactly` reads
 * them.
 */
export class ConnectSchemas {
  readonly #place: SchemaPlace;
  readonly #texts: RecordTexts;
  readonly #maxDepth: number;
  readonly #compiled = new LRUCache<string, { readonly convert: ConvertPayload | undefined }>({ max: MAX_SCHEMAS });
  /** What the last record began with, up to its payload: most of a record, and the same in the next one. */
  #last = Buffer.alloc(0);
  #convert: ConvertPayload | undefined;

  /** @param options whose shape is that of the payload that the schema describes */
  constructor(options: DecoderOptions) {
    this.#place = SchemaPlace.root(options);
    this.#texts = new RecordTexts(options);
    this.#maxDepth = options.limits.maxDepth;
  }

  /**
   * Takes a record apart by its bytes. undefined: JsonConverter does not write such bytes, though they may be JSON with the same meaning.
   * @throws UndecodableError
   */
  split(record: Buffer): ConnectRecord | undefined {
    if (this.#last.length === 0 || !begins(record, this.#last)) {
      const start = startOfPayload(record);
      if (start < 0) return undefined;
      this.#convert = this.of(record.subarray(HEAD.length, start - MIDDLE.length));
      this.#last = Buffer.from(record.subarray(0, start));
    }
    const end = record.length - 1;
    if (record[end] !== CLOSING) return undefined;
    return { payload: record.subarray(this.#last.length, end), convert: this.#convert };
  }

  /**
   * The conversion of payloads of a schema. undefined: their values are what fields read.
   * @param schema its JSON text, or `null`. Not kept.
   * @throws UndecodableError
   */
  of(schema: Buffer): ConvertPayload | undefined {
    const key = hash('sha256', schema);
    let compiled = this.#compiled.get(key);
    if (!compiled) {
      const convert = connectValues(parsed(schema), this.#place);
      compiled = { convert: convert && this.#payloadConverter(convert) };
      this.#compiled.set(key, compiled);
    }
    return compiled.convert;
  }

  #payloadConverter(convert: ConvertValue): ConvertPayload {
    return (payload) => {
      this.#texts.startRecord();
      return payload === null ? null : convert(payload, this.#texts, this.#maxDepth);
    };
  }
}

/** Offset of the payload; -1: the record does not begin as JsonConverter begins one. */
function startOfPayload(record: Buffer): number {
  if (!begins(record, HEAD)) return -1;
  const end = endOfObject(record, HEAD.length);
  return end >= 0 && begins(record.subarray(end), MIDDLE) ? end + MIDDLE.length : -1;
}

/** Of JSON; of other bytes, any offset. -1: no object begins at `start`, or it does not end. */
function endOfObject(bytes: Buffer, start: number): number {
  if (bytes[start] !== OPENING) return -1;
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === OPENING) depth++;
    else if (byte === CLOSING && --depth === 0) return at + 1;
  }
  return -1;
}

function begins(bytes: Buffer, head: Buffer): boolean {
  return bytes.length >= head.length && bytes.compare(head, 0, head.length, 0, head.length) === 0;
}

/** @throws UndecodableError */
function parsed(schema: Buffer): unknown {
  const { json, poison } = decodeJson(schema, { maxBytes: Infinity, maxDepth: MAX_LEVELS });
  if (poison !== undefined) throw new UndecodableError(poison);
  return json;
}

/** Bounds the text of one record's converted values by MAX_RECORD_BYTES: a scale of 2,400 makes 2,400 digits of one byte. */
class RecordTexts implements PayloadTexts {
  readonly #options: Pick<DecoderOptions, 'limits' | 'onOverflow'>;
  #room = 0;

  constructor(options: Pick<DecoderOptions, 'limits' | 'onOverflow'>) {
    this.#options = options;
  }

  startRecord(): void {
    this.#room = this.#options.limits.maxBytes;
  }

  charged(text: string): string {
    this.#room -= text.length;
    if (this.#room < 0) throw new UndecodableError('too_large');
    return text;
  }

  beyondJson(): null {
    this.#options.onOverflow();
    return null;
  }
}
