import type { ComparedArgument } from '../argument-texts.ts';

/** Each operator, and what SQL and programs call it. */
const NAMES = [
  ['EQ', '=', '==', '===', 'EQUAL', 'EQUALS'],
  ['NE', '!=', '!==', '<>', 'NOT_EQUAL', 'NOT_EQUALS'],
  ['IN'],
  ['LT', '<', 'LESS_THAN'],
  ['LTE', '<='],
  ['GT', '>', 'GREATER_THAN'],
  ['GTE', '>='],
  ['CONTAINS', 'INCLUDES'],
  ['PREFIX', 'STARTS_WITH'],
] as const;

export type Operator = (typeof NAMES)[number][0];

export const OPERATORS = NAMES.map(([op]) => op);

/** The operator that another system calls so, or that is written in lower case or in quotes; undefined: none. */
export function operatorMeant(text: string): Operator | undefined {
  const name = text.toUpperCase();
  return NAMES.find((names: readonly string[]) => names.includes(name))?.[0];
}

export type Ordering = Extract<Operator, 'LT' | 'LTE' | 'GT' | 'GTE'>;

/**
 * How LT, LTE, GT and GTE compare, by the type of the argument.
 *
 * - `number`: Int and Float: with numbers, and with texts that are decimal numbers, exactly
 * - `text`: String: with texts, by UTF-16 code units
 * - `either`: ID and custom scalars: as `number` where the argument is a decimal number, else as `text`
 */
export type Comparison = 'number' | 'text' | 'either';

/** One `where` of a @kafka that compares an argument with a value of the payload. */
export interface FilterRule extends ComparedArgument {
  /** Path in the converted payload, separated by dots. */
  readonly path: string;
  readonly op: Operator;
  readonly comparison: Comparison;
}

export function isOrdering(op: Operator): op is Ordering {
  return op === 'LT' || op === 'LTE' || op === 'GT' || op === 'GTE';
}
