import type { Binding } from './schema/binding.ts';

/** Matches and wheres by path, so that fields with the same paths share channels, whatever their order. */
export function keysOf({ match, where }: Pick<Binding, 'match' | 'where'>) {
  return [...match, ...where].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
