import { isEnumType, isScalarType, specifiedScalarTypes } from 'graphql';
import type { GraphQLEnumType, GraphQLScalarType } from 'graphql';
import { LETTER_F, LETTER_N, LETTER_T, MINUS, NINE, QUOTE, ZERO } from '../../base/json/characters.ts';
import { parseFrozen } from '../../base/json/frozen.ts';
import { MAX_LEVELS } from '../../base/json/scanner.ts';
import type { JsonScanner } from '../../base/json/scanner.ts';
import { integerDigitsOf } from '../schema/integer-scalars.ts';
import { endOfNull, printNull } from './render-context.ts';
import type { Printer, RenderContext } from './render-context.ts';

const MAX_INT = 2_147_483_647;
const MAX_INT_LENGTH = '-2147483648'.length;

type LeafKind = 'String' | 'ID' | 'Int' | 'Float' | 'Boolean' | 'integer' | 'other';

/**
 * Prints scalars and enums. A value that graphql-js would convert, such as a number for a String, is refused.
 * Value offsets: the byte offset after the value, that of its first byte.
 */
export class LeafPrinter implements Printer {
  readonly size = 2;
  readonly #kind: LeafKind;
  readonly #isRequired: boolean;
  /** Of kind "integer": it has each integer of at most as many digits. */
  readonly #digits: number;
  /** JSON text of a parsed value, for the kinds "other" and "integer"; undefined: the type does not have the value. */
  readonly #textOf: (value: unknown) => string | undefined;

  constructor(type: GraphQLScalarType | GraphQLEnumType, isRequired: boolean) {
    this.#kind = kindOf(type);
    this.#isRequired = isRequired;
    this.#digits = isScalarType(type) ? (integerDigitsOf(type) ?? 0) : 0;
    this.#textOf = isEnumType(type) ? enumText(type) : (value) => scalarText(type, value);
  }

  read(context: RenderContext, at: number, index: number): number {
    const { scanner } = context;
    const c = scanner.view.getUint8(at);
    if (c === LETTER_N) return endOfNull(context, at);
    const end = this.#endOf(scanner, at, c);
    context.valueOffsets[index] = end;
    context.valueOffsets[index + 1] = at;
    return end;
  }

  print(context: RenderContext, index: number): boolean {
    const { composer, valueOffsets, scanner } = context;
    const end = valueOffsets[index]!;
    if (end === 0) return printNull(context, this.#isRequired);
    const start = valueOffsets[index + 1]!;
    const kind = this.#kind;
    if (kind === 'other' || (kind === 'integer' && !isInteger(scanner.view, start, end, this.#digits))) {
      const text = this.#textOf(parseFrozen(scanner.bytes.toString('utf8', start, end)));
      if (text === undefined) return false;
      composer.string(text);
    } else if ((kind === 'ID' || kind === 'integer') && scanner.view.getUint8(start) !== QUOTE) {
      composer.byte(QUOTE);
      composer.copy(scanner.view, start, end);
      composer.byte(QUOTE);
    } else composer.copy(scanner.view, start, end);
    return true;
  }

  #endOf(scanner: JsonScanner, at: number, c: number): number {
    switch (this.#kind) {
      case 'String':
        return c === QUOTE ? scanner.endOfString(at) : -1;
      case 'ID':
        return c === QUOTE ? scanner.endOfString(at) : endOfInteger(scanner, at);
      case 'Int': {
        const end = endOfInteger(scanner, at);
        return end >= 0 && isInt(scanner.view, at, end) ? end : -1;
      }
      case 'Float':
        return scanner.endOfNumber(at);
      case 'Boolean':
        return c === LETTER_T || c === LETTER_F ? scanner.endOfScalar(at) : -1;
      case 'integer':
        return scanner.endOfScalar(at);
      case 'other':
        return scanner.endOfValue(at, MAX_LEVELS);
    }
  }
}

/** Accepts digits only. A point or an exponent is refused even where the value is whole. */
function endOfInteger(scanner: JsonScanner, at: number): number {
  const end = scanner.endOfNumber(at);
  for (let i = at + 1; i < end; i++) if (!isDigit(scanner.view.getUint8(i))) return -1;
  return end;
}

function isDigit(c: number): boolean {
  return c >= ZERO && c <= NINE;
}

/** True if the digits are an integer of 32 bits. */
function isInt(view: DataView, start: number, end: number): boolean {
  if (end - start > MAX_INT_LENGTH) return false;
  const isNegative = view.getUint8(start) === MINUS;
  let value = 0;
  for (let i = isNegative ? start + 1 : start; i < end; i++) value = value * 10 + view.getUint8(i) - ZERO;
  return value <= (isNegative ? MAX_INT + 1 : MAX_INT);
}

/** True if a scalar is the digits of an integer as they are printed, in quotes or not, and has few enough of them. */
function isInteger(view: DataView, start: number, end: number, maxDigits: number): boolean {
  const quotes = view.getUint8(start) === QUOTE ? 1 : 0;
  const isNegative = view.getUint8(start + quotes) === MINUS;
  const first = start + quotes + (isNegative ? 1 : 0);
  const last = end - quotes;
  if (first === last || last - first > maxDigits) return false;
  if (view.getUint8(first) === ZERO) return !isNegative && last - first === 1;
  for (let i = first; i < last; i++) if (!isDigit(view.getUint8(i))) return false;
  return true;
}

function kindOf(type: GraphQLScalarType | GraphQLEnumType): LeafKind {
  if (!isScalarType(type)) return 'other';
  if (specifiedScalarTypes.includes(type)) return type.name as LeafKind;
  return integerDigitsOf(type) === undefined ? 'other' : 'integer';
}

function enumText(type: GraphQLEnumType): (value: unknown) => string | undefined {
  const texts = new Map<unknown, string>(type.getValues().map(({ name, value }) => [value, JSON.stringify(name)]));
  return (value) => texts.get(value);
}

function scalarText(type: GraphQLScalarType, value: unknown): string | undefined {
  try {
    return JSON.stringify(type.serialize(value));
  } catch {
    return undefined;
  }
}
