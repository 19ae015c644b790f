/** Bounds the requests in flight to one backend. Further requests wait in order. The bound may change at any time. */
export class RequestSlots {
  readonly #limit: () => number;
  /** Start the requests that wait, in order. */
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;
  #onIdle: (() => void) | undefined;

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit();
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves when the request may be sent; `release` must follow.
   * @throws the signal's reason if it is aborted before; the request waits no longer then
   */
  async take(signal: AbortSignal): Promise<void> {
    this.#start();
    if (this.#inFlight < this.#limit()) this.#inFlight++;
    else await this.#wait(signal);
  }

  release(): void {
    this.#inFlight--;
    this.#start();
    if (this.#inFlight === 0) this.#onIdle?.();
  }

  /** Resolves when no request is in flight or waits. */
  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#inFlight === 0) resolve();
      else this.#onIdle = resolve;
    });
  }

  #start(): void {
    for (const start of this.#waiting) {
      if (this.#inFlight >= this.#limit()) return;
      this.#inFlight++;
      this.#waiting.delete(start);
      start();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        this.#waiting.delete(start);
        reject(signal.reason as Error);
      };
      this.#waiting.add(start);
      signal.addEventListener('abort', onAbort);
    });
  }
}
