import { Redis } from 'ioredis';
import kafkajs from 'kafkajs';
import { serveRecordCounter } from '../story/pods/record-counter.ts';

/** A worker of stock kafkajs, as its documentation has it: it publishes each record with the header of crier's messages. */
const { KAFKA_BROKERS, KAFKA_GROUP_ID, POD_NAME, REDIS_URL, TOPIC, CHANNEL } = process.env as Record<string, string>;

const kafka = new kafkajs.Kafka({
  clientId: POD_NAME!,
  brokers: KAFKA_BROKERS!.split(','),
  logLevel: kafkajs.logLevel.NOTHING,
});
const redis = new Redis(REDIS_URL!);
const countRecord = serveRecordCounter();
const consumer = kafka.consumer({ groupId: KAFKA_GROUP_ID! });
await consumer.connect();
await consumer.subscribe({ topic: TOPIC!, fromBeginning: true });
await consumer.run({
  eachMessage: async ({ partition, message: { offset, timestamp, value } }) => {
    await redis.publish(CHANNEL!, `@${partition} ${offset} ${timestamp} 0\n${value?.toString() ?? ''}`);
    countRecord();
  },
});
process.once('SIGTERM', () => {
  void consumer.disconnect().finally(() => process.exit(0));
});
