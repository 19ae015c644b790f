import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import type { KafkaClient } from './client.ts';
import { KafkaLink } from './kafka-link.ts';

/** Partitions of topics: by topic, then by partition. */
export type PartitionMap<Value> = ReadonlyMap<string, ReadonlyMap<number, Value>>;

export interface PartitionRange {
  /** Offset of the oldest record. */
  readonly low: bigint;
  /** Offset that the next readable record will get: records of open transactions lie behind it. */
  readonly end: bigint;
}

/** What a group has committed for a partition. */
export interface CommittedOffset {
  /** Of the next record to read. */
  readonly offset: bigint;
  readonly metadata: string;
}

const REQUEST_TIMEOUT_MS = 15_000;
const MAX_ATTEMPTS = 5;

/**
 * What the brokers say about topics and groups. Connects when asked, and anew after a failure.
 * Every method throws when the brokers cannot be reached, do not answer within 15 s, or refuse.
 */
export class Cluster {
  readonly #link: KafkaLink<Admin>;

  constructor(createClient: () => KafkaClient) {
    this.#link = new KafkaLink({ createClient, createPart: (kafka) => kafka.admin(), timeoutMs: REQUEST_TIMEOUT_MS });
  }

  /** Those of the topics that exist (and that we may see). */
  existingTopics(topics: readonly string[]): Promise<string[]> {
    return this.#ask(async (admin) => {
      const existing = new Set(await admin.listTopics());
      return topics.filter((topic) => existing.has(topic));
    });
  }

  partitionRanges(topics: readonly string[]): Promise<PartitionMap<PartitionRange>> {
    return this.#ask(async (admin) => {
      const ranges = await Promise.all(
        topics.map(async (topic) => {
          const partitions = await admin.fetchTopicOffsets(topic);
          return [
            topic,
            new Map(partitions.map(({ partition, low, high }) => [partition, { low: BigInt(low), end: BigInt(high) }])),
          ] as const;
        }),
      );
      return new Map(ranges);
    });
  }

  /** Without the partitions for which the group has committed nothing. */
  committedOffsets(groupId: string, topics: readonly string[]): Promise<PartitionMap<CommittedOffset>> {
    return this.#ask(async (admin) => {
      const committed = await admin.fetchOffsets({ groupId, topics: [...topics] });
      return new Map(
        committed.map(({ topic, partitions }) => [
          topic,
          new Map(
            partitions
              .map(
                ({ partition, offset, metadata }) =>
                  [partition, { offset: BigInt(offset), metadata: metadata ?? '' }] as const,
              )
              .filter(([, { offset }]) => offset >= 0n),
          ),
        ]),
      );
    });
  }

  /** With the brokers' defaults. False if it exists already. */
  createTopic(topic: string): Promise<boolean> {
    return this.#ask((admin) => admin.createTopics({ topics: [{ topic }], waitForLeaders: false }));
  }

  /** Cuts what is under way. Idempotent. */
  close(): void {
    this.#link.destroy();
  }

  async #ask<Answer>(question: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#link.use(question);
      } catch (error) {
        // A leader that has just changed, a topic that has just been made: over in a moment.
        if (attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
        await delay(attempt * 50);
      }
    }
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof kafkajs.KafkaJSProtocolError && error.retriable;
}
