import { BACKSLASH, CLOSING, CLOSING_SQUARE, OPENING, OPENING_SQUARE, QUOTE, SPACE } from './characters.ts';
import { isOfNumber } from './exact-numbers.ts';
import type { JsonScanner } from './scanner.ts';

/**
 * The offset after an object or a list that nobody reads, in whatever form its values are; -1: it does not end, or nests more than `levels`
 * levels. Only its strings and brackets are looked at, which takes a third of the time of `JsonScanner.endOfValue`: that also refuses what
 * JSON.stringify prints differently, such as integers beyond 2^53.
 */
export function endOfUnread(scanner: JsonScanner, at: number, levels: number): number {
  const { bytes, view } = scanner;
  let depth = 0;
  for (;;) {
    const c = view.getUint8(at);
    // Digits, colons and commas.
    if (c > QUOTE && c < OPENING_SQUARE) at++;
    else if (c === QUOTE) {
      const end = scanner.endOfString(at);
      at = end < 0 ? endOfString(bytes, at) : end;
    } else if (c === OPENING || c === OPENING_SQUARE) {
      if (++depth > levels) return -1;
      at++;
    } else if (c === CLOSING || c === CLOSING_SQUARE) {
      at++;
      if (--depth === 0) return at;
    } else if (c < SPACE && c !== 0x0a && c !== 0x0d && c !== 0x09) return -1;
    else at++;
  }
}

/** Offset after the closing quote, or of the first control character. The bytes need not be JSON. */
export function endOfString(bytes: Buffer, at: number): number {
  for (at++; bytes[at] !== QUOTE; at++) {
    if (bytes[at] === BACKSLASH) at++;
    if (bytes[at]! < SPACE) return at;
  }
  return at + 1;
}

/** Offset after all bytes that a number may contain. */
export function endOfNumber(bytes: Buffer, at: number): number {
  while (isOfNumber(bytes[at]!)) at++;
  return at;
}
