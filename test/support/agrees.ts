import { isDeepStrictEqual } from 'node:util';
import type { TrackedReads } from '../../src/graph/context/fact-reads.ts';

const FACT_NAMES = ['id', 'headers', 'params', 'claims', 'address'];

/** True if every recorded read gives the same value on other facts: the rule as it is stated; `readKey` is how crier keeps it. */
export function agrees(reads: TrackedReads, facts: object): boolean {
  const { data, isRoot } = reads;
  const names = (of: object) => (isRoot ? FACT_NAMES : Object.keys(of));
  const has = (of: object, key: string) => (isRoot ? FACT_NAMES.includes(key) : Object.hasOwn(of, key));
  const answer = (of: object, key: string) => (has(of, key) ? (of as Record<string, unknown>)[key] : undefined);
  for (const [key, child] of reads.values) {
    const theirs = answer(facts, key);
    if (!child && theirs !== answer(data, key)) return false;
    if (!child) continue;
    if (typeof theirs !== 'object' || theirs === null || Array.isArray(theirs) !== Array.isArray(child.data))
      return false;
    if (!agrees(child, theirs)) return false;
  }
  for (const key of reads.presences ?? []) if (has(facts, key) !== has(data, key)) return false;
  return !reads.isEnumerated || isDeepStrictEqual(names(facts), names(data));
}
