import type { PoisonReason } from './batch.ts';

/** What the worker half counts. Every method returns at once and never throws. */
export interface WorkerObserver {
  /** Records of a topic that were accepted: published, or put aside as poison. */
  onConsumed(topic: string, records: number): void;
  /** Messages that the bus accepted. */
  onPublished(messages: number): void;
  onPoison(reason: PoisonReason): void;
  /** Poison records that were given up: the dead-letter topic did not take them, and DEAD_LETTER is DROP. */
  onDeadLetterFailure(records: number): void;
  /** The consumer ended against our will and is made anew. */
  onRebuild(reason: RebuildReason): void;
  /** Partitions that wait for the bus now. */
  onPausedPartitions(partitions: number): void;
  /** Partitions that wait for the dead-letter topic now. */
  onWaitingPartitions(partitions: number): void;
  /** Records between the ends of the assigned partitions and our positions. */
  onLag(records: number): void;
}

/** unreachable: never joined; crashed: joined, then failed; stalled: the watchdog's verdict. */
export type RebuildReason = 'unreachable' | 'crashed' | 'stalled';
