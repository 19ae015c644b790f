import type { Buffer } from 'node:buffer';
import type { PathValues } from '../../bus/channel.ts';
import {
  CLOSING,
  CLOSING_SQUARE,
  COMMA,
  LETTER_N,
  OPENING,
  OPENING_SQUARE,
  QUOTE,
  SPACE,
} from '../../base/json/characters.ts';
import { Composer } from '../../base/json/composer.ts';
import { NUMBER, exactNumber, numberText } from '../../base/json/exact-numbers.ts';
import type { Key } from '../../base/json/object-keys.ts';
import { JsonScanner, MAX_TEXT_BYTES } from '../../base/json/scanner.ts';
import { endOfNumber, endOfString } from '../../base/json/skip-value.ts';
import type { KeyNode, KeyTree, Property } from './key-tree.ts';
import type { RecordLimits } from './record.ts';

/** Values of a record that are printed again. With more of them parsing is faster. */
const MAX_REPRINTED = 16;

/**
 * Renames the keys of a record in its text, without parsing it: copies the bytes between two keys and replaces each key by its
 * name in the payload. Text and values equal the result of decodeRecord, SnakeCase and JSON.stringify, or the rewriter declines.
 *
 * It declines poison records and records whose result it cannot prove equal: a repeated key, two keys of one name, integer keys, keys
 * with escapes or with white space before their colon, numbers beyond a double, too many unknown keys, more than 256 KB. It also declines
 * where parsing is faster: more than 16 numbers and strings that JSON.stringify prints differently.
 */
