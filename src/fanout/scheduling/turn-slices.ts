import { MAX_WAIT_MS } from './bounds.ts';

/**
 * Works until it is done or `isSpent()`, which it calls between small steps. Returns true when it is done; else it is called again in a later
 * turn. Must not throw: each job has its own error boundary, which ends one operation.
 */
export type Job = (isSpent: () => boolean) => boolean;

interface WaitingJob {
  readonly job: Job;
  /** When it was added. */
  readonly since: number;
}

/**
 * Runs jobs in order, at the end of a turn of the event loop. One turn runs jobs for `sliceMs` at most and leaves the others to the next
 * turns, so that sockets, timers and health checks get their share. Between slices, clients that connect may have turns without one, but
 * not once a job has waited for `MAX_WAIT_MS`. At the end of each slice, `flush` writes the results of its jobs.
 */
export class TurnSlices {
  readonly #sliceMs: number;
  readonly #flush: () => void;
  readonly #isTurnTaken: () => boolean;
  readonly #jobs: WaitingJob[] = [];
  /** Runs after the jobs of the next turn. */
  #last: (() => void) | undefined;
  #endsAt = 0;
  #isScheduled = false;
  #hasOneJob = false;

  /** @param isTurnTaken called before each slice; true: the slice waits for the next turn. Default: it never waits */
  constructor(sliceMs: number, flush: () => void, isTurnTaken = NEVER) {
    this.#sliceMs = sliceMs;
    this.#flush = flush;
    this.#isTurnTaken = isTurnTaken;
  }

  /** True if this turn has a single job, which may flush before it is done. */
  get hasOneJob(): boolean {
    return this.#hasOneJob;
  }

  add(job: Job): void {
    this.#jobs.push({ job, since: performance.now() });
    this.#schedule();
  }

  /** Runs `work` once, at the end of the next turn's slice, also if jobs are left to later turns. It replaces work that waits already. */
  addLast(work: () => void): void {
    this.#last = work;
    this.#schedule();
  }

  /** Runs all jobs to their end now, however long it takes. */
  finish(): void {
    while (this.#jobs[0]?.job(NEVER)) this.#jobs.shift();
    this.#flush();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    if (!this.#isLate && this.#isTurnTaken()) return void setImmediate(this.#onTurn);
    this.#isScheduled = false;
    this.#endsAt = performance.now() + this.#sliceMs;
    this.#hasOneJob = this.#jobs.length === 1;
    while (this.#jobs.length > 0 && this.#jobs[0]!.job(this.#isSpent)) {
      this.#jobs.shift();
      if (performance.now() >= this.#endsAt) break;
    }
    this.#flush();
    if (this.#jobs.length > 0) this.#schedule();
    const last = this.#last;
    this.#last = undefined;
    last?.();
  };

  get #isLate(): boolean {
    const first = this.#jobs[0];
    return first !== undefined && performance.now() - first.since >= MAX_WAIT_MS;
  }

  readonly #isSpent = (): boolean => performance.now() >= this.#endsAt;
}

const NEVER = (): boolean => false;
