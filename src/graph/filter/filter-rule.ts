import type { ComparedArgument } from '../argument-texts.ts';

export const OPERATORS = ['EQ', 'NE', 'IN', 'LT', 'LTE', 'GT', 'GTE', 'CONTAINS', 'PREFIX'] as const;

export type Operator = (typeof OPERATORS)[number];

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
