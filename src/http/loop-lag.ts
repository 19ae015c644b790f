const SAMPLE_INTERVAL_MS = 500;

/** Measures the event loop's lag: the delay of a repeating timer. */
export class LoopLag {
  #timer: NodeJS.Timeout | undefined;
  #sampledAt = 0;
  #lagMs = 0;

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
  }
}
