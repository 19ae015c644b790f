import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { createTopics } from '../../../deploy/topics.ts';
import { TOPIC } from './copies.ts';

const ARRIVAL_TIMEOUT_MS = 10_000;

/** Creates what is not there yet. */
export async function createStoryTopics(brokers: string, partitions: number): Promise<void> {
  await createTopics(brokers, [
    { topic: TOPIC, numPartitions: partitions },
    { topic: 'crier-dead-letter', numPartitions: 1 },
  ]);
}

/** The topic's end: how many records have been written to it. */
export class TopicEnd {
  readonly #admin: Admin;

  constructor(brokers: string) {
    this.#admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
  }

  async start(): Promise<void> {
    await this.#admin.connect();
  }

  async read(): Promise<number> {
    const partitions = await this.#admin.fetchTopicOffsets(TOPIC);
    return partitions.reduce((sum, { high }) => sum + Number(high), 0);
  }

  /** Records that a consumer group has not committed yet. A partition of which it has committed nothing counts as consumed. */
  async lag(groupId: string): Promise<number> {
    // In this order: a position that was read before the end can only overstate the lag.
    const [committed] = await this.#admin.fetchOffsets({ groupId, topics: [TOPIC] });
    const ends = new Map((await this.#admin.fetchTopicOffsets(TOPIC)).map(({ partition, high }) => [partition, high]));
    return committed!.partitions.reduce((lag, { partition, offset }) => {
      return offset === '-1' ? lag : lag + Math.max(0, Number(ends.get(partition) ?? offset) - Number(offset));
    }, 0);
  }

  /** Writers tell nothing of a record's arrival. @throws Error when the end is not there in time. */
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
