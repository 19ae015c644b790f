/** What several measurements of one figure gave. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The median; for an even count the mean of the two middle values; 0 without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** The least value that at least this share of the values does not exceed; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/** The first, the median and the last of times in ms, in seconds. */
export function secondsOf(times: readonly number[]): string {
  return [0, 0.5, 1].map((share) => (percentile(times, share) / 1000).toFixed(2)).join(' / ');
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Adds the counts of several records by key. */
export function sumCounts(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [key, count] of counts.flatMap(Object.entries<number>)) total[key] = (total[key] ?? 0) + count;
  return total;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** The spread of each figure over the samples. */
export function spreadsOf<Sample, Name extends string>(
  samples: readonly Sample[],
  figures: Readonly<Record<Name, (sample: Sample, index: number) => number>>,
): Record<Name, Spread> {
  const spreads = Object.entries<(sample: Sample, index: number) => number>(figures).map(
    ([name, figure]) => [name, spreadOf(samples.map(figure))] as const,
  );
  return Object.fromEntries(spreads) as Record<Name, Spread>;
}
