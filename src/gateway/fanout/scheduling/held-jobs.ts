import { Fifo } from '../../../base/fifo.ts';
import type { ChannelLoad } from '../../../bus/flow/channel-load.ts';
import type { Job } from './turn-slices.ts';

interface HeldJob {
  readonly job: Job;
  /** Bytes of its events. */
  readonly length: number;
}

interface ChannelQueue {
  readonly jobs: Fifo<HeldJob>;
  /** True if the first job has been released and has not run yet. */
  isReleased: boolean;
}

/**
 * Holds the jobs of channels at their limit of executions in flight, in the order of each channel. Without it their operations could reach
 * MAX_PENDING_EVENTS before flow control slows the partition. Holds at most `maxLength` bytes and one job more.
 */
export class HeldJobs {
  readonly #maxLength: number;
  readonly #release: (job: Job) => void;
  readonly #queues = new Map<ChannelLoad, ChannelQueue>();
  #length = 0;

  /** @param release runs a job again, which may then no longer have to wait */
  constructor(maxLength: number, release: (job: Job) => void) {
    this.#maxLength = maxLength;
    this.#release = release;
  }

  /** Bytes of all held jobs. */
  get length(): number {
    return this.#length;
  }

  /** A job calls this each time before it begins. Returns true if the job is held: it runs again after its release. */
  holds(load: ChannelLoad, job: Job, length: number): boolean {
    let queue = this.#queues.get(load);
    if (!queue) {
      if (!this.#mustWait(load)) return false;
      this.#queues.set(load, (queue = { jobs: new Fifo(), isReleased: false }));
      load.onRoom = () => this.#releaseFirst(load);
    } else if (queue.jobs.first?.job === job) {
      queue.isReleased = false;
      if (this.#mustWait(load)) return true;
      this.#length -= queue.jobs.take().length;
      if (queue.jobs.isEmpty) this.#close(load);
      else this.#releaseFirst(load);
      return false;
    }
    queue.jobs.add({ job, length });
    this.#length += length;
    if (!this.#mustWait(load)) this.#releaseFirst(load);
    return true;
  }

  #mustWait(load: ChannelLoad): boolean {
    return load.isFull && this.#length <= this.#maxLength;
  }

  #releaseFirst(load: ChannelLoad): void {
    const queue = this.#queues.get(load);
    if (!queue || queue.isReleased) return;
    queue.isReleased = true;
    this.#release(queue.jobs.first!.job);
  }

  #close(load: ChannelLoad): void {
    this.#queues.delete(load);
    load.onRoom = undefined;
  }
}
