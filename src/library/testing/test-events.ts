import type { FormattedExecutionResult } from 'graphql';

type Result = FormattedExecutionResult<Record<string, unknown>, Record<string, unknown>>;

interface Waiter {
  readonly resolve: (result: IteratorResult<Result, undefined>) => void;
  readonly reject: (error: Error) => void;
  /** Made when `next` is called, so its stack has the line of the test. */
  readonly error: Error;
  readonly timer: NodeJS.Timeout;
}

/** The results of one subscription, in order. What arrives waits until it is asked for. */
export class TestEvents implements AsyncIterableIterator<Result, undefined> {
  readonly #patienceMs: number;
  readonly #explain: () => Promise<string>;
  readonly #onReturn: () => void;
  readonly #results: Result[] = [];
  readonly #waiters: Waiter[] = [];
  #end: Error | 'complete' | undefined;

  /** @param explain why no event may have come, after the wait for it */
  constructor(patienceMs: number, explain: () => Promise<string>, onReturn: () => void) {
    this.#patienceMs = patienceMs;
    this.#explain = explain;
    this.#onReturn = onReturn;
  }

  /** Why the subscription has failed. */
  get failure(): Error | undefined {
    return this.#end instanceof Error ? this.#end : undefined;
  }

  /** Results that have arrived and were not asked for. */
  get waiting(): readonly Result[] {
    return this.#results;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * Resolves with the next result; `done` once the subscription has completed.
   * @throws Error if none comes in time, or if the subscription has failed
   */
  next(): Promise<IteratorResult<Result, undefined>> {
    const value = this.#results.shift();
    if (value) return Promise.resolve({ value, done: false });
    if (this.#end === 'complete') return Promise.resolve({ value: undefined, done: true });
    const error = new Error();
    if (this.#end) return Promise.reject(withMessage(error, this.#end.message));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#expire(waiter), this.#patienceMs);
      const waiter: Waiter = { resolve, reject, error, timer };
      this.#waiters.push(waiter);
    });
  }

  /** Ends the subscription. */
  return(): Promise<IteratorResult<Result, undefined>> {
    this.#onReturn();
    this.finish('complete');
    return Promise.resolve({ value: undefined, done: true });
  }

  /** The server has sent a result. */
  add(value: Result): void {
    const waiter = this.#waiters.shift();
    if (!waiter) return void this.#results.push(value);
    clearTimeout(waiter.timer);
    waiter.resolve({ value, done: false });
  }

  /** The subscription is over. Idempotent. */
  finish(end: Error | 'complete'): void {
    this.#end ??= end;
    for (const { resolve, reject, error, timer } of this.#waiters.splice(0)) {
      clearTimeout(timer);
      if (this.#end === 'complete') resolve({ value: undefined, done: true });
      else reject(withMessage(error, this.#end.message));
    }
  }

  #expire(waiter: Waiter): void {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    this.#explain().then(
      (reason) => waiter.reject(withMessage(waiter.error, `no event came within ${this.#patienceMs} ms${reason}`)),
      waiter.reject,
    );
  }
}

/** The stack repeats the message that an error was made with. */
function withMessage(error: Error, message: string): Error {
  const { stack } = error;
  error.message = message;
  error.stack = stack?.replace(/^Error/, () => `Error: ${message}`) ?? message;
  return error;
}
