import { setTimeout as delay } from 'node:timers/promises';
import { defaultFunction } from './default-function.ts';
import { errorOf } from './errors.ts';
import type { SetupError } from './errors.ts';
import { withTimeout } from './with-timeout.ts';

/** What a token provider returns. */
export interface Token {
  readonly value: string;
  /** When the token expires, in ms since 1970 or as a Date; undefined: the provider is asked for each connection. */
  readonly expiresAt?: number | Date | undefined;
}

export type TokenProvider = () => Token | Promise<Token>;

/** Loads the module that a setting names. @throws Refusal with the name of the setting and what was wrong */
export async function loadTokenProvider(
  path: string,
  setting: string,
  Refusal: typeof SetupError,
): Promise<TokenProvider> {
  const expected = `${setting}: expected a module whose default export is a function, at ${JSON.stringify(path)}`;
  const provider = await defaultFunction(path).catch((cause: unknown) => {
    throw new Refusal(`${expected}, but it cannot be loaded: ${errorOf(cause).message}`, { cause });
  });
  if (!provider) throw new Refusal(`${expected}, but it has none`);
  return provider as TokenProvider;
}

export interface TokenSourceOptions {
  readonly load: () => Promise<TokenProvider>;
  /** Longest time of one call. Default: 5000 ms. */
  readonly timeoutMs?: number;
  /** First and longest pause after a call that failed. Default: 1000 and 30,000 ms. */
  readonly backoffMs?: readonly [first: number, longest: number];
}

/** Of the lifetime, as in Kafka's own client (`sasl.login.refresh.window.factor`). */
const REFRESH_AT = 0.8;
/** kafkajs logs in again 10 s before a token expires. A token that is valid for little longer would make it log in at each request. */
const MIN_LIFETIME_MS = 20_000;
const TIMEOUT_MS = 5000;
const BACKOFF_MS = [1000, 30_000] as const;
/** setTimeout takes 31 bits. */
const MAX_DELAY_MS = 2 ** 31 - 1;

interface Held {
  readonly value: string;
  readonly refreshAt: number;
  readonly expiresAt: number;
}

/**
 * The token of all connections of a process. It is fetched when a connection first needs one, and again after 80 % of its lifetime; until
 * it has expired it is used although its replacement fails.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  readonly #closing = new AbortController();
  #held: Held | undefined;
  #fetching: Promise<Held> | undefined;
  #failure: { readonly error: Error; readonly retryAt: number; readonly count: number } | undefined;
  #onFailure: ((error: Error, expiresAt: number) => void) | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  /**
   * From now on, replaces tokens before they expire.
   * @param onFailure called for each replacement that failed, with the time at which the present token expires
   */
  keepFresh(onFailure: (error: Error, expiresAt: number) => void): void {
    this.#onFailure = onFailure;
  }

  /** @throws Error if there is no valid token: that of the provider, whose last call may have failed within its back-off */
  async token(): Promise<string> {
    const held = this.#held;
    const now = Date.now();
    if (held && now < held.refreshAt) return held.value;
    try {
      if (this.#failure && now < this.#failure.retryAt) throw this.#failure.error;
      return (await this.#fetch()).value;
    } catch (error) {
      if (held && Date.now() < held.expiresAt) return held.value;
      throw error;
    }
  }

  /** Idempotent. */
  close(): void {
    this.#closing.abort();
  }

  #fetch(): Promise<Held> {
    this.#fetching ??= this.#call().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #call(): Promise<Held> {
    try {
      const provider = await this.#options.load();
      const held = heldOf(await withTimeout(provider, this.#options.timeoutMs ?? TIMEOUT_MS));
      this.#held = held;
      this.#failure = undefined;
      if (this.#onFailure && held.refreshAt > Date.now()) void this.#refresh(held);
      return held;
    } catch (cause) {
      const { message } = cause as Error;
      const error = new Error(`the token provider failed: ${message}`, { cause });
      const [first, longest] = this.#options.backoffMs ?? BACKOFF_MS;
      const count = (this.#failure?.count ?? 0) + 1;
      const retryAt = Date.now() + Math.min(longest, first * 2 ** (count - 1));
      this.#failure = { error, retryAt, count };
      throw error;
    }
  }

  /** Replaces a token that nothing has replaced before. */
  async #refresh(held: Held): Promise<void> {
    const { signal } = this.#closing;
    for (let at = held.refreshAt; this.#held === held; at = this.#failure?.retryAt ?? Date.now()) {
      const waitMs = Math.min(MAX_DELAY_MS, Math.max(0, at - Date.now()));
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || this.#held !== held) return;
      // A connection has asked meanwhile, in vain.
      if (this.#failure && this.#failure.retryAt > at) continue;
      await this.#fetch().catch((error: Error) => this.#onFailure?.(error, held.expiresAt));
    }
  }
}

function heldOf(token: unknown): Held {
  const { value, expiresAt } = (token ?? {}) as Partial<Token>;
  if (typeof value !== 'string' || value === '') throw new Error('it returned no { value } that is a text');
  const now = Date.now();
  if (expiresAt === undefined) return { value, refreshAt: now, expiresAt: now };
  const at = Number(expiresAt);
  if (!(at > now)) throw new Error('it returned a token that has expired: `expiresAt` is in ms since 1970');
  return { value, refreshAt: Math.min(now + (at - now) * REFRESH_AT, at - MIN_LIFETIME_MS), expiresAt: at };
}
