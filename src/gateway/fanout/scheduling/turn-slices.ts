import { Fifo } from '../../../base/fifo.ts';

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

/** Work that has turns of the event loop of its own, between those of the jobs. */
export interface OtherTurns {
  /** They want a turn although no job waits. */
  readonly areWanted: boolean;
  /** Longest slice in ms, while their work makes turns long. 0: slices have their usual length. */
  readonly maxSliceMs: number;
  /** @param firstSince when the first job was added; undefined: no job waits. Returns true if the turn is theirs: jobs wait for the next one */
  take(now: number, firstSince: number | undefined): boolean;
  /** @param firstSince as above, after a slice that has run jobs */
  endSlice(now: number, firstSince: number | undefined): void;
}

/**
 * Runs jobs in order, at the end of a turn of the event loop. One turn runs jobs for `sliceMs` and leaves the others to the next turns, so
 * that sockets, timers and health checks get their share. While others have turns, a slice is as long as the turn before it, up to their
 * `maxSliceMs`, so that jobs keep theirs. At the end of each slice, `flush` writes the results of its jobs.
 */
export class TurnSlices {
  readonly #sliceMs: number;
  readonly #flush: () => void;
  readonly #others: OtherTurns;
  readonly #jobs = new Fifo<WaitingJob>();
  /** Runs after the jobs of the next turn. */
  #last: (() => void) | undefined;
  #endsAt = 0;
  /** End of the last slice if it has left jobs. */
  #leftAt: number | undefined;
  #isScheduled = false;
  #hasOneJob = false;

  /** @param others default: nobody */
  constructor(sliceMs: number, flush: () => void, others: OtherTurns = NO_OTHERS) {
    this.#sliceMs = sliceMs;
    this.#flush = flush;
    this.#others = others;
  }

  /** True if this turn has a single job, which may flush before it is done. */
  get hasOneJob(): boolean {
    return this.#hasOneJob;
  }

  add(job: Job): void {
    this.#jobs.add({ job, since: performance.now() });
    this.wake();
  }

  /** Runs `work` once, at the end of the next turn's slice, also if jobs are left to later turns. It replaces work that waits already. */
  addLast(work: () => void): void {
    this.#last = work;
    this.wake();
  }

  /** Runs all jobs to their end now, however long it takes. */
  finish(): void {
    while (this.#jobs.first?.job(NEVER)) this.#jobs.take();
    this.#flush();
  }

  /** Others want a turn. */
  readonly wake = (): void => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  };

  readonly #onTurn = (): void => {
    // First: a turn of others that throws must not be the last one.
    this.#isScheduled = false;
    const now = performance.now();
    if (this.#others.take(now, this.#firstSince)) return this.wake();
    if (this.#jobs.isEmpty) this.#flush();
    else this.#runSlice(now);
    if (!this.#jobs.isEmpty || this.#others.areWanted) this.wake();
    const last = this.#last;
    this.#last = undefined;
    last?.();
  };

  #runSlice(now: number): void {
    const turnMs = this.#leftAt === undefined ? 0 : now - this.#leftAt;
    this.#endsAt = now + Math.max(this.#sliceMs, Math.min(turnMs, this.#others.maxSliceMs));
    this.#hasOneJob = this.#jobs.length === 1;
    while (this.#jobs.first?.job(this.#isSpent)) {
      this.#jobs.take();
      if (this.#isSpent()) break;
    }
    this.#flush();
    const endedAt = performance.now();
    this.#leftAt = this.#jobs.isEmpty ? undefined : endedAt;
    this.#others.endSlice(endedAt, this.#firstSince);
  }

  get #firstSince(): number | undefined {
    return this.#jobs.first?.since;
  }

  readonly #isSpent = (): boolean => performance.now() >= this.#endsAt;
}

const NEVER = (): boolean => false;
const NO_OTHERS: OtherTurns = { areWanted: false, maxSliceMs: 0, take: NEVER, endSlice: () => undefined };
