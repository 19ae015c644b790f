import { NINE, POINT, ZERO } from './characters.ts';
import { compareDecimals } from './decimal.ts';

/** Fewer digits and points in a row lose none: a double holds each number of up to 15 digits. */
const LONG_RUN = 16;
/** Most digits that `toPrecision` prints. */
const MAX_PRECISION = 100;
/** Strings and numbers of valid JSON. */
const SCALARS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * JSON.parse, except that a number whose digits a double loses becomes its text: values decide who receives what, and two numbers must not
 * become one. 64-bit integers of Avro and Protobuf become texts, too. Numbers beyond a double become Infinity or 0.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!hasLongRun(text)) return value;
  const exact = text.replace(SCALARS, (scalar) =>
    scalar.startsWith('"') || typeof exactNumber(scalar) === 'number' ? scalar : `"${scalar}"`,
  );
  return exact === text ? value : JSON.parse(exact);
}

/**
 * The number that a decimal text is; the text itself if a double loses digits of it. Libraries print the same double with more or fewer
 * digits, such as 0.10000000000000001: this loses none. An integer without an exponent may be an id, and must be printed as it was.
 */
export function exactNumber(text: string): number | string {
  const number = Number(text);
  const printed = String(number);
  if (printed === text || number === 0 || !Number.isFinite(number) || compareDecimals(text, printed) === 0)
    return number;
  if (!/[.eE]/.test(text)) return text;
  const digits = /^-?[0.]*([\d.]*)/.exec(text)![1]!.replace('.', '').length;
  const isPrint = digits > 0 && digits <= MAX_PRECISION && compareDecimals(text, number.toPrecision(digits)) === 0;
  return isPrint ? number : text;
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

function isDigitOrPoint(c: number): boolean {
  return (c >= ZERO && c <= NINE) || c === POINT;
}
