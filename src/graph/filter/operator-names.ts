import { OPERATORS } from './filter-rule.ts';
import type { Operator } from './filter-rule.ts';

/** What operators are called in SQL and in programs. */
const OPERATORS_ELSEWHERE: Readonly<Record<string, Operator>> = {
  '=': 'EQ',
  '==': 'EQ',
  '===': 'EQ',
  EQUAL: 'EQ',
  EQUALS: 'EQ',
  '!=': 'NE',
  '!==': 'NE',
  '<>': 'NE',
  NOT_EQUAL: 'NE',
  NOT_EQUALS: 'NE',
  '<': 'LT',
  LESS_THAN: 'LT',
  '<=': 'LTE',
  '>': 'GT',
  GREATER_THAN: 'GT',
  '>=': 'GTE',
  INCLUDES: 'CONTAINS',
  STARTS_WITH: 'PREFIX',
};

/** The operator that another system calls so, or that is written in lower case or in quotes; undefined: none. */
export function operatorMeant(text: string): Operator | undefined {
  const name = text.toUpperCase();
  if (Object.hasOwn(OPERATORS_ELSEWHERE, name)) return OPERATORS_ELSEWHERE[name];
  return OPERATORS.find((op) => op === name);
}
