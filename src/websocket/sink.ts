/**
 * What `subscribe` hands to graphql-ws: an iterator that yields nothing, stays pending for the subscription's life and
 * ends with it. Frames go around it, straight into the outbox; graphql-ws keeps the bookkeeping of ids and `complete`.
 *
 * `return()` must end the pending `next()`, else graphql-ws's message handler leaks, and must never reject, else the
 * process does (https://github.com/enisdenjo/graphql-ws/blob/master/src/server.ts, `closed`).
 */
export class Sink implements AsyncIterableIterator<never> {
  readonly #onReturn: () => void;
  #settle: { resolve: (result: IteratorReturnResult<undefined>) => void; reject: (error: unknown) => void } | undefined;
  #ending: { error?: Error } | undefined;

  /** `onReturn` is called exactly once, when the client or the connection ends the subscription; it must not throw. */
  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorReturnResult<undefined>> {
    if (this.#ending?.error) return Promise.reject(this.#ending.error);
    if (this.#ending) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    if (!this.#ending) {
      this.#ending = {};
      this.#onReturn();
    }
    this.#settle?.resolve(DONE);
    return Promise.resolve(DONE);
  }

  /** The source is at its end: graphql-ws sends `complete`. */
  end(): void {
    this.#ending ??= {};
    this.#settle?.resolve(DONE);
  }

  /** The source failed: graphql-ws sends `error` and no `complete`. */
  fail(error: Error): void {
    this.#ending ??= { error };
    this.#settle?.reject(error);
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
