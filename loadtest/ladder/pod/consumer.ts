import kafkajs from 'kafkajs';
import type { Convert } from './snake-case-versions.ts';

const TOPIC = 'auction-events';
/** Longer than an event may hold the event loop: 4,000 executions are seconds at the baseline. */
const SESSION_TIMEOUT_MS = 60_000;

export interface ConsumerOptions {
  readonly brokers: string[];
  readonly groupId: string;
  /** undefined: records are published as they came. */
  readonly convert: Convert | undefined;
  readonly publish: (auctionId: number, payload: unknown) => Promise<void>;
  readonly onRecord: () => void;
}

interface AuctionRecord extends Record<string, unknown> {
  readonly auction: { readonly auctionId: number };
}

/** A member of the Kafka group, as kafkajs's documentation shows one: a record at a time, published before the next. Resolves with its end. */
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
