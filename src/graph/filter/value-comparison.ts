import { textOf } from '../compared-text.ts';
import { compareDecimals, isDecimal } from './decimal.ts';
import type { ValueTest } from './event-filter.ts';
import { isOrdering } from './filter-rule.ts';
import type { Comparison, FilterRule, Ordering } from './filter-rule.ts';

const ORDERINGS: Readonly<Record<Ordering, (order: number) => boolean>> = {
  LT: (order) => order < 0,
  LTE: (order) => order <= 0,
  GT: (order) => order > 0,
  GTE: (order) => order >= 0,
};

/**
 * The test of a rule for an argument's values: one, or those of IN. Values are equal if their texts are. An absent value, null, and a value
 * that cannot be compared with the argument pass NE only.
 */
export function valueTest({ op, comparison }: FilterRule, given: readonly string[]): ValueTest {
  const text = given[0]!;
  if (isOrdering(op)) {
    const passes = ORDERINGS[op];
    const compare = comparisonWith(text, comparison);
    return (value) => {
      const order = compare(value);
      return order !== undefined && passes(order);
    };
  }
  switch (op) {
    case 'EQ':
      return (value) => textOf(value) === text;
    case 'NE':
      return (value) => textOf(value) !== text;
    case 'IN': {
      const texts: ReadonlySet<string | undefined> = new Set(given);
      return (value) => texts.has(textOf(value));
    }
    case 'CONTAINS':
      return (value) =>
        Array.isArray(value) ? value.some((item) => textOf(item) === text) : textOf(value)?.includes(text) === true;
    case 'PREFIX':
      return (value) => textOf(value)?.startsWith(text) === true;
  }
}

/** Negative, 0 or positive where the value is less than, equal to or greater than the argument; undefined: they cannot be compared. */
type Compare = (value: unknown) => number | undefined;

function comparisonWith(given: string, comparison: Comparison): Compare {
  if (comparison === 'text' || (comparison === 'either' && !isDecimal(given))) {
    return (value) => (typeof value === 'string' ? compareTexts(value, given) : undefined);
  }
  const number = Number(given);
  // A double holds the argument exactly if it prints it.
  const isExact = String(number) === given;
  return (value) => {
    if (typeof value === 'number' && isExact) return value - number;
    return typeof value === 'number' || typeof value === 'string' ? compareDecimals(String(value), given) : undefined;
  };
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
