import type { Buffer } from 'node:buffer';
import type { PathValues } from '../../bus/channel.ts';
import {
  BACKSLASH,
  CAPITAL_E,
  CLOSING,
  CLOSING_SQUARE,
  COMMA,
  LETTER_E,
  LETTER_N,
  MINUS,
  NINE,
  OPENING,
  OPENING_SQUARE,
  PLUS,
  POINT,
  QUOTE,
  SPACE,
  ZERO,
} from '../../json/characters.ts';
import { Composer } from '../../json/composer.ts';
import type { Key } from '../../json/object-keys.ts';
import { JsonScanner, MAX_TEXT_BYTES } from '../../json/scanner.ts';
import type { Place, Places, Property } from './key-tree.ts';
import type { RecordLimits } from './record.ts';

/** Values that are printed anew; of more of them parsing takes less time. */
const MAX_REPRINTED = 16;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Writes the text of a record's payload straight from the record's bytes: what lies between two keys is copied, the keys are
 * replaced by their names. Text and values are those that decodeRecord, SnakeCase and JSON.stringify come to, or it declines:
 * a record that is no good, and one that it is not sure of (a key that is there twice, two keys with one name, keys that
 * JSON.parse would put elsewhere, keys with escapes or white space behind them, numbers beyond a double, too many new keys, more than 256 KB), or too
 * much work (many numbers and strings that are printed in another way).
 */
export class Rewriter {
  readonly #scanner = new JsonScanner();
  readonly #composer = new Composer(MAX_TEXT_BYTES);
  readonly #limits: RecordLimits;
  /** Up to here the record has been copied, or replaced. */
  #done = 0;
  #values: (string | undefined)[] = [];
  #firstPresence = 0;
  /** Values that were printed anew. */
  #reprinted = 0;
  /** The number of the last object; a 32-bit integer that begins anew. */
  #object = 0;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  /** A record's values at the paths of which the places know; undefined: declined. */
  rewrite(record: Buffer, places: Places): PathValues | undefined {
    const scanner = this.#scanner;
    const composer = this.#composer;
    if (record.length > this.#limits.maxBytes || !scanner.load(record)) return undefined;
    composer.clear();
    this.#reprinted = 0;
    this.#values = places.paths.map(() => undefined);
    this.#firstPresence = places.firstPresence;
    const start = scanner.token(0);
    if (scanner.view.getUint8(start) !== OPENING) return undefined;
    this.#done = start;
    const end = this.#endOfObject(start, places.begin(), this.#limits.maxDepth);
    if (end < 0 || scanner.token(end) !== record.length) return undefined;
    composer.copy(scanner.view, this.#done, end);
    return this.#values;
  }

  /** The payload of the record that was rewritten last. */
  text(): string {
    return this.#composer.text();
  }

  /** The offset behind the object, or -1; so do the others. */
  #endOfObject(at: number, place: Place, levels: number): number {
    if (levels === 0) return -1;
    const scanner = this.#scanner;
    const { view } = scanner;
    const { keys } = place;
    const object = (this.#object = (this.#object + 1) | 0);
    at = this.#token(at + 1);
    if (view.getUint8(at) === CLOSING) return at + 1;
    let key: Key<Property> | undefined;
    for (;;) {
      key = keys.at(scanner, at, key);
      if (key === undefined) return -1;
      const { holder, renamed, place: inside } = key.meaning;
      if (holder.object === object) return -1;
      holder.object = object;
      const behind = at + key.length;
      if (renamed !== undefined) {
        this.#replace(at, behind);
        this.#composer.snippet(renamed);
      }
      // Measured: to look whether there is white space at all takes a tenth off the whole.
      at = view.getUint8(behind) > SPACE ? behind : this.#token(behind);
      at = this.#endOfValue(at, inside, levels - 1);
      if (at < 0) return -1;
      if (view.getUint8(at) <= SPACE) at = this.#token(at);
      const c = view.getUint8(at);
      if (c === CLOSING) return at + 1;
      if (c !== COMMA) return -1;
      at++;
      if (view.getUint8(at) <= SPACE) at = this.#token(at);
    }
  }

  #endOfArray(at: number, place: Place, levels: number): number {
    if (levels === 0) return -1;
    const { view } = this.#scanner;
    at = this.#token(at + 1);
    if (view.getUint8(at) === CLOSING_SQUARE) return at + 1;
    const { items } = place;
    if (items === undefined) return -1;
    for (;;) {
      at = this.#endOfValue(at, items, levels - 1);
      if (at < 0) return -1;
      at = this.#token(at);
      const c = view.getUint8(at);
      if (c === CLOSING_SQUARE) return at + 1;
      if (c !== COMMA) return -1;
      at = this.#token(at + 1);
    }
  }

  #endOfValue(at: number, place: Place, levels: number): number {
    const c = this.#scanner.view.getUint8(at);
    if (c === OPENING || c === OPENING_SQUARE) {
      if (place.path >= this.#firstPresence) this.#values[place.path] = '';
      return c === OPENING ? this.#endOfObject(at, place, levels) : this.#endOfArray(at, place, levels);
    }
    const end = this.#scanner.endOfScalar(at);
    if (end < 0) return this.#reprint(at, place.path);
    if (place.path >= 0 && c !== LETTER_N) this.#values[place.path] = this.#valueOf(at, end);
    return end;
  }

  /** The text of a scalar other than null. */
  #valueOf(start: number, end: number): string {
    const { bytes, view } = this.#scanner;
    const text = bytes.toString('utf8', start, end);
    if (view.getUint8(start) !== QUOTE) return text;
    return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  /** Behind white space, which is left out. */
  #token(at: number): number {
    const scanner = this.#scanner;
    const token = scanner.token(at);
    if (token !== at) {
      this.#composer.copy(scanner.view, this.#done, at);
      this.#done = token;
    }
    return token;
  }

