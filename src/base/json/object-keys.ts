import { Buffer } from 'node:buffer';
import { BACKSLASH, COLON, QUOTE } from './characters.ts';
import { MAX_LEVELS } from './scanner.ts';
import type { JsonScanner } from './scanner.ts';
import { wordsOf } from './words.ts';

/** A key that objects at one position have had. */
export interface Key<Meaning> {
  readonly meaning: Meaning;
  /** Bytes of `"key":`. */
  readonly length: number;
  /** `"key":` as words; `mask` selects the valid bits of the last one. */
  readonly words: readonly number[];
  readonly mask: number;
  /** The key that followed it last time. */
  next: Key<Meaning> | undefined;
}

/** Predicted keys that are tried before a lookup by name. */
const MAX_LEFT_OUT = 8;
/** Bytes of a name; a longer one is not looked up. */
const MAX_NAME_BYTES = 1024;

/**
 * The keys of the objects at one position of a text. They mostly have the same keys in the same order, so the next key is predicted
 * from the previous object: that costs a few comparisons. Up to 8 further predictions are tried, for keys that are absent. Only then
 * is a key looked up by name.
 */
export class ObjectKeys<Meaning> {
  readonly #known = new Map<string, Key<Meaning>>();
  readonly #learn: (name: string) => Meaning | undefined;
  #first: Key<Meaning> | undefined;

  /** @param learn returns the meaning of a key that is seen for the first time; undefined: do not remember it */
  constructor(learn: (name: string) => Meaning | undefined) {
    this.#learn = learn;
  }

  /** The key at an offset; undefined if it is not known. @param previous the key before it in its object */
  at(scanner: JsonScanner, at: number, previous: Key<Meaning> | undefined): Key<Meaning> | undefined {
    let expected = previous === undefined ? this.#first : previous.next;
    for (let i = 0; expected !== undefined && i <= MAX_LEFT_OUT; i++) {
      if (isAt(scanner, at, expected)) return expected;
      expected = expected.next;
    }
    const key = this.#find(scanner, at);
    if (!key) return undefined;
    if (previous) previous.next = key;
    else this.#first = key;
    return key;
  }

  #find({ bytes }: JsonScanner, at: number): Key<Meaning> | undefined {
    if (bytes[at] !== QUOTE) return undefined;
    const end = bytes.indexOf(QUOTE, at + 1);
    if (end < 0 || end - at > MAX_NAME_BYTES || bytes[end + 1] !== COLON) return undefined;
    const name = bytes.toString('utf8', at + 1, end);
    if (!isPlain(name)) return undefined;
    const known = this.#known.get(name);
    if (known) return known;
    const meaning = this.#learn(name);
    if (meaning === undefined) return undefined;
    const text = Buffer.from(`"${name}":`);
    const words = wordsOf(text);
    const rest = text.length % 4;
    const mask = rest === 0 ? -1 : (1 << (rest * 8)) - 1;
    const key = { meaning, length: text.length, words, mask, next: undefined };
    this.#known.set(name, key);
    return key;
  }
}

/** True for a name without escapes: with them one name may be written in several ways. */
function isPlain(name: string): boolean {
  return !/["\\\u0000-\u001f]/.test(name);
}

function isAt<Meaning>({ view }: JsonScanner, at: number, { words, mask }: Key<Meaning>): boolean {
  const last = words.length - 1;
  for (let i = 0; i < last; i++, at += 4) if (view.getInt32(at, true) !== words[i]) return false;
  return (view.getInt32(at, true) & mask) === words[last];
}

/**
 * The offset after a member whose key `ObjectKeys` does not know, or -1: its key is long, has escapes, or is not followed at once by its
 * colon, so it may be a known one.
 */
export function endOfUnknownMember(scanner: JsonScanner, at: number): number {
  const { view, bytes } = scanner;
  if (view.getUint8(at) !== QUOTE) return -1;
  const end = scanner.endOfString(at);
  if (end < 0 || end - at > MAX_NAME_BYTES || view.getUint8(end) !== COLON) return -1;
  for (let i = at; i < end; i++) if (bytes[i] === BACKSLASH) return -1;
  return scanner.endOfValue(scanner.token(end + 1), MAX_LEVELS);
}
