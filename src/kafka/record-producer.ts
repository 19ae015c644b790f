import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Cluster } from './client/cluster.ts';
import { KafkaLink } from './client/kafka-link.ts';
import type { KafkaClient } from './client/kafka-client.ts';
import { hasType, isMissingTopic, isRetriesExceeded } from './client/kafka-errors.ts';
import { Producer } from './client/producer.ts';
import type { ProducedRange } from './client/producer.ts';
import { PRODUCE_TIMEOUT_MS, ProduceError } from './produce-outcome.ts';

/** The link's sockets are destroyed before, so that no retry writes a record whose producer has given up. */
const LINK_TIMEOUT_MS = 4500;
/** Brokers answer within this time, or refuse. */
const ACKNOWLEDGE_TIMEOUT_MS = 4000;
/** Retries begin within this time, so that the last refusal is known before the link ends. */
const RETRY_TIME_MS = 3500;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 1000;
/** Topics with a link. Beyond them, the one that was used least recently loses it. */
const MAX_LINKS = 100;

export interface ProducedRecord {
  readonly topic: string;
  /** null: any partition. */
  readonly key: string | null;
  /** null: a tombstone. */
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where a record is, once all in-sync replicas have it. */
export interface ProducedPosition {
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Answers after which a record is certainly not in its topic. */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'CORRUPT_MESSAGE',
  'POLICY_VIOLATION',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'NOT_ENOUGH_REPLICAS',
]);

/**
 * Writes records with idempotent producers that wait for all in-sync replicas, one for each topic: a broker serves one request of a
 * connection at a time, and kafkajs gives all topics of a producer up for one that has no metadata. They connect at the first record. A
 * retry cannot write a record twice, and none follows an error.
 */
export class RecordProducer {
  readonly #createClient: () => KafkaClient;
  readonly #cluster: Cluster;
  /** Of topics that existed at the last record. kafkajs would wait for others. */
  readonly #links = new LRUCache<string, KafkaLink<Producer>>({ max: MAX_LINKS, dispose: (link) => link.retire() });

  constructor(createClient: () => KafkaClient) {
    this.#createClient = createClient;
    this.#cluster = new Cluster(createClient);
  }

  /** @throws ProduceError within 5 s */
  async send(record: ProducedRecord): Promise<ProducedPosition> {
    const { topic } = record;
    const timestamp = Date.now();
    const progress: Progress = { isOver: false, mayBeWritten: false };
    const attempt = this.#linkOf(topic).then((link) =>
      link.use((producer) => this.#produce(producer, record, timestamp, progress)),
    );
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${PRODUCE_TIMEOUT_MS} ms`)), PRODUCE_TIMEOUT_MS);
    });
    try {
      const outcome = await Promise.race([attempt, timeout]);
      if (outcome instanceof Error) throw outcome;
      const { partition, offset, appendedAt } = outcome;
      return { partition, offset, timestamp: appendedAt >= 0 ? appendedAt : timestamp };
    } catch (error) {
      if (isMissingTopic(error)) this.#links.delete(topic);
      if (progress.mayBeWritten) this.#abandon(topic);
      attempt.catch(() => undefined);
      const isRefused = hasType(error, REFUSALS);
      throw new ProduceError(progress.mayBeWritten ? 'unconfirmed' : isRefused ? 'refused' : 'unwritten', error);
    } finally {
      progress.isOver = true;
      clearTimeout(timer);
    }
  }

  /** Waits for records that are being sent. Bounded by 5 s. Idempotent. */
  async close(): Promise<void> {
    this.#cluster.close();
    await Promise.all(Array.from(this.#links.values(), (link) => link.close()));
  }

  async #linkOf(topic: string): Promise<KafkaLink<Producer>> {
    if (!this.#links.has(topic) && !(await this.#exists(topic))) throw new MissingTopicError(topic);
    const link = this.#links.get(topic) ?? this.#createLink();
    this.#links.set(topic, link);
    return link;
  }

  /**
   * The next record gets another producer. kafkajs gives the sequence number of a record without an answer to the next one of its partition: a
   * broker that has written the first would confirm the second, and not write it.
   */
  #abandon(topic: string): void {
    this.#links.get(topic)?.destroy();
    this.#links.delete(topic);
  }

  #createLink(): KafkaLink<Producer> {
    return new KafkaLink({
      createClient: this.#createClient,
      // The fewest retries that an idempotent producer may have.
      createEndpoint: (client) =>
        new Producer(client, { isIdempotent: true, retry: { initialRetryTime: FIRST_DELAY_MS, retries: 1 } }),
      timeoutMs: LINK_TIMEOUT_MS,
    });
  }

  async #exists(topic: string): Promise<boolean> {
    return (await this.#cluster.existingTopics([topic])).length > 0;
  }

  /**
   * Retries what the brokers may yet take; kafkajs's own retries would go on for a topic that no longer exists. A refusal is returned, which
   * leaves the link as it is. Other errors are thrown.
   */
  async #produce(
    producer: Producer,
    { topic, key, value, headers }: ProducedRecord,
    timestamp: number,
    progress: Progress,
  ): Promise<ProducedRange | Error> {
    const until = performance.now() + RETRY_TIME_MS;
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
      if (progress.isOver) throw new Error('the record was given up before it was sent');
      const { mayBeWritten } = progress;
      progress.mayBeWritten = true;
      try {
        const records = [{ key, value, headers, timestamp: String(timestamp) }];
        const [range] = await producer.produce(topic, records, ACKNOWLEDGE_TIMEOUT_MS);
        return range ?? new Error('kafkajs reports no position');
      } catch (error) {
        const isRefused = hasType(error, REFUSALS);
        if (isRefused) progress.mayBeWritten = mayBeWritten;
        if (isMissingTopic(error) && !(await this.#exists(topic).catch(() => true))) {
          progress.mayBeWritten = false;
          return new MissingTopicError(topic);
        }
        if (!isRetriesExceeded(error) || performance.now() + delayMs > until) {
          if (isRefused) return error as Error;
          throw error;
        }
      }
      await delay(delayMs);
    }
  }
}

/** Of one record. */
interface Progress {
  /** Its caller waits no longer. */
  isOver: boolean;
  /** An attempt to write it has begun that no broker has refused. */
  mayBeWritten: boolean;
}

/** A refusal that no broker has answered. */
class MissingTopicError extends Error {
  readonly type = 'UNKNOWN_TOPIC_OR_PARTITION';

  constructor(topic: string) {
    super(`the topic "${topic}" does not exist, or may not be seen`);
  }
}