  /** A number or a string that is not as JSON.stringify writes it. */
  #reprint(at: number, path: number): number {
    if (++this.#reprinted > MAX_REPRINTED) return -1;
    const { bytes } = this.#scanner;
    const end = bytes[at] === QUOTE ? endOfString(bytes, at) : endOfNumber(bytes, at);
    const value = scalarOf(bytes.toString('utf8', at, end));
    // What JSON cannot write is for SnakeCase to count.
    if (value === undefined || value === Infinity || value === -Infinity) return -1;
    this.#replace(at, end);
    const text = JSON.stringify(value);
    this.#composer.string(text);
    if (path >= 0) this.#values[path] = typeof value === 'string' ? value : text;
    return end;
  }

  /** Copies what lies before a part; what stands instead of that is written next. */
  #replace(start: number, end: number): void {
    this.#composer.copy(this.#scanner.view, this.#done, start);
    this.#done = end;
  }
}

/** A string or a number; undefined: the text is neither. */
function scalarOf(text: string): string | number | undefined {
  if (NUMBER.test(text)) return Number(text);
  if (!text.startsWith('"')) return undefined;
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

/** Of text that may be none: behind the next quote without a backslash, or at the end of the text. */
function endOfString(bytes: Buffer, at: number): number {
  for (at++; bytes[at] !== QUOTE; at++) {
    if (bytes[at] === BACKSLASH) at++;
    if (bytes[at]! < SPACE) return at;
  }
  return at + 1;
}

/** Behind all that a number can consist of. */
function endOfNumber(bytes: Buffer, at: number): number {
  while (isOfNumber(bytes[at]!)) at++;
  return at;
}

/** Digits, and what is in `-1.5e+3` beside them. */
function isOfNumber(c: number): boolean {
  return (c >= ZERO && c <= NINE) || c === PLUS || c === MINUS || c === POINT || c === CAPITAL_E || c === LETTER_E;
}
