import { setTimeout as delay } from 'node:timers/promises';
import { assertBackendPath } from '../backend-path.ts';
import type { BackendRequest } from '../execution-backends.ts';
import { BackendFailure, unavailable } from './backend-failure.ts';
import { Breaker } from './breaker.ts';
import type { BreakerState } from './breaker.ts';
import { failureOf } from './failure-of.ts';
import { RequestDeadline } from './request-deadline.ts';
import { RequestSlots } from './request-slots.ts';
import { readResponse } from './response.ts';
import type { BackendResponse } from './response.ts';
import { RetryBudget } from './retry-budget.ts';
import { Sockets } from './sockets.ts';

/** Longest wait before a retry that a backend may ask for (`Retry-After`), in ms. */
const MAX_RETRY_AFTER_MS = 1000;
/** Retries are spread over this time, in ms. */
const RETRY_JITTER_MS = 100;
const MAX_CLOSE_MS = 1000;

export interface BackendClientOptions {
  /** Requests in flight, each on a keep-alive socket of its own; more wait. It may change at any time. */
  readonly maxSockets: () => number;
  /** Longest wait for the whole response, including the wait for a free socket and a retry, unless the event loop is blocked. */
  readonly timeoutMs: number;
  /** Retries, as a fraction of the requests. */
  readonly retryBudget: number;
  /** Time for which an open circuit breaker refuses requests; 0: no breaker. */
  readonly breakerCooldownMs: number;
  /** Largest response body in bytes. */
  readonly maxResponseBytes: number;
  /** Requests that are in flight or wait for a socket, per socket; more fail at once. */
  readonly maxPendingPerSocket: number;
}

export interface BackendClientObserver {
  /** A GET was sent a second time, and this time ended like this. */
  readonly onRetry: (outcome: 'OK' | BackendFailure['code']) => void;
  readonly onBreaker: (state: BreakerState) => void;
}

type SentRequest = ReturnType<BackendClient['requestOf']>;

/** One backend: its sockets, its base path and its bounds. */
export class BackendClient {
  readonly #options: BackendClientOptions;
  readonly #observer: BackendClientObserver;
  readonly #sockets: Sockets;
  readonly #basePath: string;
  readonly #slots: RequestSlots;
  readonly #budget: RetryBudget;
  readonly #breaker: Breaker | undefined;

  constructor(url: string, options: BackendClientOptions, observer: BackendClientObserver) {
    const { origin, pathname } = new URL(url);
    const { maxSockets, timeoutMs, retryBudget, breakerCooldownMs, maxResponseBytes } = options;
    this.#options = options;
    this.#observer = observer;
    this.#basePath = pathname.replace(/\/+$/, '');
    this.#slots = new RequestSlots(maxSockets);
    this.#budget = new RetryBudget(retryBudget);
    if (breakerCooldownMs > 0) this.#breaker = new Breaker(breakerCooldownMs, observer.onBreaker);
    this.#sockets = new Sockets({ origin, connectTimeoutMs: timeoutMs, maxResponseBytes });
  }

  get inFlight(): number {
    return this.#slots.inFlight;
  }

  /** Requests that wait for a socket. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  get breaker(): BreakerState {
    return this.#breaker?.state ?? 'closed';
  }

  /**
   * @param forwardedHeaders names, in lower case, of the caller's headers that are sent, unless the graph sets them
   * @throws BackendFailure; TypeError for a request that the graph made wrongly
   */
  async send(request: BackendRequest, forwardedHeaders: readonly string[]): Promise<BackendResponse> {
    const sent = this.requestOf(request, forwardedHeaders);
    const { timeoutMs, maxPendingPerSocket } = this.#options;
    const pending = this.#slots.inFlight + this.#slots.waiting;
    if (pending >= maxPendingPerSocket * this.#slots.limit) {
      throw unavailable(`${pending} requests are waiting`, { isSent: false });
    }
    // One deadline for the wait for a socket, the headers, the body and a retry.
    const deadline = new RequestDeadline(timeoutMs, request.signal);
    try {
      return await this.#sendTwice(sent, deadline);
    } finally {
      deadline.clear();
    }
  }

  /** Waits up to one second for the requests that are in flight or wait for a socket. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => (timer = setTimeout(resolve, MAX_CLOSE_MS)));
    await Promise.race([this.#slots.whenIdle(), deadline]);
    clearTimeout(timer);
    await this.#sockets.destroy();
  }

  /** Sends a request, and once more if that is safe, in time and within the budget. */
  async #sendTwice(request: SentRequest, deadline: RequestDeadline): Promise<BackendResponse> {
    try {
      return await this.#sendOnce(request, deadline, true);
    } catch (error) {
      const pauseMs = pauseBefore(request, error);
      if (pauseMs === undefined || performance.now() + pauseMs >= deadline.endsAt || !this.#budget.spend()) throw error;
      await delay(pauseMs);
    }
    try {
      const response = await this.#sendOnce(request, deadline, false);
      this.#observer.onRetry('OK');
      return response;
    } catch (error) {
      if (error instanceof BackendFailure) this.#observer.onRetry(error.code);
      throw error;
    }
  }

  async #sendOnce(request: SentRequest, deadline: RequestDeadline, isFirst: boolean): Promise<BackendResponse> {
    const refusal = this.#breaker?.refusal;
    if (refusal) throw refusal;
    await this.#slots.take(deadline.signal);
    const send = () => {
      if (isFirst) this.#budget.earn();
      return this.#exchange(request, deadline);
    };
    try {
      return await (this.#breaker ? this.#breaker.run(send) : send());
    } finally {
      this.#slots.release();
    }
  }

  async #exchange(request: SentRequest, deadline: RequestDeadline): Promise<BackendResponse> {
    const { signal } = deadline;
    const sentAt = performance.now();
    let hasResponse = false;
    try {
      const response = await this.#sockets.request({ ...request, signal }, this.#slots.limit);
      hasResponse = true;
      return await readResponse(request.method, response);
    } catch (error) {
      throw signal.aborted ? deadline.failureOf(sentAt) : failureOf(error, hasResponse);
    }
  }

  /** The request as undici sends it. */
  requestOf({ method, path, body, headers, callerHeader }: BackendRequest, forwardedHeaders: readonly string[]) {
    assertBackendPath(path);
    const sent: Record<string, string | undefined> = { accept: 'application/json' };
    for (const name of forwardedHeaders) sent[name] = callerHeader(name);
    if (body !== undefined) sent['content-type'] = 'application/json';
    for (const [name, value] of Object.entries(headers ?? {})) sent[name.toLowerCase()] = value;
    return {
      method,
      path: this.#basePath + path,
      headers: sent,
      body: body ?? null,
    };
  }
}

/** Time in ms to wait before a request is sent again; undefined: it must not be. Only a GET is known to change nothing. */
function pauseBefore({ method }: SentRequest, error: unknown): number | undefined {
  if (method !== 'GET' || !(error instanceof BackendFailure) || !error.details.isRetryable) return undefined;
  const { retryAfterMs = 0 } = error.details;
  return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs + Math.random() * RETRY_JITTER_MS;
}
