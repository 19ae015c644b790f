/** A token bucket: `burst` at once, refilled at `perSecond`. Two numbers and no timer. */
export class RateLimit {
  #perSecond: number;
  #burst: number;
  #tokens: number;
  #refilledAt = 0;

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Changes the rate. What was taken of the burst stays taken. */
  change(perSecond: number, burst: number): void {
    this.#tokens = Math.max(0, this.#tokens + burst - this.#burst);
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Takes a token, or several; false when there are fewer. `nowMs`: a monotonic clock. */
  take(nowMs: number, tokens = 1): boolean {
    const refill = ((nowMs - this.#refilledAt) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + refill);
    this.#refilledAt = nowMs;
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Gives a token back. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  /** Time in ms from the last `take` until there are so many tokens. */
  msUntil(tokens: number): number {
    return Math.ceil(((tokens - this.#tokens) / this.#perSecond) * 1000);
  }
}
