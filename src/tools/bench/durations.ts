import { createHistogram } from 'node:perf_hooks';

export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Durations in ms, in a histogram of three digits: the memory does not grow with their number. */
export class Durations {
  readonly #microseconds = createHistogram({ figures: 3 });

  record(ms: number): void {
    // A histogram begins at 1.
    this.#microseconds.record(Math.max(1, Math.round(ms * 1000)));
  }

  /** Undefined without a duration. */
  get percentiles(): Percentiles | undefined {
    if (this.#microseconds.count === 0) return undefined;
    const at = (percentile: number) => this.#microseconds.percentile(percentile) / 1000;
    return { p50Ms: at(50), p99Ms: at(99), maxMs: this.#microseconds.max / 1000 };
  }
}
