const SAMPLE_INTERVAL_MS = 500;

/** How late the event loop is: the delay of a timer, measured over and over. */
export class LoopLag {
  #timer: NodeJS.Timeout | undefined;
  #sampledAt = 0;
  #lagMs = 0;

  start(): void {
    if (this.#timer) return;
    this.#sampledAt = performance.now();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_INTERVAL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#lagMs = 0;
  }

  /** The last sample's delay in ms, or that of the sample which is due: the larger. */
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
