import { createHistogram } from 'node:perf_hooks';

export type LatencySummary = ReturnType<Latency['summary']>;

/** Unit and least value of the histogram. */
const UNITS_PER_MS = 100;
const HIGHEST_MS = 3_600_000;

/** Durations in a histogram of constant size and three significant figures (Node's own HDR histogram). */
export class Latency {
  readonly #histogram = createHistogram({ lowest: 1, highest: HIGHEST_MS * UNITS_PER_MS, figures: 3 });

  /** Clocks of two processes can make a short duration negative; it counts as the least value. */
  record(ms: number): void {
    this.#histogram.record(Math.min(Math.max(1, Math.round(ms * UNITS_PER_MS)), HIGHEST_MS * UNITS_PER_MS));
  }

  /** 0 without durations. */
  get maxMs(): number {
    return this.#histogram.count === 0 ? 0 : this.#histogram.max / UNITS_PER_MS;
  }

  reset(): void {
    this.#histogram.reset();
  }

  /** All figures are 0 without durations. */
  summary() {
    const { count } = this.#histogram;
    const percentile = (share: number) => (count === 0 ? 0 : this.#histogram.percentile(share) / UNITS_PER_MS);
    const [p50Ms, p99Ms, p999Ms] = [percentile(50), percentile(99), percentile(99.9)];
    return { count, p50Ms, p99Ms, p999Ms, maxMs: this.maxMs };
  }
}
