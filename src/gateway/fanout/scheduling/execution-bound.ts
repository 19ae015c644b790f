import { Fifo } from '../../../base/fifo.ts';
import type { ChannelLoad } from '../../../bus/flow/channel-load.ts';
import type { Operation } from '../../../graph/documents/operation.ts';
import { RESULTS_BETWEEN_CHECKS } from './bounds.ts';
import type { Job } from './turn-slices.ts';

/**
 * Bounds the executions of events that this pod has in flight. Further executions wait: in order within a channel, and channels take turns.
 * The events after them are held, as with a channel at its own limit, so flow control slows their partition. Only executions of operations
 * that have waited for something before are bounded; the others are over when they return.
 */
export class ExecutionBound {
  readonly #limit: () => number;
  readonly #schedule: (job: Job) => void;
  /** Executions that wait, by channel, the next to have its turn first. undefined: replays, and all channels without flow control. */
  readonly #lanes = new Map<ChannelLoad | undefined, Fifo<() => void>>();
  readonly #asynchronous = new WeakSet<Operation>();
  #inFlight = 0;
  #waiting = 0;
  #isScheduled = false;
  #isStarting = false;

  /** @param limit most executions in flight; it may change at any time */
  constructor(limit: () => number, schedule: (job: Job) => void) {
    this.#limit = limit;
    this.#schedule = schedule;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Executions that have not begun because of the bound. */
  get waiting(): number {
    return this.#waiting;
  }

  /** True if an execution of the operation must not begin now: `wait` must be called for it. */
  mustWait(operation: Operation): boolean {
    const isFull = this.#inFlight >= this.#limit() || (this.#waiting > 0 && !this.#isStarting);
    return isFull && this.#asynchronous.has(operation);
  }

  /**
   * @param channel undefined: outside of flow control
   * @param start called in its turn; must not throw, and may find that no execution is needed any more
   */
  wait(channel: ChannelLoad | undefined, start: () => void): void {
    let lane = this.#lanes.get(channel);
    if (!lane) this.#lanes.set(channel, (lane = new Fifo()));
    lane.add(start);
    this.#waiting++;
    channel?.wait(1);
    this.#startSoon();
  }

  /** An execution has not settled when it returned. `end` must follow, at its deadline at the latest. */
  begin(operation: Operation): void {
    this.#asynchronous.add(operation);
    this.#inFlight++;
  }

  end(): void {
    this.#inFlight--;
    this.#startSoon();
  }

  #startSoon(): void {
    if (this.#waiting === 0 || this.#isScheduled || this.#inFlight >= this.#limit()) return;
    this.#isScheduled = true;
    this.#schedule(this.#startWaiting);
  }

  readonly #startWaiting: Job = (isSpent) => {
    for (let started = 1; this.#waiting > 0 && this.#inFlight < this.#limit(); started++) {
      this.#startNext();
      if (started % RESULTS_BETWEEN_CHECKS === 0 && isSpent()) return false;
    }
    this.#isScheduled = false;
    return true;
  };

  #startNext(): void {
    const [channel, lane] = this.#lanes.entries().next().value!;
    const start = lane.take();
    this.#lanes.delete(channel);
    if (!lane.isEmpty) this.#lanes.set(channel, lane);
    this.#waiting--;
    this.#isStarting = true;
    start();
    this.#isStarting = false;
    channel?.wait(-1);
  }
}
