import { isUtf8 } from 'node:buffer';
import type { PathValues } from '../bus/channel.ts';

/** What a record has beside its payload. */
export interface RecordParts {
  readonly key: Buffer | null;
  /** Kafka allows a header without a value: null. */
  readonly headers?: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>> | undefined;
}

type HeaderValue = Buffer | string | null | undefined;

/**
 * Names the record's key where a path names a value of the payload: in a match and in the names of channels. No path of a payload begins
 * with a dot, so none can be mistaken for it.
 */
export const KEY_PART = '.key';

const HEADER_PART = '.header ';

/** Names a header of the record, as `KEY_PART` names its key. Quoted: a header's name may have any characters. */
export function headerPart(name: string): string {
  return HEADER_PART + JSON.stringify(name);
}

export function isRecordPart(path: string): boolean {
  return path.startsWith('.');
}

/** What a person reads for a path or a part of the record. */
export function partLabel(path: string): string {
  return isRecordPart(path) ? `the record's ${path.slice(1)}` : path;
}

/** Reads these parts of a record as text. */
export function partsReader(parts: readonly string[]): (record: RecordParts) => PathValues {
  const readers = parts.map((part) => (part === KEY_PART ? keyText : headerReader(part)));
  return (record) => readers.map((read) => read(record));
}

/** undefined: the record has no key, or it is no text. */
export function keyText({ key }: RecordParts): string | undefined {
  return utf8Text(key);
}

/** Of several headers of one name the last counts, as in Kafka's `lastHeader`. */
function headerReader(part: string): (record: RecordParts) => string | undefined {
  const name = JSON.parse(part.slice(HEADER_PART.length)) as string;
  return ({ headers }) => {
    const value = headers && Object.hasOwn(headers, name) ? headers[name] : undefined;
    return utf8Text(Array.isArray(value) ? (value as readonly HeaderValue[]).at(-1) : (value as HeaderValue));
  };
}

/**
 * undefined: the bytes are no text and match nothing. Those that begin with a zero byte are none: with a schema (`wire-format.ts`), or in a
 * binary number, bytes may be UTF-8 by chance.
 */
function utf8Text(bytes: HeaderValue): string | undefined {
  if (typeof bytes === 'string') return bytes;
  if (bytes === null || bytes === undefined) return undefined;
  return bytes[0] !== 0 && isUtf8(bytes) ? bytes.toString() : undefined;
}
