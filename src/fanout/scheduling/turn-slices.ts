/**
 * Works until it is done or `isSpent()`, which it calls between small steps. Returns true when it is done; else it is called again in a later
 * turn. Must not throw: each job has its own error boundary, which ends one operation.
 */
export type Job = (isSpent: () => boolean) => boolean;

/**
 * Runs jobs in order, at the end of a turn of the event loop. One turn runs jobs for `sliceMs` at most and leaves the others to the next
 * turns, so that sockets, timers and health checks get their share. At the end of each slice, `flush` writes the results of its jobs.
 */
export class TurnSlices {
  readonly #sliceMs: number;
  readonly #flush: () => void;
  readonly #jobs: Job[] = [];
  /** Runs after the jobs of the next turn. */
  #last: (() => void) | undefined;
  #endsAt = 0;
  #isScheduled = false;
  #hasOneJob = false;

  constructor(sliceMs: number, flush: () => void) {
    this.#sliceMs = sliceMs;
    this.#flush = flush;
  }

  /** True if this turn has a single job, which may flush before it is done. */
  get hasOneJob(): boolean {
    return this.#hasOneJob;
  }

  add(job: Job): void {
    this.#jobs.push(job);
    this.#schedule();
  }

  /** Runs `work` once, at the end of the next turn's slice, also if jobs are left to later turns. It replaces work that waits already. */
  addLast(work: () => void): void {
    this.#last = work;
    this.#schedule();
  }

  /** Runs all jobs to their end now, however long it takes. */
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
    const last = this.#last;
    this.#last = undefined;
    last?.();
  };

  readonly #isSpent = (): boolean => performance.now() >= this.#endsAt;
}

const NEVER = (): boolean => false;
