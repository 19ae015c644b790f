export interface WindowLimits {
  /** For how long, in ms, what is on its way may take to be served. */
  readonly targetMs: number;
  readonly maxBytes: number;
}

/**
 * A slower partition may have this much on its way, however long it takes. Small, because many partitions may share a gateway; an
 * answer takes a few ms, so that it lets a fast one begin with 10 MB a second.
 */
const MIN_BYTES = 65_536;
/** A shorter sample would be of a few batches. */
const SAMPLE_MS = 100;
/** The rate is the best of so many samples: a window that followed every pause of a gateway would make the next one. */
const SAMPLES = 5;

/**
 * How much of a partition may be on its way to a gateway: as much as it serves in `targetMs`, so that what waits is that old at most
 * (Little's law). A gateway that is not busy answers sooner than in `targetMs`: then more is served in a window's time than the window
 * holds, and it grows until the source or the gateway is what limits.
 */
export class Window {
  readonly #limits: WindowLimits;
  readonly #rates: number[] = [];
  #served: number;
  #at: number;

  /** @param now in ms */
  constructor(limits: WindowLimits, served: number, now: number) {
    this.#limits = limits;
    this.#served = served;
    this.#at = now;
  }

  /** `served`: bytes since the stream began. */
  observe(served: number, now: number): void {
    const ms = now - this.#at;
    if (ms < SAMPLE_MS) return;
    this.#rates.push(Math.max(0, served - this.#served) / ms);
    if (this.#rates.length > SAMPLES) this.#rates.shift();
    this.#served = served;
    this.#at = now;
  }

  get bytes(): number {
    const { targetMs, maxBytes } = this.#limits;
    return Math.min(maxBytes, Math.max(MIN_BYTES, targetMs * Math.max(0, ...this.#rates)));
  }
}
