/**
 * When a connection that opens now is too old, in whole ms of performance.now(); 0: never. The jitter keeps the connections of one storm from
 * a storm at each age limit.
 * @param maxAgeMs 0: no limit
 */
export function tooOldAt(maxAgeMs: number): number {
  return maxAgeMs && Math.round(performance.now() + maxAgeMs * (0.9 + 0.2 * Math.random()));
}
