import { setTimeout as delay } from 'node:timers/promises';
import { partitionKey } from '../partition-key.ts';
import { withoutErrors } from './patches/partition-errors.ts';
import type { ListedOffsets, RawCluster } from './raw-cluster.ts';

/** Partitions of topics: by topic, then by partition. */
export type PartitionMap<Value> = ReadonlyMap<string, ReadonlyMap<number, Value>>;

export interface PartitionRange {
  /** Offset of the oldest record. */
  readonly low: number;
  /** Offset of the next readable record. */
  readonly end: number;
  /** Offset of the next record: greater than `end` while a transaction is open. */
  readonly high: number;
}

const READ_UNCOMMITTED = 0;
const READ_COMMITTED = 1;
/** Timestamps that stand for an end of the partition. */
const OLDEST = '-2';
const NEWEST = '-1';
const MAX_ATTEMPTS = 5;

type Ranges = ReadonlyMap<string, Map<number, PartitionRange>>;

/**
 * Asks the leader of each partition. Omits partitions that have no leader, and those whose leader does not answer for them while another
 * one does: they must not hold up the others.
 * @throws what the brokers refuse, or if no leader answers
 */
export async function partitionRanges(
  cluster: RawCluster,
  topics: readonly string[],
): Promise<PartitionMap<PartitionRange>> {
  await cluster.addMultipleTargetTopics(topics);
  await cluster.refreshMetadataIfNecessary();
  const ranges: Ranges = new Map(topics.map((topic) => [topic, new Map<number, PartitionRange>()]));
  const unreachable = new Map<string, Error>();
  for (let attempt = 1; ; attempt++) {
    const left = withoutRange(cluster, ranges, (leader) => !unreachable.has(leader));
    // Another request of this cluster may have replaced the metadata by that of its topics.
    const isKnown = topics.every((topic) => cluster.findTopicPartitionMetadata(topic).length > 0);
    if ((isKnown && left.size === 0) || attempt > MAX_ATTEMPTS) break;
    // Such as a leader that has just changed, or a topic that was just created.
    if (attempt > 1) {
      await delay(attempt * 50);
      await cluster.refreshMetadata();
    }
    await Promise.all(
      Array.from(left, ([leader, partitions]) =>
        readRanges(cluster, leader, partitions, ranges).catch((error: Error) => unreachable.set(leader, error)),
      ),
    );
  }
  const [error] = unreachable.values();
  if (error && [...ranges.values()].every(({ size }) => size === 0)) throw error;
  return ranges;
}

/** By the node id of their leader, then by topic. */
type Led = ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;

function withoutRange(cluster: RawCluster, ranges: Ranges, isAsked: (leader: string) => boolean): Led {
  const led = new Map<string, Map<string, number[]>>();
  for (const [topic, known] of ranges) {
    for (const { partitionId, leader } of cluster.findTopicPartitionMetadata(topic)) {
      const node = `${leader}`;
      if (leader < 0 || known.has(partitionId) || !isAsked(node)) continue;
      const topics = led.get(node) ?? new Map<string, number[]>();
      led.set(node, topics.set(topic, [...(topics.get(topic) ?? []), partitionId]));
    }
  }
  return led;
}

/** Leaves out partitions for which the broker answers with an error. */
async function readRanges(
  cluster: RawCluster,
  leader: string,
  topics: ReadonlyMap<string, readonly number[]>,
  ranges: Ranges,
): Promise<void> {
  const broker = withoutErrors(await cluster.findBroker({ nodeId: leader }));
  const list = async (isolationLevel: number, timestamp: string) => {
    const ofPartitions = ([topic, partitions]: readonly [string, readonly number[]]) => ({
      topic,
      partitions: partitions.map((partition) => ({ partition, timestamp })),
    });
    return offsetsOf(await broker.listOffsets({ isolationLevel, topics: Array.from(topics, ofPartitions) }));
  };
  // In this order: what is written in between only widens a range.
  const lows = await list(READ_COMMITTED, OLDEST);
  const ends = await list(READ_COMMITTED, NEWEST);
  const highs = await list(READ_UNCOMMITTED, NEWEST);
  for (const [topic, partitions] of topics) {
    for (const partition of partitions) {
      const key = partitionKey(topic, partition);
      const [low, end, high] = [lows.get(key), ends.get(key), highs.get(key)];
      if (low !== undefined && end !== undefined && high !== undefined)
        ranges.get(topic)!.set(partition, { low, end, high });
    }
  }
}

function offsetsOf({ responses }: ListedOffsets): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  for (const { topic, partitions } of responses) {
    for (const { partition, errorCode, offset } of partitions)
      if (errorCode === 0) offsets.set(partitionKey(topic, partition), Number(offset));
  }
  return offsets;
}
