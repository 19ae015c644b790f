import { randomUUID } from 'node:crypto';
import type { PartitionLease } from '../../bus/bus.ts';
import { StateLostError } from '../../errors.ts';
import type { PartitionMap } from '../kafkajs/cluster.ts';
import { partitionKey } from '../partition-key.ts';
import { commitMetadata } from './commit-metadata.ts';
import type { ResumePoint } from './commit-metadata.ts';

interface Partition {
  isLeased: boolean;
  startId: string | undefined;
  position: number;
  /** Offset of the last record that the bus accepted in this generation; -1: none. */
  last: number;
}

/**
 * The bus leases of the assigned partitions. A partition is leased before its first publish after each join, and again after the bus
 * has fenced it. Assigns a new start id when offsets restart. Holds one entry for each assigned partition.
 */
export class PartitionLeases {
  readonly #acquire: (lease: PartitionLease) => Promise<void>;
  readonly #signatures: ReadonlyMap<string, string>;
  readonly #partitions = new Map<string, Partition>();

  /** @param signatures of the states that the worker keeps, by topic */
  constructor(acquire: (lease: PartitionLease) => Promise<void>, signatures: ReadonlyMap<string, string> = new Map()) {
    this.#acquire = acquire;
    this.#signatures = signatures;
  }

  /** The group has assigned these partitions, and no others. */
  assign(resumePoints: PartitionMap<ResumePoint>): void {
    this.#partitions.clear();
    for (const [topic, partitions] of resumePoints) {
      for (const [partition, { position, startId }] of partitions) {
        this.#partitions.set(partitionKey(topic, partition), { isLeased: false, startId, position, last: -1 });
      }
    }
  }

  /**
   * Call before each batch is published.
   * @param first offset of the batch's first record
   * @throws BusUnavailableError
   * @throws StateLostError if the partition must be read from its beginning
   */
  async acquire(topic: string, partition: number, first: number): Promise<void> {
    const entry = this.#partitions.get(partitionKey(topic, partition));
    if (!entry) return;
    // Offsets only grow, unless the topic was deleted and created again.
    const signature = this.#signatures.get(topic);
    if (first <= entry.last && signature !== undefined) {
      throw new StateLostError(`the topic ${topic} was created again: its states are of records that it no longer has`);
    }
    if (first <= entry.last) Object.assign(entry, { isLeased: false, startId: randomUUID(), position: -1, last: -1 });
    if (entry.isLeased) return;
    const { position, startId } = entry;
    await this.#acquire({ topic, partition, position, startId, ...(signature !== undefined && { signature }) });
    entry.isLeased = true;
  }

  /** The bus has accepted every record up to this offset. */
  accept(topic: string, partition: number, offset: number): void {
    const entry = this.#partitions.get(partitionKey(topic, partition));
    if (!entry) return;
    entry.startId = undefined;
    entry.position = Math.max(entry.position, offset);
    entry.last = offset;
  }

  /** The bus has fenced the partition: the next `acquire` leases it again. */
  drop(topic: string, partition: number): void {
    const entry = this.#partitions.get(partitionKey(topic, partition));
    if (entry) entry.isLeased = false;
  }

  /** Metadata of a commit, from which the partition's next owner resumes. */
  metadataOf(topic: string, partition: number): string {
    return commitMetadata(this.#partitions.get(partitionKey(topic, partition)) ?? { position: -1 });
  }
}
