/** Something that must have come by a deadline. */
export interface Expecting {
  onDeadline(): void;
}

/**
 * One timer for everybody who has the same time: deadlines come in the order in which they were set, so only the first one needs
 * a timer, and a socket has neither a timer nor a closure of its own.
 */
export class InitDeadlines<T extends Expecting> {
  readonly #timeoutMs: number;
  /** Insertion order is deadline order. */
  readonly #deadlines = new Map<T, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  expect(who: T): void {
    this.#deadlines.set(who, performance.now() + this.#timeoutMs);
    this.#timer ??= setTimeout(this.#onTimer, this.#timeoutMs);
  }

  /** It came, or will not matter any more. Idempotent. */
  settle(who: T): void {
    this.#deadlines.delete(who);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#deadlines.clear();
  }

  /** After a blocked event loop timers come before input: what has come in time is read first, and handled in the turn after. */
  readonly #onTimer = (): void => void setImmediate(this.#onRead);

  readonly #onRead = (): void => void setImmediate(this.#onDue);

  readonly #onDue = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    for (const [who, deadline] of this.#deadlines) {
      // A timer may fire up to a millisecond early.
      if (deadline - now > 1) {
        this.#timer = setTimeout(this.#onTimer, deadline - now);
        return;
      }
      this.#deadlines.delete(who);
      who.onDeadline();
    }
  };
}
