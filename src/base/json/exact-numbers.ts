import { BACKSLASH, CAPITAL_E, LETTER_E, MINUS, NINE, PLUS, POINT, QUOTE, ZERO } from './characters.ts';

/** Fewer digits lose none, except of numbers next to 0: a double holds each number of up to 15 digits. */
const LONG_RUN = 16;
/** Most digits that `toPrecision` prints. */
const MAX_PRECISION = 100;
/** From here on JavaScript prints a number with an exponent. */
const LEAST_WITH_EXPONENT = 1e21;
const WHOLE = /^-?\d+$/;
/** A number of JSON; its parts: whole, fraction, exponent. */
export const NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * JSON.parse, except that a number whose digits a double loses becomes its text: values decide who receives what, and two numbers must not
 * become one. 64-bit integers of Avro and Protobuf become texts, too. Numbers beyond a double become Infinity or 0, unless all their digits
 * are written.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasLongRun(text) ? JSON.parse(withQuotedNumbers(text)) : value;
}

/**
 * The number that a decimal text is; a text if a double loses digits of it: of an integer its digits, however it is written, so that equal
 * integers have equal texts. Libraries print the same fraction with more or fewer digits, such as 0.10000000000000001: this loses none.
 */
export function exactNumber(text: string): number | string {
  const number = Number(text);
  const printed = String(number);
  if (printed === text || number === 0) return number;
  if (WHOLE.test(text)) return text;
  if (!Number.isFinite(number)) return number;
  const digits = digitsOf(text);
  const precision = digits.indexOf('e');
  if (precision < LONG_RUN || digits === digitsOf(printed)) return number;
  const exponent = Number(digits.slice(precision + 1));
  if (exponent >= 0) return (text.startsWith('-') ? '-' : '') + digits.slice(0, precision) + '0'.repeat(exponent);
  const isPrint =
    !Number.isInteger(number) && precision <= MAX_PRECISION && digits === digitsOf(number.toPrecision(precision));
  return isPrint ? number : text;
}

/** The text by which a number is compared: as JSON.stringify prints it, but an integer always as its digits. */
export function numberText(number: number): string {
  const text = String(number);
  if (Math.abs(number) < LEAST_WITH_EXPONENT) return text;
  const [, sign, first, rest = '', exponent] = /^(-?)(\d)(?:\.(\d+))?e\+(\d+)$/.exec(text)!;
  return `${sign}${first}${rest.padEnd(Number(exponent), '0')}`;
}

/** For JSON.stringify: a BigInt becomes what `parseExactly` makes of its digits. */
export function withBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? exactNumber(String(value)) : value;
}

/** Equal for the texts of equal numbers: the digits without zeros at their ends, and the exponent of the last one. */
function digitsOf(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number)!;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start++;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end--;
  return `${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** True if the text has 16 digits and points in a row. Looks at every 16th character, of which such a run has one. */
function hasLongRun(text: string): boolean {
  for (let at = LONG_RUN - 1; at < text.length; at += LONG_RUN) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let start = at;
    while (start > 0 && isDigitOrPoint(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (end < text.length && isDigitOrPoint(text.charCodeAt(end))) end++;
    if (end - start >= LONG_RUN) return true;
  }
  return false;
}

/** Puts each number whose digits a double loses in quotes. @param text valid JSON */
function withQuotedNumbers(text: string): string {
  let quoted = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) at = endOfString(text, at);
    else if (c === MINUS || isDigitOrPoint(c)) {
      const start = at;
      while (at + 1 < text.length && isOfNumber(text.charCodeAt(at + 1))) at++;
      const end = at + 1;
      const exact = end - start < LONG_RUN ? 0 : exactNumber(text.slice(start, end));
      if (typeof exact === 'number') continue;
      quoted += `${text.slice(copied, start)}"${exact}"`;
      copied = end;
    }
  }
  return quoted + text.slice(copied);
}

/** The offset of the closing quote. */
function endOfString(text: string, at: number): number {
  for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
  return at;
}

function isDigitOrPoint(c: number): boolean {
  return (c >= ZERO && c <= NINE) || c === POINT;
}

/** A digit, or one of `+-.eE`. */
export function isOfNumber(c: number): boolean {
  return isDigitOrPoint(c) || c === MINUS || c === PLUS || c === CAPITAL_E || c === LETTER_E;
}
