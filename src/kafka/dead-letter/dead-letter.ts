import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { poisonFields } from '../batch.ts';
import type { PoisonRecord } from '../batch.ts';
import type { KafkaClient } from '../client/kafka-client.ts';
import type { Cluster } from '../client/cluster.ts';
import { deadRecord, groupsOf, withoutBody } from './dead-record.ts';
import type { DeadRecord } from './dead-record.ts';
import { isMissingTopic, isTooLarge } from '../client/kafka-errors.ts';
import { KafkaLink } from '../client/kafka-link.ts';
import { Producer } from '../client/producer.ts';

const WRITE_TIMEOUT_MS = 5000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2000;
const LOG_WINDOW_MS = 10_000;

export interface DeadLetterOptions {
  readonly topic: string;
  /** WAIT: retry a write until it succeeds. DROP: log, count and drop records whose first write fails. */
  readonly policy: Config['DEAD_LETTER'];
  readonly cluster: Pick<Cluster, 'existingTopics' | 'createTopic'>;
  readonly createClient: () => KafkaClient;
  readonly log: Logger;
  /** Receives the number of records dropped. */
  readonly onDropped: (records: number) => void;
}

/** Writes poison records to the dead-letter topic (see `deadRecord`), and creates the topic if it does not exist. */
export class DeadLetter {
  readonly #options: DeadLetterOptions;
  readonly #log: Logger;
  readonly #failureLog = new LogWindow(LOG_WINDOW_MS);
  readonly #link: KafkaLink<Producer>;
  #isTopicReady = false;
  /** The last attempt to write. One at a time: however many partitions wait, one request at a time goes to an unavailable topic. */
  #attempt: Promise<void> = Promise.resolve();

  constructor(options: DeadLetterOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#link = new KafkaLink({
      createClient: options.createClient,
      createEndpoint: (client) => new Producer(client),
      timeoutMs: WRITE_TIMEOUT_MS,
    });
  }

  /** Creates a missing topic with the brokers' defaults. Never rejects: a failure is logged, and each write retries it. */
  async createTopic(): Promise<void> {
    const { topic, cluster } = this.#options;
    if (this.#isTopicReady) return;
    try {
      const existing = await cluster.existingTopics([topic]);
      if (existing.length === 0 && (await cluster.createTopic(topic)))
        this.#log.info({ deadLetterTopic: topic }, 'dead-letter topic created');
      this.#isTopicReady = true;
    } catch (error) {
      this.#failureLog.run('create', (suppressed) => {
        const { message } = error as Error;
        this.#log.warn(
          { deadLetterTopic: topic, err: { message }, suppressed },
          'creating the dead-letter topic failed: create it by hand',
        );
      });
    }
  }

  /**
   * Resolves when every record is written or dropped. An attempt takes 5 s at most.
   * @throws the signal's reason once it is aborted; some records may be written by then
   */
  async write(poison: readonly PoisonRecord[], signal?: AbortSignal): Promise<void> {
    let written = 0;
    // Copied before the first wait: the records' buffers would keep the whole fetch response in memory.
    const groups = Array.from(
      groupsOf(poison, ({ record }) => record),
      (group) => group.map(deadRecord),
    );
    for (const group of groups) {
      for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
        try {
          await this.#inTurn(() => this.#writeGroup(group), signal);
          break;
        } catch (error) {
          signal?.throwIfAborted();
          if (this.#options.policy === 'DROP') return this.#drop(poison.slice(written), error as Error);
          this.#logWait(poison.slice(written), error as Error);
          await delay(delayMs, undefined, { signal });
        }
      }
      written += group.length;
    }
  }

  /** Bounded by 5 s. Idempotent. */
  close(): Promise<void> {
    return this.#link.close();
  }

  async #inTurn(attempt: () => Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const turn = this.#attempt.then(() => {
      signal?.throwIfAborted();
      return attempt();
    });
    this.#attempt = turn.catch(() => undefined);
    return turn;
  }

  async #writeGroup(group: readonly DeadRecord[]): Promise<void> {
    try {
      await this.createTopic();
      await this.#send(group);
    } catch (error) {
      if (isMissingTopic(error)) this.#isTopicReady = false;
      if (!isTooLarge(error)) throw error;
      // The topic's limit is below the default: write each record alone, and one that is still too large without its body.
      if (group.length === 1) return this.#send(group.map(withoutBody));
      for (const one of group) await this.#writeGroup([one]);
    }
  }

  async #send(messages: readonly DeadRecord[]): Promise<void> {
    await this.#link.use((producer) => producer.produce(this.#options.topic, messages, WRITE_TIMEOUT_MS));
  }

  #logWait(poison: readonly PoisonRecord[], error: Error): void {
    this.#failureLog.run('wait', (suppressed) => {
      this.#log.error(
        { ...this.#lineOf(poison, error), suppressed },
        'writing to the dead-letter topic failed: the partition of the poison records waits',
      );
    });
  }

  /** The line names at most 20 records. */
  #lineOf(poison: readonly PoisonRecord[], { message }: Error): object {
    const { topic: deadLetterTopic } = this.#options;
    const positions = poison.slice(0, 20).map(poisonFields);
    return { deadLetterTopic, positions, records: poison.length, err: { message } };
  }

  #drop(poison: readonly PoisonRecord[], error: Error): void {
    this.#options.onDropped(poison.length);
    this.#failureLog.run('drop', (suppressed) => {
      this.#log.error(
        { ...this.#lineOf(poison, error), suppressed },
        'writing to the dead-letter topic failed: the poison records are dropped',
      );
    });
  }
}
