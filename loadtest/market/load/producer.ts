import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Producer } from 'kafkajs';
import { Latency } from '../../runner/latency.ts';
import type { LatencySummary } from '../../runner/latency.ts';
import { TOPICS } from './market.ts';
import type { Market, MarketRecord } from './market.ts';
import type { Schedule } from './schedule.ts';

const TICK_MS = 5;

/** Writes a market's records in partition order: one request is in flight at a time. */
export class MarketProducer {
  readonly #producer: Producer;

  constructor(brokers: string) {
    const kafka = new kafkajs.Kafka({
      clientId: 'crier-loadtest',
      brokers: [brokers],
      logLevel: kafkajs.logLevel.NOTHING,
    });
    this.#producer = kafka.producer({ maxInFlightRequests: 1, idempotent: true });
  }

  start(): Promise<void> {
    return this.#producer.connect();
  }

  /**
   * Records that become due during a request go with the next one, with their scheduled timestamps. Resolves with the times from schedule
   * to Kafka's acknowledgement.
   */
  async run(schedule: Schedule, market: Market, signal: AbortSignal): Promise<LatencySummary> {
    const acknowledged = new Latency();
    while (!schedule.isDone) {
      const due = schedule.take(now());
      // Kafka's timestamps are whole milliseconds.
      if (due.length > 0) await this.send(due.map((dueAt) => market.next(Math.floor(dueAt))));
      for (const dueAt of due) acknowledged.record(now() - dueAt);
      if (due.length === 0) await delay(TICK_MS, undefined, { signal });
      signal.throwIfAborted();
    }
    return acknowledged.summary();
  }

  async send(records: readonly MarketRecord[]): Promise<void> {
    const topicMessages = TOPICS.map(({ name: topic }) => ({
      topic,
      messages: records
        .filter((record) => record.topic === topic)
        .map(({ partition, key, value, timestamp }) => ({ partition, key, value, timestamp: String(timestamp) })),
    }));
    await this.#producer.sendBatch({ topicMessages: topicMessages.filter(({ messages }) => messages.length > 0) });
  }

  close(): Promise<void> {
    return this.#producer.disconnect();
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
