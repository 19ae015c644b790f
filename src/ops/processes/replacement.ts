/** Longest delay, in ms. */
const MAX_DELAY_MS = 30_000;
/** A process that has served for so long, in ms, ends a row of ends. */
const CALM_MS = 60_000;
/** Ends in a row, each before the process served, after which no other follows: while the pod starts, and later. */
const MAX_EARLY_ENDS = { starting: 3, later: 10 };

export interface End {
  /** For how long it has served, in ms; undefined: it never did. */
  readonly servedMs: number | undefined;
  /** True until all processes of the pod have served once. */
  readonly isPodStarting: boolean;
}

/** Decides when a process follows one that has ended: at once, then after 1, 2, 4 … 30 s. */
export class Replacement {
  #ends = 0;
  #earlyEnds = 0;

  /** Ends in a row. */
  get ends(): number {
    return this.#ends;
  }

  /** Delay in ms until the next process; undefined: the pod cannot go on. */
  delayAfter({ servedMs, isPodStarting }: End): number | undefined {
    this.#ends = servedMs !== undefined && servedMs >= CALM_MS ? 1 : this.#ends + 1;
    this.#earlyEnds = servedMs === undefined ? this.#earlyEnds + 1 : 0;
    if (this.#earlyEnds >= (isPodStarting ? MAX_EARLY_ENDS.starting : MAX_EARLY_ENDS.later)) return undefined;
    return this.#ends === 1 ? 0 : Math.min(MAX_DELAY_MS, 1000 * 2 ** (this.#ends - 2));
  }
}
