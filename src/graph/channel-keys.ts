import type { Binding } from './schema/binding.ts';

/** Matches and wheres by path, so that fields with the same paths share channels, whatever their order. */
export function keysOf({ match, where }: Pick<Binding, 'match' | 'where'>) {
  return [...match, ...where].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The text by which values are compared: the Int 7 equals "7". undefined: the value cannot be matched. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value)))
    return String(value);
  return undefined;
}
