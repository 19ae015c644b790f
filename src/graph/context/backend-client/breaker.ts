import { BrokenCircuitError, CircuitState, SamplingBreaker, circuitBreaker, handleWhen } from 'cockatiel';
import type { CircuitBreakerPolicy } from 'cockatiel';
import { BackendFailure, unavailable } from './backend-failure.ts';

/** The breaker opens when more than this fraction of the requests in the window fails. */
const MAX_FAILED = 0.5;
const WINDOW_MS = 10_000;
/** Least requests in the window. With fewer, a single failing client could open the breaker, and there is no load to take away. */
const MIN_REQUESTS = 20;

export type BreakerState = 'closed' | 'open' | 'half_open';

const STATES = new Map<CircuitState, BreakerState>([
  [CircuitState.Closed, 'closed'],
  [CircuitState.Open, 'open'],
  [CircuitState.HalfOpen, 'half_open'],
]);

/**
 * Circuit breaker of one backend. Only outages count as failures: no connection, no answer in time, a status of 500 or more. While it is
 * open, requests are refused. After the cooldown one request is sent as a probe, and its outcome closes the breaker or opens it again.
 */
export class Breaker {
  readonly #cooldownMs: number;
  readonly #policy: CircuitBreakerPolicy;
  /** Of performance.now(). */
  #openedAt = 0;

  constructor(cooldownMs: number, onChange: (state: BreakerState) => void) {
    this.#cooldownMs = cooldownMs;
    this.#policy = circuitBreaker(
      handleWhen((error) => this.#isFailure(error)),
      {
        halfOpenAfter: cooldownMs,
        breaker: new SamplingBreaker({
          threshold: MAX_FAILED,
          duration: WINDOW_MS,
          minimumRps: (MIN_REQUESTS * 1000) / WINDOW_MS,
        }),
      },
    );
    this.#policy.onStateChange(() => {
      if (this.state === 'open') this.#openedAt = performance.now();
      onChange(this.state);
    });
  }

  get state(): BreakerState {
    return STATES.get(this.#policy.state) ?? 'open';
  }

  /** undefined: a request may be sent. */
  get refusal(): BackendFailure | undefined {
    if (this.state === 'closed') return undefined;
    const remainingMs = this.#openedAt + this.#cooldownMs - performance.now();
    if (this.state === 'open' && remainingMs <= 0) return undefined;
    return openBreaker(Math.max(1, Math.ceil(remainingMs)));
  }

  /**
   * Sends a request and counts its outcome.
   * @throws the request's error; BackendFailure if the request must not be sent
   */
  async run<T>(send: () => Promise<T>): Promise<T> {
    const { refusal } = this;
    // cockatiel would let requests wait for the probe.
    if (refusal) throw refusal;
    try {
      const outcome = await this.#policy.execute(async () => {
        try {
          return { value: await send() };
        } catch (error) {
          // The backend has answered, if only to refuse this request.
          if (error instanceof BackendFailure && error.details.status !== undefined && !error.details.isOutage) {
            return { error };
          }
          throw error;
        }
      });
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    } catch (error) {
      // The clock of the day, which cockatiel reads, may have been set back.
      throw error instanceof BrokenCircuitError ? openBreaker(this.#cooldownMs) : error;
    }
  }

  /** A probe without an answer fails also if it was sent shortly before its deadline, or the event loop was blocked. */
  #isFailure(error: Error): boolean {
    if (!(error instanceof BackendFailure)) return false;
    return error.details.isOutage === true || (error.code === 'BACKEND_TIMEOUT' && this.state === 'half_open');
  }
}

function openBreaker(retryAfterMs: number): BackendFailure {
  return unavailable('the circuit breaker is open', { retryAfterMs, isSent: false });
}
