import { numberText } from '../base/json/exact-numbers.ts';

/** The text by which values are compared: the Int 7 equals "7". undefined: the value cannot be matched. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? numberText(value) : undefined;
  return typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : undefined;
}
