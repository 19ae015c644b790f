import type { ChannelLoad } from '../flow/executing.ts';
import type { Job } from './slices.ts';

interface HeldJob {
  readonly job: Job;
  /** In bytes. */
  readonly length: number;
}

interface Line {
  readonly jobs: HeldJob[];
  /** Whether the first job has been handed on. */
  isReleased: boolean;
}

/**
 * The jobs of channels whose executions are as many as may be in flight: each channel's wait in their order. Its operations would come
 * near to MAX_PENDING_EVENTS, and flow control takes a while to slow the partition. Holds at most `maxLength` bytes and one job more.
 */
export class HeldJobs {
  readonly #maxLength: number;
  readonly #release: (job: Job) => void;
  readonly #lines = new Map<ChannelLoad, Line>();
  #length = 0;

  /** @param release called with a job when it may be tried again */
  constructor(maxLength: number, release: (job: Job) => void) {
    this.#maxLength = maxLength;
    this.#release = release;
  }

  /** Bytes of all held jobs. */
  get length(): number {
    return this.#length;
  }

  /** Asked by a job before it begins, each time: whether it is held from now on, or still. */
  holds(load: ChannelLoad, job: Job, length: number): boolean {
    let line = this.#lines.get(load);
    if (!line) {
      if (!this.#mustWait(load)) return false;
      this.#lines.set(load, (line = { jobs: [], isReleased: false }));
      load.onRoom = () => this.#releaseFirst(load);
    } else if (line.jobs[0]?.job === job) {
      line.isReleased = false;
      if (this.#mustWait(load)) return true;
      this.#length -= line.jobs.shift()!.length;
      if (line.jobs.length > 0) this.#releaseFirst(load);
      else this.#close(load);
      return false;
    }
    line.jobs.push({ job, length });
    this.#length += length;
    if (!this.#mustWait(load)) this.#releaseFirst(load);
    return true;
  }

  #mustWait(load: ChannelLoad): boolean {
    return load.isFull && this.#length <= this.#maxLength;
  }

  #releaseFirst(load: ChannelLoad): void {
    const line = this.#lines.get(load);
    if (!line || line.isReleased) return;
    line.isReleased = true;
    this.#release(line.jobs[0]!.job);
  }

  #close(load: ChannelLoad): void {
    this.#lines.delete(load);
    load.onRoom = undefined;
  }
}
