import { randomUUID } from 'node:crypto';
import { parseCommit, startMetadata } from './partition-leases.ts';
import type { PartitionStart } from './partition-leases.ts';
import type { Cluster, PartitionMap } from '../kafkajs/cluster.ts';

export interface PartitionOffset {
  readonly topic: string;
  readonly partition: number;
  /** Of the next record to read, in decimal. */
  readonly offset: string;
  readonly metadata: string;
}

export interface Starts {
  /** Where each assigned partition goes on, once everything of `uncommitted` is committed. */
  readonly starts: PartitionMap<PartitionStart>;
  /** To be committed, and looked at again, before anything is read. */
  readonly uncommitted: PartitionOffset[];
}

/**
 * Where the group's records go on. Where they do not (nothing was committed, or by somebody else, or it lies outside of the
 * partition) is a start: it gets a name and is committed before anything is read. So whoever comes next goes on from the same
 * start, also when no later commit reached Kafka.
 *
 * A new group starts at the ends that the partitions had when this process first saw them. "Latest", asked at the first
 * fetch, would lose records: every rebalance before the first commit moves it. So the ends are taken down before the group
 * is joined. A partition of which no end was taken down is read from its oldest record: it came into being after us. Holds
 * one number for each partition of the topics.
 */
export class StartOffsets {
  readonly #cluster: Pick<Cluster, 'partitionRanges' | 'committedOffsets'>;
  readonly #groupId: string;
  readonly #ends = new Map<string, Map<number, bigint>>();

  constructor(cluster: Pick<Cluster, 'partitionRanges' | 'committedOffsets'>, groupId: string) {
    this.#cluster = cluster;
    this.#groupId = groupId;
  }

  /** Takes down the ends of topics that existed when this process came. */
  async capture(topics: readonly string[]): Promise<void> {
    for (const [topic, partitions] of await this.#cluster.partitionRanges(topics)) {
      this.#ends.set(topic, new Map([...partitions].map(([partition, { end }]) => [partition, end])));
    }
  }

  /** Asks Kafka where the assigned partitions go on. */
  async look(assignment: PartitionMap<unknown>): Promise<Starts> {
    const topics = [...assignment.keys()];
    if (topics.length === 0) return { starts: new Map(), uncommitted: [] };
    const committed = await this.#cluster.committedOffsets(this.#groupId, topics);
    const ranges = await this.#cluster.partitionRanges(topics);
    const uncommitted: PartitionOffset[] = [];
    const startOf = (topic: string, partition: number): PartitionStart => {
      const commit = committed.get(topic)?.get(partition);
      const range = ranges.get(topic)?.get(partition);
      const isInside = commit && (!range || (range.low <= commit.offset && commit.offset <= range.end));
      const known = isInside ? parseCommit(commit.metadata) : undefined;
      if (commit) this.#ends.get(topic)?.delete(partition);
      if (known) return known;
      const start = randomUUID();
      const offset = isInside ? commit.offset : (this.#ends.get(topic)?.get(partition) ?? range?.low ?? 0n);
      uncommitted.push({ topic, partition, offset: `${offset}`, metadata: startMetadata(start) });
      return { position: -1, start };
    };
    const starts = Array.from(assignment, ([topic, partitions]): [string, ReadonlyMap<number, PartitionStart>] => [
      topic,
      new Map(Array.from(partitions.keys(), (partition) => [partition, startOf(topic, partition)])),
    ]);
    return { starts: new Map(starts), uncommitted };
  }
}
