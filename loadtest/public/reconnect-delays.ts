/** How long a client waits before it connects again: as @crier/client does, or as the benchmark's tuned clients do. */
export type Delays = 'stock' | 'tuned';

const BOUNDS = {
  /** Those of @crier/client. */
  stock: { baseMs: 1000, longestMs: 30_000 },
  tuned: { baseMs: 500, longestMs: 5000 },
};

/** The wait before retry `attempt` (from 0), with full jitter. */
export function reconnectMs(attempt: number, delays: Delays, minOfflineMs: number): number {
  const { baseMs, longestMs } = BOUNDS[delays];
  return Math.max(minOfflineMs, Math.random() * Math.min(longestMs, baseMs * 2 ** attempt));
}
