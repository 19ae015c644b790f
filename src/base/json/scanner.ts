import { Buffer, isUtf8 } from 'node:buffer';
import {
  BACKSLASH,
  COLON,
  COMMA,
  LETTER_E,
  LETTER_F,
  LETTER_N,
  LETTER_T,
  LETTER_U,
  MINUS,
  NINE,
  OPENING,
  OPENING_SQUARE,
  PLUS,
  POINT,
  QUOTE,
  SPACE,
  ZERO,
} from './characters.ts';

/** Levels of a value that is skipped: more than a payload has (`MAX_RECORD_DEPTH`), and safe for the stack. */
export const MAX_LEVELS = 1000;

/** Larger texts are left to JSON.parse. */
export const MAX_TEXT_BYTES = 256 * 1024;
/** Words are read at any offset, so the last ones reach beyond the text. */
const PADDING = 8;

/** A decimal of more digits may not be what JSON.stringify makes of the nearest double. */
const MAX_DIGITS = 15;
/** A number with this many zeros after the point, or more, is printed with an exponent. */
const MAX_LEADING_ZEROS = 6;

const TRUE = wordOf('true');
const NULL = wordOf('null');
const ALSE = wordOf('alse');

/** Four bytes at a time: https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord */
const QUOTES = QUOTE * 0x01010101;
const BACKSLASHES = BACKSLASH * 0x01010101;
const SPACES = SPACE * 0x01010101;
const ONES = 0x01010101;
const HIGH_BITS = 0x80808080 | 0;

/**
 * Validates and skips JSON text without allocating. It accepts a scalar only as JSON.stringify would print it, so that its text may be
 * copied instead of parsed and printed again. Other JSON, such as `1.0` or `"\u0041"`, is refused like invalid text: -1 means that
 * JSON.parse must decide.
 *
 * Offsets are in bytes; each method takes the offset of a token's first byte.
 */
export class JsonScanner {
  /** The text, followed by zeros. */
  readonly bytes = Buffer.alloc(MAX_TEXT_BYTES + PADDING);
  readonly view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);

  /** Loads a text in UTF-8 without a byte order mark. Returns false if it is too large or not UTF-8. */
  load(text: Uint8Array): boolean {
    if (text.length > MAX_TEXT_BYTES || !isUtf8(text)) return false;
    this.bytes.set(text);
    this.view.setInt32(text.length, 0);
    this.view.setInt32(text.length + 4, 0);
    return true;
  }

  /** The offset of the first byte from `at` on that is not white space. At the end of the text that byte is 0. */
  token(at: number): number {
    return this.view.getUint8(at) > SPACE ? at : this.#behindSpace(at);
  }

  #behindSpace(at: number): number {
    let c = this.view.getUint8(at);
    while (c === SPACE || c === 0x0a || c === 0x0d || c === 0x09) c = this.view.getUint8(++at);
    return at;
  }

  /** The offset after a scalar, or -1. */
  endOfScalar(at: number): number {
    const { view } = this;
    switch (view.getUint8(at)) {
      case QUOTE:
        return this.endOfString(at);
      case LETTER_T:
        return view.getInt32(at, true) === TRUE ? at + 4 : -1;
      case LETTER_N:
        return view.getInt32(at, true) === NULL ? at + 4 : -1;
      case LETTER_F:
        return view.getInt32(at + 1, true) === ALSE ? at + 5 : -1;
      default:
        return this.endOfNumber(at);
    }
  }

  /** The offset after the closing quote, or -1. */
  endOfString(at: number): number {
    const { view } = this;
    const start = at++;
    let isUnusual = false;
    for (;;) {
      const word = view.getInt32(at, true);
      const quote = word ^ QUOTES;
      const backslash = word ^ BACKSLASHES;
      const found =
        (((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash) | ((word - SPACES) & ~word)) & HIGH_BITS;
      if (found === 0) {
        at += 4;
        continue;
      }
      at += (31 - Math.clz32(found & -found)) >> 3;
      const c = view.getUint8(at);
      if (c === QUOTE) return isUnusual ? this.#endOfUnusual(start, at + 1) : at + 1;
      if (c !== BACKSLASH) return -1;
      const escape = view.getUint8(at + 1);
      if (escape === LETTER_U) isUnusual = true;
      else if (!isShortEscape(escape)) return -1;
      at += 2;
    }
  }

  /** The offset after a number, or -1. With at most 15 digits, no superfluous zeros and no exponent a number is in its shortest form. */
  endOfNumber(at: number): number {
    const { view } = this;
    const isNegative = view.getUint8(at) === MINUS;
    if (isNegative) at++;
    const start = at;
    let c = view.getUint8(at);
    while (c >= ZERO && c <= NINE) c = view.getUint8(++at);
    let digits = at - start;
    const isZero = view.getUint8(start) === ZERO;
    if (digits === 0 || (isZero && digits > 1)) return -1;
    if (c === POINT) {
      const point = at;
      let firstDigit = 0;
      c = view.getUint8(++at);
      while (c >= ZERO && c <= NINE) {
        if (c !== ZERO && firstDigit === 0) firstDigit = at;
        c = view.getUint8(++at);
      }
      digits += at - point - 1;
      if (at === point + 1 || view.getUint8(at - 1) === ZERO) return -1;
      if (isZero && firstDigit - point > MAX_LEADING_ZEROS) return -1;
    } else if (isZero && isNegative) return -1;
    if (digits <= MAX_DIGITS && c !== LETTER_E) return at;
    while ((c >= ZERO && c <= NINE) || c === PLUS || c === MINUS || c === LETTER_E) c = view.getUint8(++at);
    return this.#endOfUnusual(isNegative ? start - 1 : start, at);
  }

  /** The end of a scalar if JSON.stringify prints it the same way, else -1. */
  #endOfUnusual(start: number, end: number): number {
    const text = this.bytes.toString('utf8', start, end);
    try {
      return JSON.stringify(JSON.parse(text)) === text ? end : -1;
    } catch {
      return -1;
    }
  }

  /** The offset after a value with at most `levels` levels of objects and arrays, or -1. */
  endOfValue(at: number, levels: number): number {
    const c = this.view.getUint8(at);
    if (c === OPENING || c === OPENING_SQUARE) return this.#endOfContainer(at, c, levels);
    return this.endOfScalar(at);
  }

  #endOfContainer(at: number, opening: number, levels: number): number {
    const { view } = this;
    if (levels === 0) return -1;
    const isObject = opening === OPENING;
    const closing = opening + 2;
    at = this.token(at + 1);
    if (view.getUint8(at) === closing) return at + 1;
    for (;;) {
      if (isObject) {
        if (view.getUint8(at) !== QUOTE) return -1;
        at = this.endOfString(at);
        if (at < 0) return -1;
        at = this.token(at);
        if (view.getUint8(at) !== COLON) return -1;
        at = this.token(at + 1);
      }
      at = this.endOfValue(at, levels - 1);
      if (at < 0) return -1;
      at = this.token(at);
      const c = view.getUint8(at);
      if (c === closing) return at + 1;
      if (c !== COMMA) return -1;
      at = this.token(at + 1);
    }
  }
}

/** True for `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`: the escapes that JSON.stringify writes beside `\u`. */
function isShortEscape(c: number): boolean {
  return c === QUOTE || c === BACKSLASH || c === 0x6e || c === 0x74 || c === 0x72 || c === 0x62 || c === 0x66;
}

function wordOf(text: string): number {
  return Buffer.from(text, 'latin1').readInt32LE();
}
