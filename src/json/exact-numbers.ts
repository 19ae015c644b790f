import { compareDecimals } from './decimal.ts';

/** A text without such a part has no number that a double cannot hold: a double holds each number of up to 15 digits. */
const MAY_LOSE_DIGITS = /[\d.]{16}|[eE][+-]?\d{3}/;
/** Most digits that `toPrecision` prints. */
const MAX_PRECISION = 100;
/** Strings and numbers of valid JSON. */
const SCALARS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * JSON.parse, except that a number whose digits a double loses becomes its text: values decide who receives what, and two numbers must not
 * become one. 64-bit integers of Avro and Protobuf become texts, too. Numbers beyond a double become Infinity.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!MAY_LOSE_DIGITS.test(text)) return value;
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
  if (printed === text || !Number.isFinite(number) || compareDecimals(text, printed) === 0) return number;
  if (!/[.eE]/.test(text)) return text;
  const digits = /^-?[0.]*([\d.]*)/.exec(text)![1]!.replace('.', '').length;
  const isPrint = digits > 0 && digits <= MAX_PRECISION && compareDecimals(text, number.toPrecision(digits)) === 0;
  return isPrint ? number : text;
}
