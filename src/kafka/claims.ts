import type { Claim } from '../bus/bus.ts';
import type { PartitionMap } from './cluster.ts';

/** Where a partition goes on that Kafka has given us. */
export interface PartitionStart {
  /** Offset up to which the bus had accepted everything when that was committed; -1: nothing is known. */
  readonly position: number;
  /** The records do not go on from there: nothing was committed, or by somebody else, or it lies outside of the partition. */
  readonly isFresh: boolean;
}

interface Partition {
  isHeld: boolean;
  isFresh: boolean;
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
      for (const [partition, { position, isFresh }] of partitions) {
        this.#partitions.set(keyOf(topic, partition), { isHeld: false, isFresh, position, last: -1 });
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
    const isReset = first <= entry.last;
    if (entry.isHeld && !isReset) return;
    const isFresh = entry.isFresh || isReset;
    const position = isFresh ? -1 : entry.position;
    await this.#claim({ topic, partition, position, isFresh });
    Object.assign(entry, { isHeld: true, isFresh: false, position, last: -1 });
  }

  /** The bus has accepted everything up to this offset. */
  accepted(topic: string, partition: number, offset: number): void {
    const entry = this.#partitions.get(keyOf(topic, partition));
    if (!entry) return;
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
    return commitMetadata(this.#partitions.get(keyOf(topic, partition))?.position ?? -1);
  }
}

const METADATA = /^crier:(-1|\d+)$/;

/** Also the start of a new group is a commit, by which no record was accepted. */
export const START_METADATA = 'crier:start';

function commitMetadata(position: number): string {
  return `crier:${position}`;
}

/** The position in a commit's metadata; undefined where nobody of us has committed what was accepted. */
export function positionOf(metadata: string): number | undefined {
  const position = METADATA.exec(metadata)?.[1];
  return position === undefined ? undefined : Number(position);
}

function keyOf(topic: string, partition: number): string {
  return `${partition}/${topic}`;
}
