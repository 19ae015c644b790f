export interface WindowLimits {
  /** Longest time, in ms, from a message's publish until it is served. */
  readonly targetMs: number;
  readonly maxBytes: number;
}

/**
 * A partition may always have this much on its way, however slowly it is served. Small, because many partitions may share a gateway; an
 * answer takes a few ms, so that it lets a fast one begin with 10 MB a second.
 */
const MIN_BYTES = 65_536;
/**
 * The rate is that of the last second: 32 events for thousands of sockets are served in a third of a second, and count when the last
 * socket has them. A shorter time would see all of them at once, and take the gateway for three times as fast.
 */
const RATE_MS = 1000;
const SAMPLES = 10;

interface Sample {
  readonly served: number;
  readonly at: number;
}

/**
 * How much of a partition may be on its way to a gateway: as much as it serves in `targetMs`, so that what waits is that old at most
 * (Little's law). A gateway that is not busy answers sooner than in `targetMs`: then more is served in a window's time than the window
 * holds, and it grows until the source or the gateway is what limits.
 */
export class Window {
  readonly #limits: WindowLimits;
  /** The oldest first; about a tenth of RATE_MS apart. */
  readonly #samples: Sample[];
  #bytesPerMs = 0;

  /** @param now in ms */
  constructor(limits: WindowLimits, served: number, now: number) {
    this.#limits = limits;
    this.#samples = [{ served, at: now }];
  }

  /** `served`: bytes since the stream began. */
  observe(served: number, now: number): void {
    const samples = this.#samples;
    if (now - samples.at(-1)!.at < RATE_MS / SAMPLES) return;
    const [oldest] = samples as [Sample];
    this.#bytesPerMs = Math.max(0, served - oldest.served) / (now - oldest.at);
    samples.push({ served, at: now });
    if (samples.length > SAMPLES) samples.shift();
  }

  get bytes(): number {
    const { targetMs, maxBytes } = this.#limits;
    return Math.min(maxBytes, Math.max(MIN_BYTES, targetMs * this.#bytesPerMs));
  }
}
