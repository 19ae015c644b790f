const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Of the wait before retry `attempt` (from 0), in ms: full jitter, so that a herd that was cut off together comes back one by one. */
export function backoffMs(attempt: number): number {
  return Math.random() * Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS);
}
