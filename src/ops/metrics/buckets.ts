import type { Observations } from './observations.ts';

/** The latest observation of a bucket that belongs to a trace, as OpenMetrics shows it. */
export interface Exemplar {
  readonly labelSet: { readonly trace_id: string };
  readonly value: number;
  /** In seconds since 1970. */
  readonly timestamp: number;
}

/** One series of a histogram. */
export class Buckets implements Observations {
  /** By bucket; those without a sampled observation have none. */
  readonly exemplars: (Exemplar | undefined)[] = [];
  readonly #bounds: Float64Array;
  /** By bucket, not cumulative; the last one is +Inf. */
  readonly #counts: Float64Array;
  /** An array, because a field of an object would be a new heap number for each observation. */
  readonly #sum = new Float64Array(1);

  /** @param bounds upper bounds, ascending, without +Inf */
  constructor(bounds: readonly number[]) {
    this.#bounds = Float64Array.from(bounds);
    this.#counts = new Float64Array(bounds.length + 1);
  }

  get sum(): number {
    return this.#sum[0]!;
  }

  get count(): number {
    let count = 0;
    for (const own of this.#counts) count += own;
    return count;
  }

  /**
   * @param difference one below 0 counts as 0: it is the difference of two machines' clocks
   * @param weight counts as so many observations of it
   * @param traceId of a sampled trace, which becomes the bucket's exemplar
   */
  observe(difference: number, weight = 1, traceId?: string): void {
    const value = difference > 0 ? difference : 0;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.#counts[bucket]! += weight;
    this.#sum[0]! += value * weight;
    if (traceId !== undefined)
      this.exemplars[bucket] = { labelSet: { trace_id: traceId }, value, timestamp: Date.now() / 1000 };
  }

  /** Observations up to each bound, then all of them. */
  cumulative(): number[] {
    let count = 0;
    return Array.from(this.#counts, (own) => (count += own));
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sum[0] = 0;
    this.exemplars.length = 0;
  }
}
