/** A token bucket: `burst` at once, refilled at `perSecond`. Two numbers and no timer. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #refilledAt = 0;

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Takes one token; false when there is none. `nowMs`: a monotonic clock. */
  take(nowMs: number): boolean {
    const refill = ((nowMs - this.#refilledAt) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + refill);
    this.#refilledAt = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
