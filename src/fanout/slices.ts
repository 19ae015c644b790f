/** Works until it is done or `isSpent()`, which it asks between one small step and the next; returns whether it is done. */
export type Job = (isSpent: () => boolean) => boolean;

/**
 * Does jobs in their order, at once where it can: in one turn of the event loop for no longer than `sliceMs`, the rest in
 * the next turns, so that sockets, timers and health checks get their share.
 */
export class Slices {
  readonly #sliceMs: number;
  readonly #jobs: Job[] = [];
  #endsAt = 0;
  #isScheduled = false;

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs;
  }

  add(job: Job): void {
    this.#jobs.push(job);
    if (this.#jobs.length > 1) return;
    if (!this.#isScheduled) this.#schedule();
    this.#work();
  }

  /** Does all that is left, however long it takes. */
  finish(): void {
    while (this.#jobs[0]?.(NEVER)) this.#jobs.shift();
  }

  #schedule(): void {
    this.#isScheduled = true;
    this.#endsAt = performance.now() + this.#sliceMs;
    setImmediate(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    if (this.#jobs.length === 0) return;
    this.#schedule();
    this.#work();
  };

  #work(): void {
    while (this.#jobs.length > 0 && !this.#isSpent() && this.#jobs[0]!(this.#isSpent)) this.#jobs.shift();
  }

  readonly #isSpent = (): boolean => performance.now() >= this.#endsAt;
}

const NEVER = (): boolean => false;
