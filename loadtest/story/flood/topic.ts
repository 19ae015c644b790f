import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { createTopics } from '../../../stack/topics.ts';
import { TOPIC } from './copies.ts';

const ARRIVAL_TIMEOUT_MS = 10_000;
/** Longest wait for a broker that has just started and coordinates no groups yet. */
const COORDINATOR_TIMEOUT_MS = 60_000;
const COORDINATOR_POLL_MS = 100;

/** Creates the topics that do not exist. */
export async function createStoryTopics(brokers: string, partitions: number): Promise<void> {
  await createTopics(brokers, [
    { topic: TOPIC, numPartitions: partitions },
    { topic: 'crier-dead-letter', numPartitions: 1 },
  ]);
}

/** Reads the end offsets of the topic and a consumer group's lag. */
export class TopicEnd {
  readonly #admin: Admin;

  constructor(brokers: string) {
    this.#admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
  }

  async start(): Promise<void> {
    await this.#admin.connect();
  }

  /** Number of records in the topic. */
  async read(): Promise<number> {
    const partitions = await this.#admin.fetchTopicOffsets(TOPIC);
    return partitions.reduce((sum, { high }) => sum + Number(high), 0);
  }

  /** Records that a consumer group has not committed. A partition without a committed offset counts as consumed. */
  async lag(groupId: string): Promise<number> {
    // Committed offsets first: read later, they would understate the lag.
    const committed = await this.#committed(groupId);
    const ends = new Map((await this.#admin.fetchTopicOffsets(TOPIC)).map(({ partition, high }) => [partition, high]));
    return committed.reduce((lag, { partition, offset }) => {
      return offset === '-1' ? lag : lag + Math.max(0, Number(ends.get(partition) ?? offset) - Number(offset));
    }, 0);
  }

  async #committed(groupId: string): Promise<readonly { partition: number; offset: string }[]> {
    const deadline = performance.now() + COORDINATOR_TIMEOUT_MS;
    for (;;) {
      try {
        const [committed] = await this.#admin.fetchOffsets({ groupId, topics: [TOPIC] });
        return committed!.partitions;
      } catch (error) {
        const isTransient = error instanceof kafkajs.KafkaJSProtocolError && error.retriable;
        if (!isTransient || performance.now() > deadline) throw error;
        await delay(COORDINATOR_POLL_MS);
      }
    }
  }

  /** Waits until the topic holds `end` records, because writers do not confirm them. @throws Error after 10 s. */
  async waitFor(end: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + ARRIVAL_TIMEOUT_MS;
    for (let records = await this.read(); records < end; records = await this.read()) {
      if (performance.now() > deadline) throw new Error(`of ${end} records written to ${TOPIC} ${records} arrived`);
      await delay(50, undefined, { signal });
    }
  }

  async close(): Promise<void> {
    await this.#admin.disconnect();
  }
}
