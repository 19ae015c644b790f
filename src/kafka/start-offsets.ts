import { START_METADATA, positionOf } from './claims.ts';
import type { PartitionStart } from './claims.ts';
import type { Cluster, PartitionMap } from './cluster.ts';

export interface PartitionOffset {
  readonly topic: string;
  readonly partition: number;
  /** Of the next record to read, in decimal. */
  readonly offset: string;
  readonly metadata: string;
}

/**
 * Where a new group starts: at the ends that the partitions had when this process first saw them. "Latest", asked at
 * the first fetch, would lose records: every rebalance before the first commit moves it. So the ends are taken down
 * before the group is joined, and committed before anything is read.
 *
 * A partition of which no end was taken down is read from its oldest record: it came into being after us. Holds one
 * number for each partition of the topics.
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

  /** Where the group's records go on, as it is before anything new is committed. */
  async starts(assignment: PartitionMap<unknown>): Promise<PartitionMap<PartitionStart>> {
    const topics = [...assignment.keys()];
    if (topics.length === 0) return new Map();
    const committed = await this.#cluster.committedOffsets(this.#groupId, topics);
    const ranges = await this.#cluster.partitionRanges(topics);
    const startOf = (topic: string, partition: number): PartitionStart => {
      const commit = committed.get(topic)?.get(partition);
      const range = ranges.get(topic)?.get(partition);
      const position = commit && positionOf(commit.metadata);
      const isInside = commit && range && range.low <= commit.offset && commit.offset <= range.end;
      return position === undefined || !isInside ? { position: -1, isFresh: true } : { position, isFresh: false };
    };
    return new Map(
      Array.from(assignment, ([topic, partitions]) => [
        topic,
        new Map(Array.from(partitions.keys(), (partition) => [partition, startOf(topic, partition)])),
      ]),
    );
  }

  /** The assigned partitions for which the group has no committed offset, and where to start them. */
  async uncommitted(assignment: PartitionMap<unknown>): Promise<PartitionOffset[]> {
    const topics = [...assignment.keys()].filter((topic) => this.#ends.has(topic));
    if (topics.length === 0) return [];
    const committed = await this.#cluster.committedOffsets(this.#groupId, topics);
    const missing: PartitionOffset[] = [];
    for (const topic of topics) {
      for (const partition of assignment.get(topic)!.keys()) {
        const end = this.#ends.get(topic)!.get(partition);
        if (end === undefined) continue;
        if (committed.get(topic)?.has(partition)) this.#ends.get(topic)!.delete(partition);
        else missing.push({ topic, partition, offset: `${end}`, metadata: START_METADATA });
      }
    }
    return missing;
  }
}
