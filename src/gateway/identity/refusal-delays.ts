import { LRUCache } from 'lru-cache';
import type { AuthenticationFailure } from './authenticator.ts';

/** Refusals of one address, or of one subject, that are answered at once. */
const FREE_REFUSALS = 10;
/** Delay in ms of the next one; it doubles with each further one. */
const FIRST_DELAY_MS = 100;
/** In ms: less than what clients wait for an answer. */
const MAX_DELAY_MS = 4_000;
/** Time in ms after the last refusal in which an address or a subject is forgotten. */
const MEMORY_MS = 60_000;
const MAX_KEYS = 10_000;
/** Of all keys together, in characters: whoever chooses a `sub` may choose a long one. */
const MAX_KEY_LENGTHS = 2_000_000;
/** Refusals that wait at once. Further ones are answered at once: to wait takes memory. */
const MAX_WAITING = 1_000;

/** Failures by which somebody may look for a token that is accepted. The others are the server's, or the graph's. */
const GUESSES: ReadonlySet<AuthenticationFailure> = new Set([
  'token_missing',
  'token_expired',
  'token_invalid',
  'token_revoked',
  'denied',
]);

/** Who is refused. */
export interface RefusedClient {
  readonly address: string;
  /** Whom its token names (`VerifiedToken.subject`), if the token has a valid signature: it may have expired or be revoked. */
  readonly subject: string | undefined;
}

/**
 * Delays refusals of connections by client address and by subject: after ten, the delay doubles with each, and the longer of the two counts.
 * Only refusals wait, so an attacker behind a proxy delays nobody else who has that address.
 */
export class RefusalDelays {
  /** By address or subject. A subject is a JSON list, so no address is one. */
  readonly #refusals = new LRUCache<string, number>({
    max: MAX_KEYS,
    maxSize: MAX_KEY_LENGTHS,
    sizeCalculation: (_, key) => 1 + key.length,
    ttl: MEMORY_MS,
  });
  #waiting = 0;

  /** Calls `refuse` at once or later. */
  run({ address, subject }: RefusedClient, failure: AuthenticationFailure, refuse: () => void): void {
    const delayMs = GUESSES.has(failure) ? this.#next(subject === undefined ? [address] : [address, subject]) : 0;
    if (delayMs === 0 || this.#waiting >= MAX_WAITING) return refuse();
    this.#waiting++;
    setTimeout(() => {
      this.#waiting--;
      refuse();
    }, delayMs).unref();
  }

  /** Counts a refusal. Returns its delay in ms. */
  #next(keys: readonly string[]): number {
    const refusals = Math.max(...keys.map((key) => this.#count(key)));
    if (refusals <= FREE_REFUSALS) return 0;
    return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (refusals - FREE_REFUSALS - 1));
  }

  #count(key: string): number {
    const refusals = (this.#refusals.get(key) ?? 0) + 1;
    this.#refusals.set(key, refusals);
    return refusals;
  }
}
