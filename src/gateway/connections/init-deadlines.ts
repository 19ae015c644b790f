/** Waits for something until a deadline. */
export interface DeadlineOwner {
  onDeadline(): void;
}

/**
 * Deadlines of one length, with one timer for all. They expire in the order in which they were added, so only the first one needs
 * a timer, and no socket needs a timer or a closure.
 */
export class InitDeadlines<T extends DeadlineOwner> {
  readonly #timeoutMs: number;
  /** Insertion order is deadline order. */
  readonly #deadlines = new Map<T, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(owner: T): void {
    this.#deadlines.set(owner, performance.now() + this.#timeoutMs);
    this.#timer ??= setTimeout(this.#onTimer, this.#timeoutMs);
  }

  /** The deadline is met or no longer matters. Idempotent. */
  delete(owner: T): void {
    this.#deadlines.delete(owner);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#deadlines.clear();
  }

  /** After a blocked event loop, timers run before input. Input that arrived in time is read in this turn and handled in the next. */
  readonly #onTimer = (): void => void setImmediate(this.#onRead);

  readonly #onRead = (): void => void setImmediate(this.#onDue);

  readonly #onDue = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    for (const [owner, deadline] of this.#deadlines) {
      // A timer may fire up to a millisecond early.
      if (deadline - now > 1) {
        this.#timer = setTimeout(this.#onTimer, deadline - now);
        return;
      }
      this.#deadlines.delete(owner);
      owner.onDeadline();
    }
  };
}
