import type { ChannelMessage } from '../bus/bus-message.ts';
import type { PoisonReason } from './batch.ts';
import type { PartitionMap } from './client/cluster.ts';
import type { PartitionPosition } from './session/session-watchdog.ts';

/** When a chunk passed the worker's stages. */
export interface ChunkTimes {
  /** Start of its decoding, after the wait for room at the gateways; in ms since 1970. */
  readonly startedAt: number;
  readonly decodeMs: number;
  /** Until the bus accepted it. */
  readonly publishMs: number;
}

/** Receives the worker's counts. Every method returns at once and never throws. */
export interface WorkerObserver {
  /** Records of a topic that were published, or sent to the dead-letter topic as poison. `bytes`: of their values. */
  onConsumed(topic: string, records: number, bytes: number): void;
  /** A chunk's messages, which the bus accepted. */
  onPublished(messages: readonly ChannelMessage[], times: ChunkTimes): void;
  onPoison(topic: string, reason: PoisonReason): void;
  /** Poison records that were dropped: the dead-letter topic did not accept them, and DEAD_LETTER is DROP. */
  onDeadLetterFailure(records: number): void;
  /** The consumer failed and is replaced. */
  onRebuild(reason: RebuildReason): void;
  /** Partitions that wait for the bus now. */
  onPausedPartitions(partitions: number): void;
  /** Partitions of which some channels wait now, because their shard of a Redis Cluster is away. */
  onSkippedPartitions(partitions: number): void;
  /** Partitions that wait for the dead-letter topic now. */
  onWaitingPartitions(partitions: number): void;
  /** Partitions that wait for the schema registry now. */
  onSchemaWaits(partitions: number): void;
  /** Partitions whose topic is stopped now. */
  onStoppedPartitions(partitions: number): void;
  /** The consumer has joined a generation of its group, with these partitions. */
  onJoin(assignment: PartitionMap<unknown>): void;
  /** Records of a partition were accepted. Called once for each chunk. */
  onProgress(topic: string, partition: number): void;
  /** Positions and ends of the assigned partitions, looked at every few seconds. */
  onPositions(positions: readonly PartitionPosition[]): void;
  /** The last positions are outdated: the consumer left its group, or the brokers did not answer. */
  onPositionsUnknown(): void;
  /** A topic's records that were deleted before they were read. */
  onMissedRecords(topic: string, records: number): void;
  /** A commit failed for another reason than a rebalance. It is repeated. */
  onCommitFailure(): void;
}

/** unreachable: never joined the group; crashed: failed after it had joined; stalled: found by the watchdog. */
export type RebuildReason = 'unreachable' | 'crashed' | 'stalled';
