import { LRUCache } from 'lru-cache';

/** Refusals of one address that are answered at once. */
const FREE_REFUSALS = 10;
/** Delay in ms of the next one; it doubles with each further one. */
const FIRST_DELAY_MS = 100;
/** In ms: less than what clients wait for an answer. */
const MAX_DELAY_MS = 4_000;
/** Time in ms after the last refusal in which an address is forgotten. */
const MEMORY_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/**
 * How long the refusal of a connection or request is put off, by address: who guesses tokens gets slower with each. Only refusals wait, so
 * an attacker behind a proxy delays nobody else who has that address.
 */
export class RefusalDelays {
  readonly #refusals = new LRUCache<string, number>({ max: MAX_ADDRESSES, ttl: MEMORY_MS });

  /** Counts a refusal. Returns its delay in ms. */
  next(address: string): number {
    const refusals = (this.#refusals.get(address) ?? 0) + 1;
    this.#refusals.set(address, refusals);
    if (refusals <= FREE_REFUSALS) return 0;
    return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (refusals - FREE_REFUSALS - 1));
  }
}
