import { createHash } from 'node:crypto';
import kafkajs from 'kafkajs';
import type { Message as OutgoingRecord, Producer } from 'kafkajs';
import { LogWindow } from '../log.ts';
import type { Logger } from '../log.ts';
import type { PoisonRecord } from './batch.ts';
import type { KafkaClient } from './client.ts';
import type { Cluster } from './cluster.ts';
import { KafkaLink } from './kafka-link.ts';

/** Below the brokers' default `max.message.bytes` (1,048,588), which leaves room for headers and framing. */
const MAX_BODY_BYTES = 1_000_000;
const WRITE_TIMEOUT_MS = 5000;
const LOG_WINDOW_MS = 10_000;

export interface DeadLetterOptions {
  readonly topic: string;
  readonly createClient: () => KafkaClient;
  readonly log: Logger;
  /** Poison records that could not be written. */
  readonly onFailure: (records: number) => void;
}

/**
 * Writes poison records to the dead-letter topic: key and value as they were, headers saying why and whence.
 * A record that cannot be written within 5 s is logged with its coordinates, counted and given up.
 */
export class DeadLetter {
  readonly #options: DeadLetterOptions;
  readonly #failureLog = new LogWindow(LOG_WINDOW_MS);
  readonly #link: KafkaLink<Producer>;
  #isTopicReady = false;

  constructor(options: DeadLetterOptions) {
    this.#options = options;
    this.#link = new KafkaLink({
      createClient: options.createClient,
      // Named, though it is the default: kafkajs warns otherwise.
      createPart: (kafka) =>
        kafka.producer({ allowAutoTopicCreation: false, createPartitioner: kafkajs.Partitioners.DefaultPartitioner }),
      timeoutMs: WRITE_TIMEOUT_MS,
    });
  }

  /** Creates the topic where it is missing, with the brokers' defaults. Best effort, once: a refusal is logged. */
  async createTopic(cluster: Pick<Cluster, 'existingTopics' | 'createTopic'>): Promise<void> {
    if (this.#isTopicReady) return;
    const { topic, log } = this.#options;
    const existing = await cluster.existingTopics([topic]);
    this.#isTopicReady = true;
    if (existing.length > 0) return;
    try {
      await cluster.createTopic(topic);
      log.info({ topic }, 'dead-letter topic created');
    } catch (error) {
      log.warn({ topic, error: (error as Error).message }, 'the dead-letter topic could not be created: create it');
    }
  }

  /** Never rejects. Resolves when every record was written or given up. */
  async write(poison: readonly PoisonRecord[]): Promise<void> {
    let written = 0;
    try {
      for (const group of groupsOf(poison)) {
        await this.#writeGroup(group);
        written += group.length;
      }
    } catch (error) {
      this.#giveUp(poison.slice(written), error as Error);
    }
  }

  /** Bounded by 5 s. Idempotent. */
  close(): Promise<void> {
    return this.#link.close();
  }

  async #writeGroup(group: readonly PoisonRecord[]): Promise<void> {
    try {
      await this.#send(group.map((one) => deadRecord(one, MAX_BODY_BYTES)));
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      // The topic allows less than the default: say at least what there was.
      await this.#send(group.map((one) => deadRecord(one, 0)));
    }
  }

  async #send(messages: OutgoingRecord[]): Promise<void> {
    const { topic } = this.#options;
    await this.#link.use((producer) => producer.send({ topic, messages, timeout: WRITE_TIMEOUT_MS }));
  }

  #giveUp(group: readonly PoisonRecord[], error: Error): void {
    const { log, topic: deadLetterTopic, onFailure } = this.#options;
    onFailure(group.length);
    this.#failureLog.run('write', (suppressed) => {
      const records = group
        .slice(0, 20)
        .map(({ record: { topic, partition, offset }, reason }) => ({ topic, partition, offset, reason }));
      log.error(
        { deadLetterTopic, records, recordCount: group.length, error: error.message, suppressed },
        'poison records could not be written to the dead-letter topic',
      );
    });
  }
}

/** kafkajs sends one batch per partition and call, and a batch must stay under `max.message.bytes`, too. */
function* groupsOf(poison: readonly PoisonRecord[]): Generator<PoisonRecord[]> {
  let group: PoisonRecord[] = [];
  let bytes = 0;
  for (const one of poison) {
    const size = Math.min(MAX_BODY_BYTES, bodyBytes(one)) + 1000;
    if (group.length > 0 && bytes + size > MAX_BODY_BYTES) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(one);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

function isTooLarge(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('type' in cause && (cause.type === 'MESSAGE_TOO_LARGE' || cause.type === 'RECORD_LIST_TOO_LARGE')) return true;
  }
  return false;
}

function bodyBytes({ record: { key, value } }: PoisonRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}

function deadRecord(poison: PoisonRecord, maxBytes: number): OutgoingRecord {
  const { topic, partition, offset, timestamp, key, value } = poison.record;
  const isUnknown = poison.record.poison !== undefined;
  const isValueOmitted = isUnknown || (value !== null && bodyBytes(poison) > maxBytes);
  const isKeyOmitted = isUnknown || (key !== null && key.length > maxBytes);
  return {
    key: isKeyOmitted ? null : key,
    value: isValueOmitted ? null : value,
    headers: {
      'crier-reason': poison.reason,
      'crier-topic': topic,
      'crier-partition': `${partition}`,
      'crier-offset': offset,
      'crier-timestamp': timestamp,
      ...(!isUnknown && { 'crier-value-bytes': `${value?.length ?? 0}`, 'crier-value-sha256': sha256(value) }),
      ...(isValueOmitted && { 'crier-value-omitted': 'true' }),
      ...(isKeyOmitted && { 'crier-key-omitted': 'true' }),
    },
  };
}

function sha256(value: Buffer | null): string {
  return createHash('sha256')
    .update(value ?? '')
    .digest('hex');
}
