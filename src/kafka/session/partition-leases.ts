import { randomUUID } from 'node:crypto';
import type { PartitionLease, Skips } from '../../bus/publisher.ts';
import { StateLostError } from '../../base/errors.ts';
import type { PartitionMap } from '../client/cluster.ts';
import { partitionKey } from '../partition-key.ts';
import type { TopicPartition } from '../partition-key.ts';
import { commitMetadata } from './commit-metadata.ts';
import type { ResumePoint } from './commit-metadata.ts';

interface Partition extends TopicPartition {
  isLeased: boolean;
  /** True once it was leased in this ownership and its next records follow those that were accepted. */
  isContinued: boolean;
  /** Of its last lease; undefined: the bus skips no message. */
  skips: Skips | undefined;
  startId: string | undefined;
  position: number;
  /** Of the bus when the offset was committed; undefined: they are not known, or of other records. */
  positions: string | undefined;
  readonly topicId: string | undefined;
  /** Offset of the last record that the bus accepted in this ownership; -1: none. Less after `rewind`. */
  last: number;
  /** The greatest `last` so far. */
  handled: number;
  /** Offset of the last `rewind`, until the partition is leased again. */
  rewoundTo: number | undefined;
  /** Calls of `rewind`. */
  rewinds: number;
}

/**
 * The bus leases of the assigned partitions. A partition is leased before its first publish in each ownership, and again after the bus
 * has fenced it. Assigns a new start id when offsets restart. Holds one entry for each assigned partition.
 */
export class PartitionLeases {
  readonly #acquire: (lease: PartitionLease) => Promise<Skips | undefined>;
  readonly #signatures: ReadonlyMap<string, string>;
  readonly #partitions = new Map<string, Partition>();

  /** @param signatures of the states that the worker keeps, by topic */
  constructor(
    acquire: (lease: PartitionLease) => Promise<Skips | undefined>,
    signatures: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#acquire = acquire;
    this.#signatures = signatures;
  }

  /** Forgets the other partitions. */
  retain(isKept: (topic: string, partition: number) => boolean): void {
    for (const [key, { topic, partition }] of this.#partitions)
      if (!isKept(topic, partition)) this.#partitions.delete(key);
  }

  /** The ownership of these partitions begins. */
  assign(resumePoints: PartitionMap<ResumePoint>): void {
    for (const [topic, partitions] of resumePoints) {
      for (const [partition, { position, positions, startId, topicId }] of partitions) {
        const lease = {
          topic,
          partition,
          isLeased: false,
          isContinued: false,
          skips: undefined,
          startId,
          position,
          positions,
          topicId,
        };
        const read = { last: -1, handled: -1, rewoundTo: undefined, rewinds: 0 };
        this.#partitions.set(partitionKey(topic, partition), { ...lease, ...read });
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
    if (first <= entry.last) {
      const beginning = { isLeased: false, isContinued: false, startId: randomUUID(), positions: undefined };
      Object.assign(entry, { ...beginning, position: -1, last: -1, handled: -1 });
    }
    if (entry.isLeased) return;
    const { position, positions, skips, startId, isContinued: keepsSkips } = entry;
    const states = signature === undefined ? {} : { signature };
    const places = skips || positions !== undefined ? { positions, keepsSkips } : {};
    entry.skips = await this.#acquire({ topic, partition, position, startId, ...states, ...places });
    entry.isLeased = true;
    entry.isContinued = true;
    entry.rewoundTo = undefined;
  }

  /** The bus has accepted every record up to this offset. */
  accept(topic: string, partition: number, offset: number): void {
    const entry = this.#partitions.get(partitionKey(topic, partition));
    if (!entry) return;
    // A place that was away does not know the start id yet. A partition with states waits for every place.
    if (!entry.skips || this.#signatures.has(topic)) entry.startId = undefined;
    entry.position = Math.max(entry.position, offset);
    entry.last = offset;
    this.handle(topic, partition, offset);
  }

  /** The poison records up to this offset are dead-lettered, although a rewind keeps the batch from being accepted. */
  handle(topic: string, partition: number, offset: number): void {
    const entry = this.#partitions.get(partitionKey(topic, partition));
    if (entry) entry.handled = Math.max(entry.handled, offset);
  }

  /** The bus has fenced the partition: the next `acquire` leases it again. */
  drop(topic: string, partition: number): void {
    const entry = this.#partitions.get(partitionKey(topic, partition));
    if (entry) entry.isLeased = false;
  }

  /** The partition is read again from this offset, since the bus has skipped messages from there on. */
  rewind(topic: string, partition: number, from: number): void {
    const entry = this.#partitions.get(partitionKey(topic, partition));
    if (!entry) return;
    Object.assign(entry, { isLeased: false, isContinued: false, last: from - 1, rewoundTo: from });
    entry.rewinds++;
  }

  /** True if the skipped messages would be accepted now, and the partition is not rewound for them yet. */
  canRetake(topic: string, partition: number): boolean {
    const { skips, rewoundTo } = this.#partitions.get(partitionKey(topic, partition)) ?? {};
    return rewoundTo === undefined && skips?.canRetake() === true;
  }

  /** Calls of `rewind`: a batch that has begun before the last one must not be accepted. */
  rewindsOf(topic: string, partition: number): number {
    return this.#partitions.get(partitionKey(topic, partition))?.rewinds ?? 0;
  }

  /** Offset of the first record with a message that the bus has skipped, until the partition is leased to publish it; undefined: none. */
  skippedFrom(topic: string, partition: number): number | undefined {
    const { isContinued, skips, rewoundTo } = this.#partitions.get(partitionKey(topic, partition)) ?? {};
    if (rewoundTo !== undefined) return rewoundTo;
    return isContinued ? skips?.from() : undefined;
  }

  /** Offset up to which records were accepted, or dead-lettered, in this ownership, before any rewind; -1: none. */
  handledUpTo(topic: string, partition: number): number {
    return this.#partitions.get(partitionKey(topic, partition))?.handled ?? -1;
  }

  /** Metadata of a commit, from which the partition's next owner resumes; undefined until the partition is positioned. */
  metadataOf(topic: string, partition: number): string | undefined {
    const entry = this.#partitions.get(partitionKey(topic, partition));
    if (!entry) return undefined;
    const from = this.skippedFrom(topic, partition);
    const position = from === undefined ? entry.position : Math.min(entry.position, from - 1);
    const isOurs = entry.isLeased || entry.rewoundTo !== undefined;
    const positions = isOurs ? entry.skips?.positions() : entry.positions;
    return commitMetadata({ position, positions, startId: entry.startId, topicId: entry.topicId });
  }
}
