import { createRequire } from 'node:module';
import type { TopicPartition } from '../../partition-key.ts';

/** The part of kafkajs's Runner that this folder patches. */
export interface Runner {
  readonly running: boolean;
  readonly consumerGroup: JoiningGroup;
  readonly onCrash: (error: Error) => void;
  readonly fetchManager: { stop(): Promise<void> };
  start: (this: Runner) => Promise<void>;
  fetch: (this: Runner, nodeId: string) => Promise<readonly unknown[]>;
  heartbeat: (this: Runner) => Promise<void>;
  handleBatch: (this: Runner, batch: FetchedBatch) => Promise<void>;
}

export interface FetchedBatch extends TopicPartition {
  /** That the fetch has asked for. */
  readonly fetchedOffset: string;
}

/** Of kafkajs's ConsumerGroup, while its runner starts. */
export interface JoiningGroup {
  readonly assigners?: readonly unknown[];
  /** null before the first join. */
  readonly generationId: number | null;
  /** null before the first join. A new one is set with each assignment. */
  readonly offsetManager: OffsetManager | null;
  /** By topic and partition, as a JSON array. */
  readonly seekOffset: Map<string, unknown>;
  joinAndSync: (this: JoiningGroup) => Promise<void>;
  resolveOffset: (this: JoiningGroup, position: TopicPartition) => void;
}

type Offsets = Record<string, Record<number, string | undefined>>;

/** Of one assignment. */
export interface OffsetManager {
  readonly generationId: number;
  readonly memberId: string;
  readonly memberAssignment: Readonly<Record<string, readonly number[]>>;
  /** Next offset to read of the partitions that were read. */
  readonly resolvedOffsets: Offsets;
  committedOffsets(): Offsets;
}

/** A class of kafkajs that it does not export. */
export function runnerClass(): { readonly prototype: Runner } {
  return createRequire(import.meta.url)('kafkajs/src/consumer/runner') as { prototype: Runner };
}
