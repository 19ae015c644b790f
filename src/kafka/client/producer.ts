import kafkajs from 'kafkajs';
import type { RecordHeaders } from '../batch.ts';
import type { KafkaClient } from './kafka-client.ts';

/** A record to write. kafkajs reads it as it is. */
export interface OutgoingRecord {
  readonly key: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers: RecordHeaders;
  /** Milliseconds since the epoch, in decimal. Default: now. */
  readonly timestamp?: string;
  /** Default: by key; any without a key. */
  readonly partition?: number;
}

/** The records of one call that a partition has. */
export interface ProducedRange {
  readonly partition: number;
  /** Of the first record; -1: unknown. */
  readonly offset: number;
  /** The brokers' time, in ms since the epoch; -1: the topic keeps the times of the records. */
  readonly appendedAt: number;
}

export interface ProducerOptions {
  /** A batch whose acknowledgement is lost is sent again, and written once. kafkajs then retries for ever, unless `retry` bounds it. */
  readonly isIdempotent?: boolean;
  readonly retry?: { readonly retries: number; readonly initialRetryTime?: number };
}

/** Writes records to topics that exist, and waits for all in-sync replicas. */
export class Producer {
  readonly #producer: kafkajs.Producer;

  constructor({ kafka }: KafkaClient, { isIdempotent = false, retry }: ProducerOptions = {}) {
    this.#producer = kafka.producer({
      allowAutoTopicCreation: false,
      idempotent: isIdempotent,
      // The default, set explicitly: otherwise kafkajs logs a warning.
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      ...(retry && { retry }),
    });
  }

  connect(): Promise<void> {
    return this.#producer.connect();
  }

  disconnect(): Promise<void> {
    return this.#producer.disconnect();
  }

  /** @param timeoutMs of the brokers, to acknowledge a batch; default: 30 s */
  async produce(topic: string, records: readonly OutgoingRecord[], timeoutMs?: number): Promise<ProducedRange[]> {
    const messages = records as OutgoingRecord[];
    const produced = await this.#producer.send({
      topic,
      messages,
      acks: -1,
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    });
    return produced.map(({ partition, baseOffset = '-1', logAppendTime = '-1' }) => ({
      partition,
      offset: Number(baseOffset),
      appendedAt: Number(logAppendTime),
    }));
  }
}

/** The partition, of these, that a record gets by its key. */
export function partitionerOf(
  topic: string,
  partitions: readonly number[],
): (record: Pick<OutgoingRecord, 'key' | 'value'>) => number {
  const partitionOf = kafkajs.Partitioners.DefaultPartitioner();
  const partitionMetadata = partitions.map((partitionId) => ({
    partitionId,
    leader: 0,
    replicas: [],
    isr: [],
    partitionErrorCode: 0,
  }));
  return (message) => partitionOf({ topic, partitionMetadata, message });
}
