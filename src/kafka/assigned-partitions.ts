import type { PartitionMap } from './client/cluster.ts';
import { partitionKey } from './partition-key.ts';
import type { PartitionPosition } from './session/session-watchdog.ts';

/** A partition that was assigned with the last join. */
export interface AssignedPartition {
  readonly topic: string;
  readonly partition: number;
  /** Records between its position and its end, those of open transactions included; NaN: unknown. */
  readonly lag: number;
  /** Time of its last progress, of performance.now(): an accepted chunk, its assignment, or a look that found no lag. */
  readonly progressedAt: number;
}

/**
 * Lag and last progress of the partitions that the consumer was assigned last. They stay, with an unknown lag, while Kafka is away, because
 * nobody else is known to own them; a partition that another member gets disappears with the next join.
 */
export class AssignedPartitions {
  #partitions = new Map<string, AssignedPartition>();

  get list(): readonly AssignedPartition[] {
    return [...this.#partitions.values()];
  }

  /** A partition that stays keeps its last progress. */
  assign(assignment: PartitionMap<unknown>, nowMs: number): void {
    const before = this.#partitions;
    this.#partitions = new Map();
    for (const [topic, partitions] of assignment) {
      for (const partition of partitions.keys()) {
        const key = partitionKey(topic, partition);
        const { progressedAt = nowMs } = before.get(key) ?? {};
        this.#partitions.set(key, { topic, partition, lag: NaN, progressedAt });
      }
    }
  }

  progress(topic: string, partition: number, nowMs: number): void {
    const key = partitionKey(topic, partition);
    const assigned = this.#partitions.get(key);
    if (assigned) this.#partitions.set(key, { ...assigned, progressedAt: nowMs });
  }

  /** The lag of a partition without a position is unknown from now on. */
  measure(positions: readonly PartitionPosition[], nowMs: number): void {
    this.loseLags();
    for (const { topic, partition, position, high } of positions) {
      const key = partitionKey(topic, partition);
      const assigned = this.#partitions.get(key);
      if (!assigned) continue;
      const lag = Math.max(0, high - position);
      const progressedAt = lag === 0 ? nowMs : assigned.progressedAt;
      this.#partitions.set(key, { ...assigned, lag, progressedAt });
    }
  }

  /** The lags are unknown from now on. */
  loseLags(): void {
    for (const [key, assigned] of this.#partitions) this.#partitions.set(key, { ...assigned, lag: NaN });
  }
}
