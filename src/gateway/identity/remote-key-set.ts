import { setTimeout as delay } from 'node:timers/promises';
import { createLocalJWKSet, errors } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { errorOf } from '../../base/errors.ts';
import { LookupCooldown } from './lookup-cooldown.ts';
import { TokenProblem } from './token-problem.ts';

export interface RemoteKeySetOptions {
  readonly url: string;
  readonly onFetch?: () => void;
  /** Receives why a fetch failed. Must not throw. */
  readonly onFailure: (error: Error) => void;
  /** Time between two fetches, in ms. */
  readonly refreshMs?: number;
}

const REFRESH_MS = 600_000;
/** Longest wait for a fetch, in ms. Less than the default of INIT_TIMEOUT_MS, so a client is told why. */
const FETCH_TIMEOUT_MS = 3_000;
/** The largest key set, in bytes. One with certificates of ten keys has 40 KB. */
const MAX_BYTES = 262_144;
/** Longest wait for the cooldown of lookups, in ms; with FETCH_TIMEOUT_MS less than the default of INIT_TIMEOUT_MS. */
const MAX_LOOKUP_WAIT_MS = 1_000;
/** Tokens that wait for a lookup at once. Fewer than MAX_REQUESTS_IN_FLIGHT, so that tokens with made-up keys leave room for others. */
const MAX_WAITING_TOKENS = 250;
/** Time for which a key that a fetch did not bring causes no other one, in ms. */
const UNKNOWN_KEY_MS = 30_000;
const MAX_UNKNOWN_KEYS = 1_000;
/** Longest name of a key. */
const MAX_KEY_ID_LENGTH = 256;
/** Age at which keys are not used any more, in ms: a key may have been withdrawn while its issuer could not be reached. */
const MAX_AGE_MS = 86_400_000;
/** Longest wait before a failed fetch is repeated, in ms. */
const MAX_RETRY_MS = 60_000;

/**
 * The keys behind one URL (JWKS, RFC 7517 section 5): fetched at the start, then in the background, and at once for a key that is not
 * among them, as after a rotation. Keys stay in use while their URL cannot be reached, for a day at most.
 */
