import { abandoned, timedOut } from './backend-failure.ts';
import type { BackendFailure } from './backend-failure.ts';

/** Halves that are repeated at most: a loop that is blocked again and again must not keep a request forever. */
const MAX_REPEATS = 2;

/**
 * The deadline of one request: two timers of half the timeout, one after the other. A timer that fires late shows that the event loop was
 * blocked, so requests were sent late and answers not read, which says nothing of the backend. That half is repeated. A caller that leaves
 * ends the request earlier.
 */
export class RequestDeadline {
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  /** Of performance.now(). */
  readonly #beganAt: number;
  readonly #controller = new AbortController();
  #halvesLeft = 2;
  #repeatsLeft = MAX_REPEATS;
  /** Of performance.now(). */
  #halfEndsAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** True if the last timer fired late. */
  #isBlocked = false;
  /** Of performance.now(): the end if the loop is not blocked. */
  readonly endsAt: number;

  /** @param caller aborted when the caller leaves. Default: never */
  constructor(timeoutMs: number, caller?: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    this.#beganAt = performance.now();
    this.endsAt = this.#beganAt + timeoutMs;
    this.#begin(this.#beganAt);
    if (caller?.aborted) this.#onLeft();
    else caller?.addEventListener('abort', this.#onLeft);
  }

  /** Aborted with a BackendFailure at the end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** After the end: what a request fails with that was sent at `sentAt`, of performance.now(). */
  failureOf(sentAt: number): BackendFailure {
    if (this.#caller?.aborted) return abandoned();
    // Clients that fill the queue must not open the breaker: a request that left it late says little of the backend.
    const now = performance.now();
    return timedOut(now - this.#beganAt, { isOutage: !this.#isBlocked && now - sentAt >= this.#timeoutMs / 2 });
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onLeft);
  }

  readonly #onLeft = (): void => {
    clearTimeout(this.#timer);
    this.#controller.abort(abandoned());
  };

  #begin(now: number): void {
    const halfMs = this.#timeoutMs / 2;
    this.#halfEndsAt = now + halfMs;
    this.#timer = setTimeout(() => this.#end(halfMs), halfMs);
  }

  #end(halfMs: number): void {
    const now = performance.now();
    this.#isBlocked = now - this.#halfEndsAt > halfMs / 2;
    if (!this.#isBlocked) this.#halvesLeft--;
    else if (this.#repeatsLeft-- === 0) this.#halvesLeft = 0;
    if (this.#halvesLeft > 0) this.#begin(now);
    else this.#controller.abort(timedOut(now - this.#beganAt, { isSent: false }));
  }
}
