import { Latency } from '../../runner/latency.ts';
import type { LatencySummary } from '../../runner/latency.ts';

/** The time of each copy from its publish to its arrival at the last socket. */
export class Ages {
  /** Publish time by copy, in ms. */
  readonly #publishedAt: number[] = [];
  /** Flat pairs (copy, completion time) whose publish has not been seen yet. */
  #waiting: number[] = [];
  readonly #second = new Latency();
  #total = new Latency();

  /** Records the publish time. Only the first publish of a copy counts. */
  published(copy: number, atMs: number): void {
    this.#publishedAt[copy] ??= atMs;
  }

  /** Takes flat pairs (copy, time of its arrival at the last socket), on the clock of `published`. */
  completed(pairs: readonly number[]): void {
    const all = [...this.#waiting, ...pairs];
    this.#waiting = [];
    for (let i = 0; i < all.length; i += 2) {
      const publishedAt = this.#publishedAt[all[i]!];
      if (publishedAt === undefined) this.#waiting.push(all[i]!, all[i + 1]!);
      else this.#record(all[i + 1]! - publishedAt);
    }
  }

  #record(ms: number): void {
    this.#second.record(ms);
    this.#total.record(ms);
  }

  /** The ages recorded since the last call. */
  takeSecond(): LatencySummary {
    const summary = this.#second.summary();
    this.#second.reset();
    return summary;
  }

  /** Starts `total()` from zero. */
  resetTotal(): void {
    this.#total = new Latency();
  }

  total(): LatencySummary {
    return this.#total.summary();
  }
}
