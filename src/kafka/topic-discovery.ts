import type { Logger } from '../log.ts';
import type { Cluster } from './kafkajs/cluster.ts';

/** Finds out which of the consumer's topics exist. Logs each missing topic once. */
export class TopicDiscovery {
  readonly #cluster: Pick<Cluster, 'existingTopics'>;
  /** They may be replaced at any time. */
  topics: readonly string[];
  readonly #log: Logger;
  #missing: readonly string[] = [];

  constructor(cluster: Pick<Cluster, 'existingTopics'>, topics: readonly string[], log: Logger) {
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

  /** True if a missing topic exists now. Never rejects: a failure is logged, and counts as false. */
  async hasNewTopic(): Promise<boolean> {
    if (this.#missing.length === 0) return false;
    try {
      const topics = await this.#cluster.existingTopics(this.#missing);
      if (topics.length > 0) this.#log.info({ topics }, 'topics appeared');
      return topics.length > 0;
    } catch (error) {
      const { name, message } = error as Error;
      this.#log.debug({ err: { message: `${name}: ${message}` } }, 'looking for missing topics failed');
      return false;
    }
  }
}
