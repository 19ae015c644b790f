/** A run of consecutive sequences received on one connection. */
interface Run {
  readonly connection: number;
  first: number;
  last: number;
}

export type Arrival = 'new' | 'duplicate' | 'reordered';

/** The sequences of one lane that one subscription received, as runs. Without losses there is one run per connection. */
export class Track {
  #runs: Run[] = [];

  /** Counts a sequence received on the `connection`th connection. */
  add(sequence: number, connection: number): Arrival {
    const latest = this.#runs.at(-1);
    if (latest && sequence === latest.last + 1 && latest.connection === connection) {
      latest.last = sequence;
      return 'new';
    }
    if (this.#has(sequence)) return 'duplicate';
    const run = { connection, first: sequence, last: sequence };
    if (!latest || sequence > latest.last) {
      this.#runs.push(run);
      return 'new';
    }
    this.#runs.push(run);
    this.#runs.sort((a, b) => a.first - b.first);
    return 'reordered';
  }

  /** Number of received sequences above `from`. */
  countAbove(from: number): number {
    let count = 0;
    for (const { first, last } of this.#runs) count += Math.max(0, last - Math.max(first, from + 1) + 1);
    return count;
  }

  /** Calls back for each missing sequence in (`from`, `to`]. `isInside`: one connection received sequences before and after it. */
  forEachMissing(from: number, to: number, report: (sequence: number, isInside: boolean) => void): void {
    let next = from + 1;
    let before: Run | undefined;
    for (const run of this.#runs) {
      const isInside = before?.connection === run.connection;
      for (; next < run.first && next <= to; next++) report(next, isInside);
      next = Math.max(next, run.last + 1);
      before = run;
    }
    for (; next <= to; next++) report(next, false);
  }

  #has(sequence: number): boolean {
    return this.#runs.some(({ first, last }) => first <= sequence && sequence <= last);
  }
}