export class RemoteKeySet {
  readonly #options: RemoteKeySetOptions;
  readonly #unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN_KEYS, ttl: UNKNOWN_KEY_MS });
  readonly #closed = new AbortController();
  readonly #cooldown = new LookupCooldown();
  #keys: JWTVerifyGetKey | undefined;
  #fetchedAt = -Infinity;
  #failures = 0;
  #lookup: Promise<void> | undefined;
  #waitingTokens = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RemoteKeySetOptions) {
    this.#options = options;
  }

  /** True after the first fetch that succeeded. */
  get hasKeys(): boolean {
    return this.#keys !== undefined;
  }

  /** True if there are keys that may be used. */
  get isAvailable(): boolean {
    return this.#keys !== undefined && performance.now() - this.#fetchedAt < MAX_AGE_MS;
  }

  /** Resolves after the first fetch, also a failed one: it is repeated in the background. */
  start(): Promise<void> {
    return this.#fetch();
  }

  close(): Promise<void> {
    this.#closed.abort();
    clearTimeout(this.#timer);
    return Promise.resolve();
  }

  /**
   * The key of a token, for jose.
   * @throws TokenProblem `keys_unavailable` while there are no keys, or none may be fetched for a key that is not among them; an error of
   * jose if a fetch did not bring the token's key.
   */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    if (!this.isAvailable) await this.#lookUp();
    if (!this.isAvailable) throw new TokenProblem('keys_unavailable', 'the key set could not be fetched');
    try {
      return await this.#keys!(header, token);
    } catch (error) {
      const id = `${header.alg} ${header.kid}`;
      if (!(error instanceof errors.JWKSNoMatchingKey) || id.length > MAX_KEY_ID_LENGTH || this.#unknown.has(id)) {
        throw error;
      }
      await this.#lookUp();
      if (this.#failures > 0) throw new TokenProblem('keys_unavailable', 'the key set could not be fetched again');
      this.#unknown.set(id, true);
      const key = await this.#keys!(header, token);
      this.#unknown.delete(id);
      this.#cooldown.reset();
      return key;
    }
  };

  /** Fetches once for all tokens that wait meanwhile. @throws TokenProblem if the cooldown is long, or too many tokens wait */
  async #lookUp(): Promise<void> {
    const waitMs = this.#cooldown.waitMs(performance.now());
    if (!this.#lookup && waitMs > MAX_LOOKUP_WAIT_MS)
      throw new TokenProblem('keys_unavailable', 'its key is unknown, and was looked for in vain too often');
    if (this.#waitingTokens >= MAX_WAITING_TOKENS)
      throw new TokenProblem('keys_unavailable', 'its key is unknown, and too many tokens wait for a fetch');
    this.#lookup ??= delay(waitMs)
      .then(() => this.#fetchForLookup())
      .finally(() => (this.#lookup = undefined));
    this.#waitingTokens++;
    try {
      await this.#lookup;
    } finally {
      this.#waitingTokens--;
    }
  }

  async #fetchForLookup(): Promise<void> {
    const hadKeys = this.isAvailable;
    this.#cooldown.start(performance.now());
    await this.#fetch();
    // A lookup that fails counts, too: otherwise made-up keys would keep requests waiting while the provider does not answer.
    if (!hadKeys) this.#cooldown.reset();
  }

  /** Never rejects. */
  async #fetch(): Promise<void> {
    const { url, onFetch, onFailure, refreshMs = REFRESH_MS } = this.#options;
    if (this.#closed.signal.aborted) return;
    clearTimeout(this.#timer);
    try {
      this.#keys = createLocalJWKSet(await fetchKeys(url, this.#closed.signal));
      this.#fetchedAt = performance.now();
      this.#failures = 0;
      onFetch?.();
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.#failures++;
      onFailure(errorOf(error));
    }
    const waitMs = this.#failures > 0 ? Math.min(1000 * 2 ** (this.#failures - 1), MAX_RETRY_MS, refreshMs) : refreshMs;
    this.#timer = setTimeout(() => void this.#fetch(), waitMs).unref();
  }
}

/**
 * Fetches a key set, within FETCH_TIMEOUT_MS.
 * @throws Error that says what was wrong with the response; the reason of `closed`.
 */
export async function fetchKeys(url: string, closed: AbortSignal): Promise<JSONWebKeySet> {
  const deadline = new AbortController();
  const onClosed = () => deadline.abort(closed.reason);
  closed.addEventListener('abort', onClosed);
  const onTimeout = () => deadline.abort(new Error(`timeout: no complete answer within ${FETCH_TIMEOUT_MS} ms`));
  // Node 20 may collect AbortSignal.any and its AbortSignal.timeout as garbage before they fire.
  const timer = setTimeout(onTimeout, FETCH_TIMEOUT_MS);
  const aborted = new Promise<never>((_, reject) => {
    deadline.signal.addEventListener('abort', () => reject(errorOf(deadline.signal.reason)));
  });
  try {
    return await Promise.race([readKeys(url, deadline.signal), aborted]);
  } finally {
    clearTimeout(timer);
    closed.removeEventListener('abort', onClosed);
  }
}

async function readKeys(url: string, signal: AbortSignal): Promise<JSONWebKeySet> {
  // A redirect could lead anywhere, also to plain HTTP.
  const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`expected status 200, got ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const set = JSON.parse(Buffer.concat(chunks).toString()) as JSONWebKeySet & { readonly jwks_uri?: unknown };
  if (typeof set.jwks_uri === 'string')
    throw new Error(`expected a key set, got a discovery document: use its jwks_uri`);
  if (!Array.isArray(set.keys) || set.keys.length === 0) throw new Error('expected a key set with at least one key');
  return set;
}
