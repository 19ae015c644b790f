const SAMPLE_INTERVAL_MS = 500;
/** Consecutive late samples from which the loop is late: one long turn, such as a garbage collection, does not count. */
const LATE_SAMPLES = 4;
/** Consecutive samples below half the bound after which the loop is no longer late. */
const CALM_SAMPLES = 10;

/** Measures the event loop's lag: the delay of a repeating timer. */
export class LoopLag {
  #timer: NodeJS.Timeout | undefined;
  #sampledAt = 0;
  #lagMs = 0;
  /** Lag from which a sample is late, in ms; 0: never. */
  readonly #maxLagMs: number;
  #lateSamples = 0;
  #calmSamples = 0;
  #isLate = false;

  constructor(maxLagMs = 0) {
    this.#maxLagMs = maxLagMs;
  }

  /** True while the lag stays above the bound. It has a hysteresis, so that readiness does not flap. */
  get isLate(): boolean {
    return this.#isLate;
  }

  start(): this {
    if (this.#timer) return this;
    this.#sampledAt = performance.now();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_INTERVAL_MS).unref();
    return this;
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#lagMs = 0;
    return Promise.resolve();
  }

  /** In ms: the delay of the last sample, or that of the sample that is due if it is larger. */
  get lagMs(): number {
    if (!this.#timer) return 0;
    return Math.max(this.#lagMs, performance.now() - this.#sampledAt - SAMPLE_INTERVAL_MS);
  }

  #sample(): void {
    const now = performance.now();
    this.#lagMs = Math.max(0, now - this.#sampledAt - SAMPLE_INTERVAL_MS);
    this.#sampledAt = now;
    if (this.#maxLagMs > 0) this.#judge();
  }

  #judge(): void {
    this.#lateSamples = this.#lagMs > this.#maxLagMs ? this.#lateSamples + 1 : 0;
    this.#calmSamples = this.#lagMs <= this.#maxLagMs / 2 ? this.#calmSamples + 1 : 0;
    if (this.#lateSamples >= LATE_SAMPLES) this.#isLate = true;
    if (this.#calmSamples >= CALM_SAMPLES) this.#isLate = false;
  }
}
