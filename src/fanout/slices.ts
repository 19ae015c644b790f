/** Works until it is done or `isSpent()`, which it asks between one small step and the next; returns whether it is done. */
export type Job = (isSpent: () => boolean) => boolean;

/**
 * Does jobs in their order when a turn of the event loop has brought all it has: in one turn for no longer than `sliceMs`,
 * the rest in the next turns, so that sockets, timers and health checks get their share. `flush` lets out what the jobs
 * made when the turn's work ends.
 */
export class Slices {
  readonly #sliceMs: number;
  readonly #flush: () => void;
  readonly #jobs: Job[] = [];
  #endsAt = 0;
  #isScheduled = false;
  #hasOneJob = false;

  constructor(sliceMs: number, flush: () => void) {
    this.#sliceMs = sliceMs;
    this.#flush = flush;
  }

  /** Whether no job waits. */
  get isIdle(): boolean {
    return this.#jobs.length === 0;
  }

  /** Whether this turn has one job only, which may flush before it is done. */
  get hasOneJob(): boolean {
    return this.#hasOneJob;
  }

  add(job: Job): void {
    this.#jobs.push(job);
    this.#schedule();
  }

  /** Does all that is left, however long it takes. */
  finish(): void {
    while (this.#jobs[0]?.(NEVER)) this.#jobs.shift();
    this.#flush();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    this.#endsAt = performance.now() + this.#sliceMs;
    this.#hasOneJob = this.#jobs.length === 1;
    while (this.#jobs.length > 0 && this.#jobs[0]!(this.#isSpent)) {
      this.#jobs.shift();
      if (performance.now() >= this.#endsAt) break;
    }
    this.#flush();
    if (this.#jobs.length > 0) this.#schedule();
  };

  readonly #isSpent = (): boolean => performance.now() >= this.#endsAt;
}

const NEVER = (): boolean => false;
