import { randomUUID } from 'node:crypto';
import type { Claim } from '../../bus/bus.ts';
import type { PartitionMap } from '../kafkajs/cluster.ts';

/** Where a partition goes on that Kafka has given us. */
export interface PartitionStart {
  /** Offset up to which the bus had accepted everything when that was committed; -1: nothing is known. */
  readonly position: number;
  /** Name of the start after which nothing was committed; undefined: the records go on behind `position`. */
  readonly start?: string | undefined;
}

interface Partition {
  isHeld: boolean;
  start: string | undefined;
  position: number;
  /** Offset of the last record that was accepted in this stay; -1: none. */
  last: number;
}

/**
 * The bus's side of an assignment: a partition is claimed before the first publish after each join, and again after it was
 * fenced. Knows when records begin anew. Holds one entry for each assigned partition.
 */
export class Claims {
  readonly #claim: (claim: Claim) => Promise<void>;
  readonly #partitions = new Map<string, Partition>();

  constructor(claim: (claim: Claim) => Promise<void>) {
    this.#claim = claim;
  }

  /** The group has given us these partitions, and no others. */
  renew(starts: PartitionMap<PartitionStart>): void {
    this.#partitions.clear();
    for (const [topic, partitions] of starts) {
      for (const [partition, { position, start }] of partitions) {
        this.#partitions.set(keyOf(topic, partition), { isHeld: false, start, position, last: -1 });
      }
    }
  }

  /**
   * To be called before records are published.
   * @param first offset of the first of them
   * @throws BusUnavailableError
   */
  async hold(topic: string, partition: number, first: number): Promise<void> {
    const entry = this.#partitions.get(keyOf(topic, partition));
    if (!entry) return;
    // Within a stay records go on behind the last one, unless the topic was made anew.
    if (first <= entry.last) Object.assign(entry, { isHeld: false, start: randomUUID(), position: -1, last: -1 });
    if (entry.isHeld) return;
    const { position, start } = entry;
    await this.#claim({ topic, partition, position, start });
    entry.isHeld = true;
  }

  /** The bus has accepted everything up to this offset. */
  accepted(topic: string, partition: number, offset: number): void {
    const entry = this.#partitions.get(keyOf(topic, partition));
    if (!entry) return;
    entry.start = undefined;
    entry.position = Math.max(entry.position, offset);
    entry.last = offset;
  }

  /** The bus has refused us. */
  release(topic: string, partition: number): void {
    const entry = this.#partitions.get(keyOf(topic, partition));
    if (entry) entry.isHeld = false;
  }

  /** What a commit says beside the offset, for whoever gets the partition next. */
  metadataOf(topic: string, partition: number): string {
    const entry = this.#partitions.get(keyOf(topic, partition));
    return entry?.start === undefined ? `crier:${entry?.position ?? -1}` : startMetadata(entry.start);
  }
}

const METADATA = /^crier:(?:(-1|\d+)|start:(\S+))$/;

/** Of a commit by which no record was accepted. */
export function startMetadata(start: string): string {
  return `crier:start:${start}`;
}

/** What a commit's metadata says; undefined where it is not one of ours. */
export function parseCommit(metadata: string): PartitionStart | undefined {
  const [match, position, start] = METADATA.exec(metadata) ?? [];
  if (match === undefined) return undefined;
  return { position: Number(position ?? -1), start };
}

function keyOf(topic: string, partition: number): string {
  return `${partition}/${topic}`;
}
