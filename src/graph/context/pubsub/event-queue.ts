/** Events and bytes that wait for an operation at most; one event may be larger. Clients that wait share the payloads. */
const MAX_EVENTS = 1000;
const MAX_BYTES = 1024 * 1024;

interface Waiting {
  readonly resolve: (result: IteratorResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

const DONE = { done: true, value: undefined } as const;

/** The events of an iterator. When its reader is too slow it drops the oldest ones, and reports that with the next event. */
export class EventQueue implements AsyncIterableIterator<unknown> {
  readonly #onGap: () => void;
  readonly #onReturn: () => void;
  readonly #onBytes: (change: number) => void;
  #events: { readonly value: unknown; readonly bytes: number; readonly isAfterGap: boolean }[] = [];
  #bytes = 0;
  #waiting: Waiting[] = [];
  #hasGap = false;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;

  /**
   * @param onGap called before `next()` returns an event before which others are missing
   * @param onReturn called once, when the reader needs no more events
   * @param onBytes called with each change of the bytes that wait
   */
  constructor(onGap: () => void, onReturn: () => void, onBytes: (change: number) => void) {
    this.#onGap = onGap;
    this.#onReturn = onReturn;
    this.#onBytes = onBytes;
  }

  push(value: unknown, bytes: number): void {
    if (this.#isEnded) return;
    while (this.#events.length > 0 && (this.#events.length >= MAX_EVENTS || this.#bytes + bytes > MAX_BYTES)) {
      this.#count(-this.#events.shift()!.bytes);
      if (this.#events[0]) this.#events[0] = { ...this.#events[0], isAfterGap: true };
      else this.#hasGap = true;
    }
    const isAfterGap = this.#hasGap;
    this.#hasGap = false;
    const waiting = this.#waiting.shift();
    if (waiting) return waiting.resolve(this.#taken(value, isAfterGap));
    this.#events.push({ value, bytes, isAfterGap });
    this.#count(bytes);
  }

  /** Marks the next event that is pushed: events before it may be missing. */
  noteGap(): void {
    this.#hasGap = true;
  }

  /** The events that wait are still read, then `next()` rejects. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const waiting = this.#waiting.shift();
    if (waiting) waiting.reject(error);
    else this.#failure = { error };
    this.#finish();
  }

  /** Drops what waits. */
  end(): void {
    this.#events = [];
    this.#count(-this.#bytes);
    this.#failure = undefined;
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#finish();
  }

  next(): Promise<IteratorResult<unknown>> {
    const event = this.#events.shift();
    if (event) {
      this.#count(-event.bytes);
      return Promise.resolve(this.#taken(event.value, event.isAfterGap));
    }
    if (this.#failure) {
      const { error } = this.#failure;
      this.#failure = undefined;
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was given
      return Promise.reject(error);
    }
    if (this.#isEnded) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Never waits, so a client can leave while Redis is away. */
  return(): Promise<IteratorResult<unknown>> {
    this.end();
    return Promise.resolve(DONE);
  }

  throw(error: unknown): Promise<IteratorResult<unknown>> {
    this.end();
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was given
    return Promise.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #taken(value: unknown, isAfterGap: boolean): IteratorResult<unknown> {
    if (isAfterGap) this.#onGap();
    return { done: false, value };
  }

  #count(change: number): void {
    this.#bytes += change;
    this.#onBytes(change);
  }

  #finish(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(DONE);
    this.#onReturn();
  }
}
