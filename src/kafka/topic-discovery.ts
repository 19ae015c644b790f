import type { Logger } from '../base/log.ts';
import type { Cluster, PartitionMap, TopicPartitions } from './client/cluster.ts';
import { partitionKey } from './partition-key.ts';
import type { TopicPartition } from './partition-key.ts';

type Topics = Pick<Cluster, 'existingTopics' | 'topicPartitions' | 'topicIds'>;

/**
 * Finds out which of the consumer's topics exist, with how many partitions, and which of these have no leader. Logs each missing topic, and
 * each partition that loses its leader, once.
 */
export class TopicDiscovery {
  readonly #cluster: Topics;
  /** They may be replaced at any time. */
  topics: readonly string[];
  readonly #log: Logger;
  #missing: readonly string[] = [];
  /** By topic, of those that existed at the last `existing()`: the most that a broker has reported. */
  #counts: ReadonlyMap<string, number> = new Map();
  /** By topic, of those that existed at the last `existing()`. */
  #ids: ReadonlyMap<string, string> = new Map();
  #leaderless: readonly TopicPartition[] = [];

  constructor(cluster: Topics, topics: readonly string[], log: Logger) {
    this.#cluster = cluster;
    this.topics = topics;
    this.#log = log;
  }

  /** Topics that did not exist at the last `existing()`. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** Partitions of an assignment that had no leader at the last look, or whose leader has not said which records they have (`unknown`). */
  leaderlessOf({
    assignment,
    unknown,
  }: {
    readonly assignment: PartitionMap<unknown>;
    readonly unknown: readonly TopicPartition[];
  }): readonly TopicPartition[] {
    const leaderless = this.#leaderless.filter(({ topic, partition }) => assignment.get(topic)?.has(partition));
    return [...leaderless, ...missingIn(leaderless, unknown)];
  }

  /** @throws what the brokers refuse */
  async existing(): Promise<string[]> {
    const existing = await this.#cluster.existingTopics(this.topics);
    const partitions = await this.#look(existing);
    this.#ids = await this.#cluster.topicIds(existing);
    // Brokers learn of new partitions one after the other.
    this.#counts = new Map(
      Array.from(partitions, ([topic, { count }]) => [topic, Math.max(count, this.#counts.get(topic) ?? 0)]),
    );
    const missing = this.topics.filter((topic) => !existing.includes(topic));
    const unlogged = missing.filter((topic) => !this.#missing.includes(topic));
    this.#missing = missing;
    if (unlogged.length > 0) {
      this.#log.warn(
        { topics: unlogged },
        'topics do not exist: create them, or correct the topic in @kafka. Once they exist, they are read from their beginning',
      );
    }
    return existing;
  }

  /** True if a missing topic exists now, or a topic was created again or has more partitions. Never rejects: a failure is logged, and counts as false. */
  async hasChanged(): Promise<boolean> {
    try {
      const appeared = this.#missing.length > 0 ? await this.#cluster.existingTopics(this.#missing) : [];
      if (appeared.length > 0) {
        this.#log.info({ topics: appeared }, 'topics appeared');
        return true;
      }
      const ids = await this.#cluster.topicIds([...this.#ids.keys()]);
      const recreated = [...ids].filter(([topic, id]) => id !== this.#ids.get(topic)).map(([topic]) => topic);
      if (recreated.length > 0) {
        this.#log.warn(
          { topics: recreated },
          'topics were deleted and created again: they are read from their beginning',
        );
        return true;
      }
      const partitions = await this.#look([...this.#counts.keys()]);
      const grown = [...partitions].filter(([topic, { count }]) => count > this.#counts.get(topic)!);
      if (grown.length > 0) this.#log.info({ topics: grown.map(([topic]) => topic) }, 'topics have new partitions');
      return grown.length > 0;
    } catch (error) {
      const { name, message } = error as Error;
      this.#log.debug({ err: { message: `${name}: ${message}` } }, 'looking for topics and partitions failed');
      return false;
    }
  }

  async #look(topics: readonly string[]): Promise<ReadonlyMap<string, TopicPartitions>> {
    const partitions = await this.#cluster.topicPartitions(topics);
    const before = this.#leaderless;
    const now = [...partitions].flatMap(([topic, { leaderless }]) =>
      leaderless.map((partition) => ({ topic, partition })),
    );
    this.#leaderless = now;
    const lost = missingIn(before, now);
    const regained = missingIn(now, before);
    if (lost.length > 0) {
      this.#log.warn(
        { partitions: lost },
        'partitions have no leader: they wait, the others are read. Bring back a broker that has a replica of them',
      );
    }
    if (regained.length > 0) this.#log.info({ partitions: regained }, 'partitions have a leader again');
    return partitions;
  }
}

/** Those of `partitions` that `list` lacks. */
function missingIn(list: readonly TopicPartition[], partitions: readonly TopicPartition[]): readonly TopicPartition[] {
  const listed = new Set(list.map(({ topic, partition }) => partitionKey(topic, partition)));
  return partitions.filter(({ topic, partition }) => !listed.has(partitionKey(topic, partition)));
}
