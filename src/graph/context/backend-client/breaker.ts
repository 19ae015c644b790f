import { BackendFailure, unavailable } from './backend-failure.ts';

/** The breaker opens when more than this fraction of the requests in the windows fails. */
const MAX_FAILED = 0.5;
/** Least time for which a window counts. Seconds without requests have none. */
const WINDOW_MS = 1000;
const WINDOWS = 10;
/** Least requests in the windows. With fewer, a single failing client could open the breaker, and there is no load to take away. */
const MIN_REQUESTS = 20;

export type BreakerState = 'closed' | 'open' | 'half_open';

/** Whether the backend has answered, if only to refuse a request. `unknown`: nothing shows it. */
type Outcome = 'answered' | 'failed' | 'unknown';

/**
 * Circuit breaker of one backend. Only outages count as failures: no connection, no answer in time, a status of 500 or more. While it is
 * open, requests are refused. After the cooldown one request is sent as a probe, and its outcome closes the breaker or opens it again.
 */
export class Breaker {
  readonly #cooldownMs: number;
  readonly #onChange: (state: BreakerState) => void;
  #state: BreakerState = 'closed';
  /** Of performance.now(). */
  #openedAt = 0;
  /** The oldest first. */
  #windows: { readonly beganAt: number; requests: number; failed: number }[] = [];

  constructor(cooldownMs: number, onChange: (state: BreakerState) => void) {
    this.#cooldownMs = cooldownMs;
    this.#onChange = onChange;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** undefined: a request may be sent. */
  get refusal(): BackendFailure | undefined {
    if (this.#state === 'closed') return undefined;
    const remainingMs = this.#openedAt + this.#cooldownMs - performance.now();
    if (this.#state === 'open' && remainingMs <= 0) return undefined;
    const retryAfterMs = Math.max(1, Math.ceil(remainingMs));
    return unavailable('the circuit breaker is open', { retryAfterMs, isSent: false });
  }

  /**
   * Sends a request and counts its outcome.
   * @throws the request's error; BackendFailure if the request must not be sent
   */
  async run<T>(send: () => Promise<T>): Promise<T> {
    const { refusal } = this;
    if (refusal) throw refusal;
    const isProbe = this.#state === 'open';
    if (isProbe) this.#enter('half_open');
    let outcome: Outcome = 'answered';
    try {
      return await send();
    } catch (error) {
      outcome = this.#outcomeOf(error);
      throw error;
    } finally {
      this.#onOutcome(outcome, isProbe);
    }
  }

  /** A probe without an answer fails also if it was sent shortly before its deadline, or the event loop was blocked. */
  #outcomeOf(error: unknown): Outcome {
    if (!(error instanceof BackendFailure)) return 'unknown';
    const { isOutage, status } = error.details;
    if (isOutage || (error.code === 'BACKEND_TIMEOUT' && this.#state === 'half_open')) return 'failed';
    return status === undefined ? 'unknown' : 'answered';
  }

  #onOutcome(outcome: Outcome, isProbe: boolean): void {
    if (outcome === 'answered' && isProbe) this.#windows = [];
    if (outcome !== 'unknown') this.#count(outcome === 'failed');
    if (outcome === 'failed') {
      if (this.#state !== 'open' && (isProbe || this.#hasTooManyFailures)) this.#enter('open');
    } else if (isProbe && this.#state === 'half_open') this.#enter('closed');
  }

  #count(isFailure: boolean): void {
    const now = performance.now();
    let window = this.#windows.at(-1);
    if (!window || now - window.beganAt >= WINDOW_MS) {
      window = { beganAt: now, requests: 0, failed: 0 };
      if (this.#windows.push(window) > WINDOWS) this.#windows.shift();
    }
    window.requests++;
    if (isFailure) window.failed++;
  }

  get #hasTooManyFailures(): boolean {
    const requests = this.#windows.reduce((sum, window) => sum + window.requests, 0);
    const failed = this.#windows.reduce((sum, window) => sum + window.failed, 0);
    return requests >= MIN_REQUESTS && failed > MAX_FAILED * requests;
  }

  #enter(state: BreakerState): void {
    this.#state = state;
    if (state === 'open') this.#openedAt = performance.now();
    this.#onChange(state);
  }
}
