/** Sweeps within one timeout: an execution may take an eighth longer than the timeout. */
const SWEEPS = 8;

/** An execution in flight. Linked with the previous and the next one; with itself when it is over. */
export interface Due {
  previous: Due;
  next: Due;
  /** Number of sweeps when it began. */
  sweep: number;
  onDeadline: () => void;
}

/**
 * Deadlines of executions, with one timer, which keeps no process alive. Sweeps are counted, not time: a blocked event loop ends no execution.
 * A linked list: in a Map, this many short-lived keys cost the garbage collector more than everything else here.
 */
export class ExecutionDeadlines {
  readonly #intervalMs: number;
  /** Sentinel before the oldest and after the latest. */
  readonly #ends: Due;
  #sweeps = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#intervalMs = timeoutMs / SWEEPS;
    const ends = { sweep: 0, onDeadline: nothing } as Due;
    this.#ends = ends.previous = ends.next = ends;
  }

  /** Adds an execution that begins now. `onDeadline` must not throw. */
  add(onDeadline: () => void): Due {
    const next = this.#ends;
    const { previous } = next;
    const due: Due = { previous, next, sweep: this.#sweeps, onDeadline };
    previous.next = next.previous = due;
    this.#timer ??= setTimeout(this.#sweep, this.#intervalMs).unref();
    return due;
  }

  /** Removes an execution that is over. Idempotent. */
  delete(due: Due): void {
    due.previous.next = due.next;
    due.next.previous = due.previous;
    // A removed entry must not keep others from being collected.
    due.previous = due.next = due;
    due.onDeadline = nothing;
  }

  readonly #sweep = (): void => {
    this.#sweeps++;
    for (let due = this.#ends.next; due !== this.#ends && this.#sweeps - due.sweep > SWEEPS; due = this.#ends.next) {
      const { onDeadline } = due;
      this.delete(due);
      onDeadline();
    }
    this.#timer = this.#ends.next === this.#ends ? undefined : setTimeout(this.#sweep, this.#intervalMs).unref();
  };
}

function nothing(): void {
  // It is over.
}
