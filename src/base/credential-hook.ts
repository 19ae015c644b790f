import { defaultFunction } from './default-function.ts';
import { ConfigError, errorOf } from './errors.ts';
import type { Logger } from './log.ts';
import { withTimeout } from './with-timeout.ts';

/** What a credential hook returns. */
export interface Credentials {
  readonly username: string | undefined;
  readonly password: string;
  /** In ms since 1970; undefined: never. */
  readonly expiresAt: number | undefined;
}

export interface CredentialHookOptions {
  /** The setting that names the module. */
  readonly setting: string;
  readonly path: string;
  readonly log: Logger;
  /** Called with each further result. */
  readonly onChange: (credentials: Credentials) => void;
}

type Hook = () => unknown;

/** Longest wait for a result. */
const TIMEOUT_MS = 10_000;
/** Share of their life after which credentials are replaced. */
const RENEWAL_SHARE = 0.75;
const MIN_DELAY_MS = 1000;
const MAX_DELAY_MS = 86_400_000;
const MAX_BACKOFF_MS = 30_000;

/**
 * A module of the team's whose default export returns credentials that expire. It is called again after three quarters of their life;
 * after a failure with back-off, 1 s to 30 s. Credentials stay in use until there are others.
 */
export class CredentialHook {
  readonly #options: CredentialHookOptions;
  #hook: Hook | undefined;
  #credentials: Credentials | undefined;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: CredentialHookOptions) {
    this.#options = options;
  }

  /**
   * Loads the module and calls it for the first time.
   * @throws ConfigError when the module cannot be loaded, throws or returns no credentials
   */
  async read(): Promise<Credentials> {
    const { setting, path } = this.#options;
    try {
      this.#hook = await hookOf(path);
      return (this.#credentials = await resultOf(this.#hook));
    } catch (thrown) {
      throw new ConfigError(`${setting}: ${path}: ${errorOf(thrown).message}`);
    }
  }

  /** Calls the module again before its credentials expire. */
  watch(): void {
    const expiresAt = this.#credentials?.expiresAt;
    if (expiresAt !== undefined) this.#callIn((expiresAt - Date.now()) * RENEWAL_SHARE);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #callIn(ms: number): void {
    if (this.#isClosed) return;
    const delay = Math.min(Math.max(ms, MIN_DELAY_MS), MAX_DELAY_MS);
    this.#timer = setTimeout(() => void this.#call(), delay).unref();
  }

  async #call(): Promise<void> {
    try {
      const credentials = await resultOf(this.#hook!);
      if (this.#isClosed) return;
      this.#credentials = credentials;
      this.#failures = 0;
      this.#options.onChange(credentials);
      this.watch();
    } catch (thrown) {
      this.#warn(errorOf(thrown).message);
      this.#callIn(Math.min(MIN_DELAY_MS * 2 ** this.#failures++, MAX_BACKOFF_MS));
    }
  }

  #warn(reason: string): void {
    const { log, setting } = this.#options;
    const isExpired = (this.#credentials?.expiresAt ?? Infinity) <= Date.now();
    const state = isExpired ? 'the old ones have expired and stay in use' : 'the old ones stay in use';
    log[isExpired ? 'error' : 'warn']({ reason }, `${setting} gave no new credentials: ${state}; called again soon`);
  }
}

async function hookOf(path: string): Promise<Hook> {
  const hook = await defaultFunction(path);
  if (!hook) throw new Error('expected a function as the default export');
  return hook;
}

async function resultOf(hook: Hook): Promise<Credentials> {
  return credentialsOf(await withTimeout(hook, TIMEOUT_MS));
}

/** The message of the error shows no value. */
function credentialsOf(result: unknown): Credentials {
  const { username, password, expiresAt } = (result ?? {}) as Record<string, unknown>;
  const expiry = expiresAt instanceof Date ? expiresAt.getTime() : expiresAt;
  const isUsable =
    typeof password === 'string' &&
    password !== '' &&
    (username === undefined || typeof username === 'string') &&
    (expiry === undefined || (typeof expiry === 'number' && Number.isFinite(expiry)));
  if (!isUsable) {
    throw new Error(
      'expected { username?: string, password: string, expiresAt?: Date or ms since 1970 } as its result',
    );
  }
  if (expiry !== undefined && expiry <= Date.now()) throw new Error('its result has expired already');
  return { username: username || undefined, password, expiresAt: expiry };
}
