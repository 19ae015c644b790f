import { median } from './median.ts';

/** What several measurements of one figure gave. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
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
