import type { Logger } from '../log.ts';
import type { Cluster } from './kafkajs/cluster.ts';

/** Finds out which of the consumer's topics exist, and with how many partitions. Logs each missing topic once. */
export class TopicDiscovery {
  readonly #cluster: Pick<Cluster, 'existingTopics' | 'partitionCounts'>;
  /** They may be replaced at any time. */
  topics: readonly string[];
  readonly #log: Logger;
  #missing: readonly string[] = [];
  /** By topic, of those that existed at the last `existing()`: the most that a broker has reported. */
  #partitions: ReadonlyMap<string, number> = new Map();

  constructor(cluster: Pick<Cluster, 'existingTopics' | 'partitionCounts'>, topics: readonly string[], log: Logger) {
    this.#cluster = cluster;
    this.topics = topics;
    this.#log = log;
  }

  /** Topics that did not exist at the last `existing()`. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** @throws what the brokers refuse */
  async existing(): Promise<string[]> {
    const existing = await this.#cluster.existingTopics(this.topics);
    const counts = await this.#cluster.partitionCounts(existing);
    // Brokers learn of new partitions one after the other.
    this.#partitions = new Map(
      Array.from(counts, ([topic, count]) => [topic, Math.max(count, this.#partitions.get(topic) ?? 0)]),
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

  /** True if a missing topic exists now, or a topic has more partitions. Never rejects: a failure is logged, and counts as false. */
  async hasGrown(): Promise<boolean> {
    try {
      const appeared = this.#missing.length > 0 ? await this.#cluster.existingTopics(this.#missing) : [];
      if (appeared.length > 0) {
        this.#log.info({ topics: appeared }, 'topics appeared');
        return true;
      }
      const grown = await this.#grownTopics();
      if (grown.length > 0) this.#log.info({ topics: grown }, 'topics have new partitions');
      return grown.length > 0;
    } catch (error) {
      const { name, message } = error as Error;
      this.#log.debug({ err: { message: `${name}: ${message}` } }, 'looking for topics and partitions failed');
      return false;
    }
  }

  async #grownTopics(): Promise<string[]> {
    const known = this.#partitions;
    const counts = await this.#cluster.partitionCounts([...known.keys()]);
    return [...counts].filter(([topic, count]) => count > known.get(topic)!).map(([topic]) => topic);
  }
}
