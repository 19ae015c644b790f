const MIN_MS = 1_000;
const MAX_MS = 30_000;
/** Time without a lookup after which the cooldown is the shortest again, in ms. */
const FORGOTTEN_MS = 600_000;

/**
 * When unknown keys may cause the next fetch. Each fetch that fails or does not find one doubles the wait, up to 30 s: whoever sends made-up names of
 * keys must not keep the provider busy. A key that was found is a rotation, and resets it.
 */
export class LookupCooldown {
  #ms = MIN_MS;
  #startedAt = -Infinity;

  /** Time until the next lookup, in ms. @param now of a monotonic clock, in ms */
  waitMs(now: number): number {
    return Math.max(0, this.#startedAt + this.#ms - now);
  }

  /** A lookup begins. It counts as one that finds nothing until `reset`. */
  start(now: number): void {
    this.#ms = now - this.#startedAt > FORGOTTEN_MS ? MIN_MS : Math.min(this.#ms * 2, MAX_MS);
    this.#startedAt = now;
  }

  /** The lookup has found a key, or was needed for another reason. */
  reset(): void {
    this.#ms = MIN_MS;
  }
}
