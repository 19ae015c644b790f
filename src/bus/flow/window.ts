export interface WindowLimits {
  /** Longest time, in ms, from a message's publish until it is served. */
  readonly targetMs: number;
  readonly maxBytes: number;
}

/**
 * Least window, in bytes, however slowly a partition is served. Small, because many partitions may share a gateway. Credit takes a few
 * ms, so a fast partition starts at about 10 MB a second.
 */
const MIN_BYTES = 65_536;
/**
 * The service rate is measured over the last second. 32 events for thousands of sockets take a third of a second, and count when the
 * last socket has them: a shorter interval would count all of them at once and measure three times the rate.
 */
const RATE_MS = 1000;
const SAMPLES = 10;

interface Sample {
  readonly served: number;
  readonly at: number;
}

/**
 * The bytes of a partition that may be in flight to a gateway: as many as it serves in `targetMs`, so that no message waits longer
 * (Little's law). A gateway that is not busy serves a window in less than `targetMs`, so the window grows until the source or the
 * gateway is the limit.
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
