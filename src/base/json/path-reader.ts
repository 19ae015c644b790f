import { CLOSING, COMMA, MINUS, NINE, OPENING, QUOTE, ZERO } from './characters.ts';
import { ObjectKeys, endOfUnknownMember } from './object-keys.ts';
import type { Key } from './object-keys.ts';
import { MAX_LEVELS } from './scanner.ts';
import type { JsonScanner } from './scanner.ts';

const UNREAD = Symbol('unread');

/** Keys of which no path reads anything, remembered to skip their members fast. Each takes about 300 bytes. */
const MAX_UNREAD_KEYS = 256;

/** A position in the text to which paths lead, or lead further. */
interface Place {
  /** Byte offsets of the value in the text that was read last. */
  start: number;
  end: number;
  /** The text in which it was found: a count of calls. */
  foundIn: number;
  /** undefined: no path leads further. */
  members: Map<string, Place> | undefined;
  keys: ObjectKeys<Place | typeof UNREAD> | undefined;
}

/** Reads the values at some paths of JSON texts without parsing the rest. The whole text is validated. */
export class PathReader {
  readonly #scanner: JsonScanner;
  readonly #root = newPlace();
  /** Of each path. */
  readonly #places: readonly Place[];
  #unreadKeys = 0;
  #texts = 0;

  /** @param scanner other readers may use the same */
  constructor(scanner: JsonScanner, paths: readonly (readonly string[])[]) {
    this.#scanner = scanner;
    this.#places = paths.map((path) => path.reduce((place, key) => this.#memberOf(place, key), this.#root));
  }

  /**
   * For each path what `valueAt` finds in the parsed text. undefined: JSON.parse must decide, because the text is not an object as
   * JSON.stringify writes it, or repeats a key of a path.
   */
  read(text: Uint8Array): readonly unknown[] | undefined {
    const scanner = this.#scanner;
    if (!scanner.load(text)) return undefined;
    this.#texts++;
    const at = scanner.token(0);
    if (scanner.view.getUint8(at) !== OPENING) return undefined;
    const end = this.#readObject(this.#root, at);
    if (end < 0 || scanner.token(end) !== text.length) return undefined;
    const values: unknown[] = [];
    for (const place of this.#places) values.push(place.foundIn === this.#texts ? this.#valueAt(place) : undefined);
    return values;
  }

  #memberOf(place: Place, key: string): Place {
    const members = (place.members ??= new Map<string, Place>());
    place.keys ??= new ObjectKeys((name) => members.get(name) ?? this.#unread());
    const member = members.get(key) ?? newPlace();
    members.set(key, member);
    return member;
  }

  #unread(): typeof UNREAD | undefined {
    return this.#unreadKeys++ < MAX_UNREAD_KEYS ? UNREAD : undefined;
  }

  /** The offset after an object, or -1. */
  #readObject(place: Place, at: number): number {
    const scanner = this.#scanner;
    const { view } = scanner;
    const keys = place.keys!;
    let key: Key<Place | typeof UNREAD> | undefined;
    at = scanner.token(at + 1);
    if (view.getUint8(at) === CLOSING) return at + 1;
    for (;;) {
      const found = keys.at(scanner, at, key);
      if (found) {
        key = found;
        const value = scanner.token(at + found.length);
        at = found.meaning === UNREAD ? scanner.endOfValue(value, MAX_LEVELS) : this.#readMember(found.meaning, value);
      } else at = endOfUnknownMember(scanner, at);
      if (at < 0) return -1;
      at = scanner.token(at);
      const c = view.getUint8(at);
      if (c === CLOSING) return at + 1;
      if (c !== COMMA) return -1;
      at = scanner.token(at + 1);
    }
  }

  #readMember(place: Place, at: number): number {
    // JSON.parse keeps the last of equal keys.
    if (place.foundIn === this.#texts) return -1;
    place.foundIn = this.#texts;
    place.start = at;
    const isObject = this.#scanner.view.getUint8(at) === OPENING;
    place.end = isObject && place.keys ? this.#readObject(place, at) : this.#scanner.endOfValue(at, MAX_LEVELS);
    return place.end;
  }

  #valueAt({ start, end }: Place): unknown {
    const { bytes } = this.#scanner;
    const first = bytes[start]!;
    // JSON.parse takes several times as long for a scalar.
    if (first === MINUS || (first >= ZERO && first <= NINE)) return Number(bytes.toString('latin1', start, end));
    if (first === QUOTE) {
      const text = bytes.toString('utf8', start + 1, end - 1);
      if (!text.includes('\\')) return text;
    }
    return JSON.parse(bytes.toString('utf8', start, end));
  }
}

function newPlace(): Place {
  return { start: 0, end: 0, foundIn: 0, members: undefined, keys: undefined };
}
