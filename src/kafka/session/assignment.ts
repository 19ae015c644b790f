import type { PartitionMap } from '../client/cluster.ts';
import type { TopicPartitionIds } from '../client/owned-partitions.ts';
import { partitionKey } from '../partition-key.ts';
import type { TopicPartition } from '../partition-key.ts';
import { Ownership } from './ownership.ts';

export interface AssignedPartition extends TopicPartition {
  readonly ownership: Ownership;
}

/** The partitions that the group has assigned to this member. Holds one entry for each. */
export class Assignment {
  #assigned = new Map<string, AssignedPartition>();
  #positions = new Map<string, Map<number, number | undefined>>();

  /** Next offset to read of each partition; undefined until one of its records is accepted. */
  get positions(): PartitionMap<number | undefined> {
    return this.#positions;
  }

  get list(): readonly AssignedPartition[] {
    return [...this.#assigned.values()];
  }

  ownershipOf(topic: string, partition: number): Ownership | undefined {
    return this.#assigned.get(partitionKey(topic, partition))?.ownership;
  }

  /**
   * The group has assigned these partitions, and no others. Ends the ownership of the others.
   * @param isContinued true if no other member can have owned the partitions since the last join
   * @returns the partitions whose ownership begins; their start positions must be looked up
   */
  replace(assigned: TopicPartitionIds, isContinued: boolean): readonly AssignedPartition[] {
    const [former, positions] = [this.#assigned, this.#positions];
    this.#assigned = new Map();
    this.#positions = new Map();
    const gained: AssignedPartition[] = [];
    for (const [topic, partitions] of assigned) {
      const next = new Map<number, number | undefined>();
      this.#positions.set(topic, next);
      for (const partition of partitions) {
        const key = partitionKey(topic, partition);
        const before = former.get(key);
        const isKept = isContinued && before?.ownership.canContinue === true;
        const one = isKept ? before : { topic, partition, ownership: new Ownership() };
        this.#assigned.set(key, one);
        next.set(partition, isKept ? positions.get(topic)?.get(partition) : undefined);
        if (isKept) former.delete(key);
        else gained.push(one);
      }
    }
    for (const { ownership } of former.values()) ownership.end();
    return gained;
  }

  /** `position`: the next offset to read. */
  advance(topic: string, partition: number, position: number): void {
    if (this.#assigned.has(partitionKey(topic, partition))) this.#positions.get(topic)!.set(partition, position);
  }

  endFlowWaits(): void {
    for (const { ownership } of this.#assigned.values()) ownership.endFlowWaits();
  }

  /** Ends every ownership. Idempotent. */
  end(): void {
    for (const { ownership } of this.#assigned.values()) ownership.end();
  }
}
