const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** The wait before retry `attempt` (from 0), in ms. Full jitter spreads the reconnects of clients that were disconnected together. */
export function backoffMs(attempt: number): number {
  return Math.random() * Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS);
}
