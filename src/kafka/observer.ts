import type { PoisonReason } from './batch.ts';

/** Receives the worker's counts. Every method returns at once and never throws. */
export interface WorkerObserver {
  /** Records of a topic that were published, or sent to the dead-letter topic as poison. */
  onConsumed(topic: string, records: number): void;
  /** Messages that the bus accepted. */
  onPublished(messages: number): void;
  onPoison(reason: PoisonReason): void;
  /** Poison records that were dropped: the dead-letter topic did not accept them, and DEAD_LETTER is DROP. */
  onDeadLetterFailure(records: number): void;
  /** The consumer failed and is replaced. */
  onRebuild(reason: RebuildReason): void;
  /** Partitions that wait for the bus now. */
  onPausedPartitions(partitions: number): void;
  /** Partitions that wait for the dead-letter topic now. */
  onWaitingPartitions(partitions: number): void;
  /** Records between the positions and the ends of the assigned partitions. */
  onLag(records: number): void;
}

/** unreachable: never joined the group; crashed: failed after it had joined; stalled: found by the watchdog. */
export type RebuildReason = 'unreachable' | 'crashed' | 'stalled';
