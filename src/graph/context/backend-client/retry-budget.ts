/** Retries that may be saved for later: how many may come at once after a time without failures. */
const MAX_SAVED = 10;
/** Sums of fractions are inexact. */
const EPSILON = 1e-6;

/**
 * Limits the retries of one backend to a fraction of its requests. Each request earns a part of a retry, so an outage never costs more than
 * `1 + fraction` times the requests.
 */
export class RetryBudget {
  readonly #fraction: number;
  #saved = 0;

  constructor(fraction: number) {
    this.#fraction = fraction;
  }

  /** A request is sent that is no retry. */
  earn(): void {
    this.#saved = Math.min(MAX_SAVED, this.#saved + this.#fraction);
  }

  /** Returns true if a retry may be sent now, and counts it. */
  spend(): boolean {
    if (this.#saved < 1 - EPSILON) return false;
    this.#saved--;
    return true;
  }
}
