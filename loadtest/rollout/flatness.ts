const SECOND_MS = 1000;
/** A close that a client sees this much after the end of the window belongs to its last second. */
const LATE_MS = 200;

export interface Flatness {
  /** Closes in each second of the window. */
  readonly perSecond: readonly number[];
  /** Largest deviation of a second from an even spread, in percent of it. */
  readonly deviationPercent: number;
  /** Closes after the window. */
  readonly late: number;
}

/** How evenly times, in ms and in order, spread over whole seconds from the first on. */
export function flatnessOf(times: readonly number[], spreadMs: number): Flatness {
  const perSecond = Array.from({ length: Math.max(1, Math.round(spreadMs / SECOND_MS)) }, () => 0);
  let late = 0;
  for (const at of times) {
    const second = Math.floor((at - times[0]!) / SECOND_MS);
    const isLate = at - times[0]! > perSecond.length * SECOND_MS + LATE_MS;
    if (isLate) late++;
    else perSecond[Math.min(second, perSecond.length - 1)]!++;
  }
  const even = times.length / perSecond.length;
  const deviations = perSecond.map((count) => Math.abs(count - even) / even);
  return { perSecond, deviationPercent: times.length === 0 ? 0 : Math.max(...deviations) * 100, late };
}