export class KeyRewriter {
  /** Of the record that is loaded. */
  readonly scanner = new JsonScanner();
  readonly #composer = new Composer(MAX_TEXT_BYTES);
  readonly #limits: RecordLimits;
  /** Offset in the record up to which it is copied or replaced. */
  #copied = 0;
  #values: (string | undefined)[] = [];
  #firstPresence = 0;
  /** Values of this record that were printed again. */
  #reprinted = 0;
  /** Number of the last object; a 32-bit integer that wraps around. */
  #object = 0;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  /** The record's values at the paths of the tree; undefined: declined. */
  rewrite(record: Buffer, tree: KeyTree): PathValues | undefined {
    const { scanner } = this;
    if (!this.load(record)) return undefined;
    const end = this.rewriteObject(scanner.token(0), tree, this.#limits.maxDepth);
    return end < 0 || scanner.token(end) !== record.length ? undefined : this.#values;
  }

  /** Loads a record for `rewriteObject`; false: declined. */
  load(record: Buffer): boolean {
    return record.length <= this.#limits.maxBytes && this.scanner.load(record);
  }

  /**
   * Rewrites the object at an offset of the record. Returns the offset after it; -1: declined.
   * @param levels of nesting that it may have
   */
  rewriteObject(start: number, tree: KeyTree, levels: number): number {
    const { scanner } = this;
    const composer = this.#composer;
    composer.clear();
    this.#reprinted = 0;
    this.#values = tree.paths.map(() => undefined);
    this.#firstPresence = tree.firstPresence;
    if (scanner.view.getUint8(start) !== OPENING) return -1;
    this.#copied = start;
    const end = this.#endOfObject(start, tree.startRecord(), levels);
    if (end >= 0) composer.copy(scanner.view, this.#copied, end);
    return end;
  }

  /** Values of the last object that was rewritten, at the paths of its tree. */
  get values(): PathValues {
    return this.#values;
  }

  /** Text of the last object that was rewritten, and what is to follow it, in memory that it shares with other payloads. */
  payload(suffix = ''): Buffer {
    const composer = this.#composer;
    if (suffix === '') return composer.takeShared();
    const { length } = composer;
    composer.string(suffix);
    const payload = composer.takeShared();
    composer.cut(length);
    return payload;
  }

  /**
   * Returns the offset after the object; -1: declined. So do the methods below.
   * @param levels levels of nesting that are left
   */
  #endOfObject(at: number, node: KeyNode, levels: number): number {
    if (levels === 0) return -1;
    const scanner = this.scanner;
    const { view } = scanner;
    const { keys } = node;
    const object = (this.#object = (this.#object + 1) | 0);
    at = this.#token(at + 1);
    if (view.getUint8(at) === CLOSING) return at + 1;
    let key: Key<Property> | undefined;
    for (;;) {
      key = keys.at(scanner, at, key);
      if (key === undefined) return -1;
      const { lastSeen, renamed, node: valueNode } = key.meaning;
      // A repeated key, or another key of the same name.
      if (lastSeen.object === object) return -1;
      lastSeen.object = object;
      const afterKey = at + key.length;
      if (renamed !== undefined) {
        this.#replace(at, afterKey);
        this.#composer.snippet(renamed);
      }
      // Looking for white space before the call takes 10 % off a record's time.
      at = view.getUint8(afterKey) > SPACE ? afterKey : this.#token(afterKey);
      at = this.#endOfValue(at, valueNode, levels - 1);
      if (at < 0) return -1;
      if (view.getUint8(at) <= SPACE) at = this.#token(at);
      const c = view.getUint8(at);
      if (c === CLOSING) return at + 1;
      if (c !== COMMA) return -1;
      at++;
      if (view.getUint8(at) <= SPACE) at = this.#token(at);
    }
  }

  #endOfArray(at: number, node: KeyNode, levels: number): number {
    if (levels === 0) return -1;
    const { view } = this.scanner;
    at = this.#token(at + 1);
    if (view.getUint8(at) === CLOSING_SQUARE) return at + 1;
    const items = node.items();
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

  #endOfValue(at: number, node: KeyNode, levels: number): number {
    const c = this.scanner.view.getUint8(at);
    if (c === OPENING || c === OPENING_SQUARE) {
      if (node.path >= this.#firstPresence) this.#values[node.path] = '';
      return c === OPENING ? this.#endOfObject(at, node, levels) : this.#endOfArray(at, node, levels);
    }
    const end = this.scanner.endOfScalar(at);
    if (end < 0) return this.#reprint(at, node.path);
    if (node.path >= 0 && c !== LETTER_N) this.#values[node.path] = this.#valueOf(at, end);
    return end;
  }

  /** Text of a scalar other than null, as it is compared. */
  #valueOf(start: number, end: number): string {
    const { bytes, view } = this.scanner;
    const text = bytes.toString('utf8', start, end);
    if (view.getUint8(start) !== QUOTE) return text.includes('e+') ? numberText(Number(text)) : text;
    return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  /** Skips white space, which is left out of the result. */
  #token(at: number): number {
    const scanner = this.scanner;
    const token = scanner.token(at);
    if (token !== at) {
      this.#composer.copy(scanner.view, this.#copied, at);
      this.#copied = token;
    }
    return token;
  }

  /** Prints a number or a string as JSON.stringify does. */
  #reprint(at: number, path: number): number {
    if (++this.#reprinted > MAX_REPRINTED) return -1;
    const { bytes } = this.scanner;
    const end = bytes[at] === QUOTE ? endOfString(bytes, at) : endOfNumber(bytes, at);
    const value = scalarOf(bytes.toString('utf8', at, end));
    // Numbers beyond a double: SnakeCase makes them null and counts them.
    if (value === undefined || value === Infinity || value === -Infinity) return -1;
    this.#replace(at, end);
    this.#composer.string(JSON.stringify(value));
    if (path >= 0) this.#values[path] = typeof value === 'string' ? value : numberText(value);
    return end;
  }

  /** Copies the bytes before a part of the record. The caller writes the replacement of the part next. */
  #replace(start: number, end: number): void {
    this.#composer.copy(this.scanner.view, this.#copied, start);
    this.#copied = end;
  }
}

/** The string or number that the text is; the text of a number whose digits a double loses; undefined: it is neither. */
function scalarOf(text: string): string | number | undefined {
  if (NUMBER.test(text)) return exactNumber(text);
  if (!text.startsWith('"')) return undefined;
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
