import { setMaxListeners } from 'node:events';
import type { TopicPartition } from '../partition-key.ts';

/** The time between two joins of a group. A batch that was fetched in an earlier generation may belong to another member by now. */
export class Generation {
  /**
   * Settles when the start positions of the assigned partitions are known, or the bus did not answer; `isPositioned` tells whether they are.
   */
  positioning: Promise<void> = Promise.resolve();
  isPositioned = false;
  /** Partitions whose place no leader could tell. They stay paused until the group is joined again. */
  unknown: readonly TopicPartition[] = [];

  isUnknown(topic: string, partition: number): boolean {
    return this.unknown.some((one) => one.topic === topic && one.partition === partition);
  }

  readonly #end = sharedAbortController();
  readonly #waitsEnd = sharedAbortController();

  get hasEnded(): boolean {
    return this.#end.signal.aborted;
  }

  /** Aborted at the end of the generation: its dead letters are no longer waited for. */
  get endSignal(): AbortSignal {
    return this.#end.signal;
  }

  /** Aborted when waits for gateways must end: at a rebalance, at the end of the generation, and when the session closes. */
  get flowSignal(): AbortSignal {
    return this.#waitsEnd.signal;
  }

  endFlowWaits(): void {
    this.#waitsEnd.abort();
  }

  /** Idempotent. */
  end(): void {
    this.#end.abort();
    this.#waitsEnd.abort();
  }
}

/** Any number of partitions listen to its signal. Node warns of more than ten by default. */
function sharedAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
