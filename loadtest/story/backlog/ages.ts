import { Latency } from '../../scenarios/latency.ts';
import type { LatencySummary } from '../../scenarios/latency.ts';

/** How long each copy took from its publish to the last of the sockets. */
export class Ages {
  /** By copy, in ms. */
  readonly #publishedAt: number[] = [];
  /** Pairs of copies whose publish is not known yet. */
  #waiting: number[] = [];
  readonly #second = new Latency();
  #total = new Latency();

  /** Only the first publish of a copy counts. */
  published(copy: number, atMs: number): void {
    this.#publishedAt[copy] ??= atMs;
  }

  /** Pairs of a copy and when it reached the last socket, on the same clock. */
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

  /** Of what was completed since the call before. */
  takeSecond(): LatencySummary {
    const summary = this.#second.summary();
    this.#second.reset();
    return summary;
  }

  /** From now on `total()` counts. */
  begin(): void {
    this.#total = new Latency();
  }

  total(): LatencySummary {
    return this.#total.summary();
  }
}
