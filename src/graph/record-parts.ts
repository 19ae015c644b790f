import { isJsonObject } from '../base/json/json-object.ts';
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { valueAt } from '../base/json/value-at.ts';
import type { PathValues } from '../bus/channel.ts';
import { textOf } from './compared-text.ts';

/** What a record has beside its payload. */
export interface RecordParts {
  /** Of a key with a schema that was decoded, the text of its value. */
  readonly key: Buffer | null;
  /**
   * The decoded key: a struct, whose members are named as those of the topic's payloads are, or a scalar. undefined: the key is what its bytes
   * are, could not be decoded, or no field of the topic needs it (`keyed-topics.ts`).
   */
  readonly keyValue?: unknown;
  /** Why a key with a schema could not be decoded. */
  readonly keyProblem?: string | undefined;
  /** Kafka allows a header without a value: null. */
  readonly headers?: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>> | undefined;
}

type HeaderValue = Buffer | string | null | undefined;

/**
 * Names the record's key where a path names a value of the payload: in a match and in the names of channels. No path of a payload begins
 * with a dot, so none can be mistaken for it.
 */
export const KEY_PART = '.key';

const KEY_PATH_PART = '.key ';
const HEADER_PART = '.header ';

/** Names a member of a key that is a struct, by its path. */
export function keyPathPart(path: string): string {
  return KEY_PATH_PART + path;
}

/** True for the key and its members. */
export function isKeyPart(path: string): boolean {
  return path === KEY_PART || path.startsWith(KEY_PATH_PART);
}

/** The path in the key that a part names; undefined: it names another part. */
export function pathInKey(part: string): string | undefined {
  return part.startsWith(KEY_PATH_PART) ? part.slice(KEY_PATH_PART.length) : undefined;
}

/** Names a header of the record, as `KEY_PART` names its key. Quoted: a header's name may have any characters. */
export function headerPart(name: string): string {
  return HEADER_PART + JSON.stringify(name);
}

/** The name of the header that a part names. */
export function headerOf(part: string): string {
  return JSON.parse(part.slice(HEADER_PART.length)) as string;
}

export function isHeaderPart(path: string): boolean {
  return path.startsWith(HEADER_PART);
}

export function isRecordPart(path: string): boolean {
  return path.startsWith('.');
}

/** What a person reads for a path or a part of the record. */
export function partLabel(path: string): string {
  const inKey = pathInKey(path);
  if (inKey !== undefined) return `"${inKey}" of the record's key`;
  return isRecordPart(path) ? `the record's ${path.slice(1)}` : path;
}

/** Reads these parts of a record as text. */
export function partsReader(parts: readonly string[]): (record: RecordParts) => PathValues {
  const readers = parts.map(partReader);
  return (record) => readers.map((read) => read(record));
}

function partReader(part: string): (record: RecordParts) => string | undefined {
  if (part === KEY_PART) return keyText;
  const path = pathInKey(part)?.split('.');
  return path ? ({ keyValue }) => textOf(valueAt(keyValue, path)) : headerReader(part);
}

/** Equal keys have equal hashes, whichever schema they were written with (`RecordParts.key`); 128 bits of SHA-256. */
export function hashOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}

/** undefined: the record has no key, it is no text, or it has a schema and could not be decoded. */
export function keyText({ key, keyProblem }: RecordParts): string | undefined {
  return keyProblem === undefined ? utf8Text(key) : undefined;
}

/**
 * The value that a key has where it stands for the payload's value at a path: of a struct the member at that path, or else its only member; any
 * other key is the value itself. undefined: it has none.
 */
export function keyTextAt(record: RecordParts, path: readonly string[]): string | undefined {
  const { keyValue } = record;
  const text = isJsonObject(keyValue) ? textOf(valueAt(keyValue, path)) : undefined;
  return text ?? onlyKeyText(record);
}

/** The value of a key that has one: the only member of a struct, or any other key itself. undefined: it has none, or several. */
export function onlyKeyText(record: RecordParts): string | undefined {
  const { keyValue } = record;
  if (keyValue === undefined) return keyText(record);
  if (!isJsonObject(keyValue)) return textOf(keyValue);
  const members = Object.values(keyValue);
  return members.length === 1 ? textOf(members[0]) : undefined;
}

const MAX_MEMBERS = 10;

/** What a record's key is, without a value of it. */
export function describeKey(record: RecordParts): string {
  const { key, keyValue, keyProblem } = record;
  if (key === null) return 'no key';
  if (keyProblem === 'needs_registry') return 'a key with a schema, and no registry for it is set';
  if (keyProblem !== undefined) return `a key with a schema that cannot be decoded (${keyProblem})`;
  if (isJsonObject(keyValue)) {
    const names = Object.keys(keyValue);
    const more = names.length > MAX_MEMBERS ? [`${names.length - MAX_MEMBERS} more`] : [];
    return `a key that is a struct of ${[...names.slice(0, MAX_MEMBERS).map((name) => JSON.stringify(name)), ...more].join(', ')}`;
  }
  return keyText(record) === undefined ? 'a binary key' : 'a key without members';
}

function headerReader(part: string): (record: RecordParts) => string | undefined {
  const name = headerOf(part);
  return ({ headers }) => headerText(headers && Object.hasOwn(headers, name) ? headers[name] : undefined);
}

/** Of several headers of one name the last counts, as in Kafka's `lastHeader`. */
function headerText(value: HeaderValue | readonly HeaderValue[]): string | undefined {
  return utf8Text(Array.isArray(value) ? (value as readonly HeaderValue[]).at(-1) : (value as HeaderValue));
}

/** The headers of a record that are text. */
export function headerTexts(headers: RecordParts['headers'] = {}): Readonly<Record<string, string>> {
  const texts = Object.entries(headers).flatMap(([name, value]) => {
    const text = headerText(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(texts);
}

/**
 * undefined: the bytes are no text and match nothing. Those with a zero byte are none: with a schema (`wire-format.ts`), in a binary number, or with
 * the time of a window behind them, bytes may be UTF-8 by chance.
 */
function utf8Text(bytes: HeaderValue): string | undefined {
  if (typeof bytes === 'string') return bytes;
  if (bytes === null || bytes === undefined) return undefined;
  if (bytes[0] === 0 || !isUtf8(bytes)) return undefined;
  const text = bytes.toString();
  return text.includes('\0') ? undefined : text;
}
