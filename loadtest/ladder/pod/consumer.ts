import kafkajs from 'kafkajs';
import type { Convert } from './snake-case-versions.ts';

const TOPIC = 'auction-events';
/** Longer than one event blocks the event loop: at the baseline its 4,000 executions take seconds. */
const SESSION_TIMEOUT_MS = 60_000;

export interface ConsumerOptions {
  readonly brokers: string[];
  readonly groupId: string;
  /** undefined: records are published unchanged. */
  readonly convert: Convert | undefined;
  readonly publish: (auctionId: number, payload: unknown) => Promise<void>;
  readonly onRecord: () => void;
}

interface AuctionRecord extends Record<string, unknown> {
  readonly auction: { readonly auctionId: number };
}

/**
 * Joins the consumer group as kafkajs's documentation shows, and publishes each record before it takes the next. Resolves with a
 * function that leaves the group.
 */
export async function startConsumer(options: ConsumerOptions): Promise<() => Promise<void>> {
  const { brokers, groupId, convert, publish, onRecord } = options;
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.ERROR });
  const consumer = kafka.consumer({ groupId, sessionTimeout: SESSION_TIMEOUT_MS, allowAutoTopicCreation: false });
  const hasJoined = new Promise<void>((resolve) => consumer.on(consumer.events.GROUP_JOIN, () => resolve()));
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: false });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const record = JSON.parse(message.value!.toString()) as AuctionRecord;
      onRecord();
      const { auctionId } = record.auction;
      await publish(auctionId, convert ? convert(record) : record);
    },
  });
  await hasJoined;
  return () => consumer.disconnect();
}
