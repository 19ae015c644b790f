import { Kind } from 'graphql';
import type { ConstValueNode } from 'graphql';
import { HISTORY_DEFAULTS } from '../../bus/history.ts';
import type { HistoryLimits } from '../../bus/history.ts';

/** For each bound of `history`: the largest value, and what it counts. */
const BOUNDS = {
  entries: { max: 100_000, unit: 'events' },
  bytes: { max: 1_073_741_824, unit: 'bytes' },
  seconds: { max: 86_400, unit: 'seconds' },
} as const satisfies Record<keyof HistoryLimits, { max: number; unit: string }>;

/** Reads the `history` of a @kafka; an absent bound gets its default. undefined: channels keep no events. */
export function readHistory(node: ConstValueNode | undefined, problems: string[]): HistoryLimits | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  if (node.kind !== Kind.OBJECT) {
    problems.push('history must be an object such as { seconds: 120 }; {} takes the defaults');
    return undefined;
  }
  const limits: Record<string, number> = { ...HISTORY_DEFAULTS };
  for (const { name, value } of node.fields) {
    const bound = (BOUNDS as Record<string, { max: number; unit: string } | undefined>)[name.value];
    if (!bound) {
      problems.push(`history has no "${name.value}"; use entries, bytes or seconds`);
      continue;
    }
    const number = value.kind === Kind.INT ? Number(value.value) : Number.NaN;
    if (number >= 1 && number <= bound.max) limits[name.value] = number;
    else
      problems.push(`history.${name.value} must be a whole number of ${bound.unit}, 1 to ${bound.max}, without quotes`);
  }
  return limits as unknown as HistoryLimits;
}

/** True if a @kafka has `replay: LAST`. */
export function readReplay(node: ConstValueNode | undefined, hasHistory: boolean, problems: string[]): boolean {
  if (!node || node.kind === Kind.NULL) return false;
  if (node.kind !== Kind.ENUM || node.value !== 'LAST') {
    problems.push('replay must be LAST, without quotes; left out, a subscription begins with the next event');
  } else if (!hasHistory) {
    problems.push('replay: LAST has no history to take the last event from; add history: {}');
  }
  return true;
}
