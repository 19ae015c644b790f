import { BACKSLASH, CLOSING, CLOSING_SQUARE, COLON, COMMA, NINE, OPENING } from './characters.ts';
import { OPENING_SQUARE, QUOTE, SPACE, ZERO } from './characters.ts';
import { NUMBER, isOfNumber } from './exact-numbers.ts';
import type { JsonScanner } from './scanner.ts';

/**
 * The offset after a value that nobody reads; -1: it is no JSON, or nests more than `levels` levels. `JsonScanner.endOfValue` also refuses what
 * JSON.stringify prints differently, such as integers beyond 2^53.
 */
export function endOfUnread(scanner: JsonScanner, at: number, levels: number): number {
  const c = scanner.view.getUint8(at);
  if (c === QUOTE) return endOfUnreadString(scanner, at);
  if (isOfNumber(c)) return endOfUnreadNumber(scanner, at);
  return c === OPENING || c === OPENING_SQUARE ? endOfContainer(scanner, at, c, levels) : scanner.endOfScalar(at);
}

function endOfContainer(scanner: JsonScanner, at: number, opening: number, levels: number): number {
  if (levels === 0) return -1;
  const { view } = scanner;
  const closing = opening === OPENING ? CLOSING : CLOSING_SQUARE;
  at = scanner.token(at + 1);
  if (view.getUint8(at) === closing) return at + 1;
  for (;;) {
    if (opening === OPENING) {
      if (view.getUint8(at) !== QUOTE) return -1;
      at = endOfUnreadString(scanner, at);
      if (at < 0) return -1;
      at = scanner.token(at);
      if (view.getUint8(at) !== COLON) return -1;
      at = scanner.token(at + 1);
    }
    at = endOfUnread(scanner, at, levels - 1);
    if (at < 0) return -1;
    at = scanner.token(at);
    const c = view.getUint8(at);
    if (c === closing) return at + 1;
    if (c !== COMMA) return -1;
    at = scanner.token(at + 1);
  }
}

function endOfUnreadNumber({ bytes, view }: JsonScanner, start: number): number {
  let at = start;
  let c = view.getUint8(at);
  if (c !== ZERO) while (c >= ZERO && c <= NINE) c = view.getUint8(++at);
  if (at > start && !isOfNumber(c)) return at;
  const end = endOfNumber(bytes, start);
  return NUMBER.test(bytes.toString('latin1', start, end)) ? end : -1;
}

function endOfUnreadString(scanner: JsonScanner, at: number): number {
  const usual = scanner.endOfString(at);
  if (usual >= 0) return usual;
  const { bytes } = scanner;
  const end = endOfString(bytes, at);
  try {
    JSON.parse(bytes.toString('utf8', at, end));
    return end;
  } catch {
    return -1;
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
