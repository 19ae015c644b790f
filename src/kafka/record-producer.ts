import kafkajs from 'kafkajs';
import type { Producer, RecordMetadata } from 'kafkajs';
import { Cluster } from './kafkajs/cluster.ts';
import { KafkaLink } from './kafkajs/kafka-link.ts';
import type { KafkaClient } from './kafkajs/client.ts';
import { PRODUCE_TIMEOUT_MS, ProduceError } from './produce-outcome.ts';

/** The link's sockets are destroyed before, so that no retry writes a record whose producer has given up. */
const LINK_TIMEOUT_MS = 4500;
/** Brokers answer within this time, or refuse. */
const ACKNOWLEDGE_TIMEOUT_MS = 4000;

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
  /** A 64-bit number in decimal. */
  readonly offset: string;
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
const MISSING_TOPIC = new Set(['UNKNOWN_TOPIC_OR_PARTITION']);
/** A refusal of one record, after which the connection serves the next ones. Others may leave stale metadata in kafkajs. */
const REFUSALS_OF_RECORDS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Writes records with an idempotent producer that waits for all in-sync replicas. It connects at the first record. A retry cannot write a
 * record twice, and none follows an error.
 */
export class RecordProducer {
  readonly #link: KafkaLink<Producer>;
  readonly #cluster: Cluster;
  /** Topics that existed at the last record. kafkajs would wait for others, and stop serving these meanwhile. */
  readonly #existing = new Set<string>();

  constructor(createClient: () => KafkaClient) {
    this.#cluster = new Cluster(createClient);
    this.#link = new KafkaLink({
      createClient,
      createEndpoint: (kafka) =>
        kafka.producer({
          allowAutoTopicCreation: false,
          idempotent: true,
          createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
          retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 8 },
        }),
      timeoutMs: LINK_TIMEOUT_MS,
    });
  }

  /** @throws ProduceError within 5 s */
  async send(record: ProducedRecord): Promise<ProducedPosition> {
    const { topic } = record;
    const timestamp = Date.now();
    let isSent = false;
    let isOver = false;
    const attempt = this.#whenExisting(topic, () =>
      this.#link.use(async (producer) => {
        if (isOver) throw new Error('the record was given up before it was sent');
        isSent = true;
        return produce(producer, record, timestamp);
      }),
    );
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${PRODUCE_TIMEOUT_MS} ms`)), PRODUCE_TIMEOUT_MS);
    });
    try {
      const outcome = await Promise.race([attempt, timeout]);
      if (outcome instanceof Error) throw outcome;
      const logAppendTime = Number(outcome.logAppendTime ?? -1);
      return {
        partition: outcome.partition,
        offset: outcome.baseOffset ?? '-1',
        timestamp: logAppendTime >= 0 ? logAppendTime : timestamp,
      };
    } catch (error) {
      if (isRefusal(error, MISSING_TOPIC)) this.#existing.delete(topic);
      attempt.catch(() => undefined);
      throw new ProduceError(isRefusal(error, REFUSALS) ? 'refused' : isSent ? 'unconfirmed' : 'unwritten', error);
    } finally {
      isOver = true;
      clearTimeout(timer);
    }
  }

  async #whenExisting<Result>(topic: string, send: () => Promise<Result>): Promise<Result> {
    if (!this.#existing.has(topic)) {
      const [found] = await this.#cluster.existingTopics([topic]);
      if (found === undefined) throw new MissingTopicError(`the topic "${topic}" does not exist, or may not be seen`);
      this.#existing.add(topic);
    }
    return send();
  }

  /** Waits for records that are being sent. Bounded by 5 s. Idempotent. */
  close(): Promise<void> {
    this.#cluster.close();
    return this.#link.close();
  }
}

/** A refusal that no broker has answered. */
class MissingTopicError extends Error {
  readonly type = 'UNKNOWN_TOPIC_OR_PARTITION';
}

/** An error that is returned leaves the connection as it is; one that is thrown closes it. */
async function produce(
  producer: Producer,
  { topic, key, value, headers }: ProducedRecord,
  timestamp: number,
): Promise<RecordMetadata | Error> {
  try {
    const [metadata] = await producer.send({
      topic,
      acks: -1,
      timeout: ACKNOWLEDGE_TIMEOUT_MS,
      messages: [{ key, value, headers, timestamp: String(timestamp) }],
    });
    return metadata ?? new Error('kafkajs reports no position');
  } catch (error) {
    if (isRefusal(error, REFUSALS_OF_RECORDS)) return error as Error;
    throw error;
  }
}

function isRefusal(error: unknown, types: ReadonlySet<string>): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('type' in cause && types.has(cause.type as string)) return true;
  }
  return false;
}
