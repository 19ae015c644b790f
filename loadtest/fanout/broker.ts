import kafkajs from 'kafkajs';
import { AUCTION_TOPIC } from './auction.ts';

/** Partitions of the auctions' topic. */
const PARTITIONS = 4;
const WARM_UP_TOPIC = 'warm-up';
/** Records that warm the broker up, each sent and fetched by a request of its own. */
const WARM_UP_RECORDS = 6000;
const CONCURRENT_SENDS = 4;

/**
 * Creates the topic, and warms the broker up: its virtual machine interprets the code of the first thousands of requests, and a closed loop
 * sends few.
 */
export async function prepareBroker(brokers: string): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topics = [
    { topic: AUCTION_TOPIC, numPartitions: PARTITIONS },
    { topic: WARM_UP_TOPIC, numPartitions: 1 },
  ];
  await admin.createTopics({ topics });
  await admin.disconnect();
  await warmUp(kafka);
}

async function warmUp(kafka: kafkajs.Kafka): Promise<void> {
  const consumer = kafka.consumer({ groupId: WARM_UP_TOPIC });
  const producer = kafka.producer();
  await Promise.all([consumer.connect(), producer.connect()]);
  await consumer.subscribe({ topic: WARM_UP_TOPIC, fromBeginning: true });
  let received = 0;
  const allReceived = new Promise<void>((resolve, reject) => {
    const eachMessage = () => {
      if (++received === WARM_UP_RECORDS) resolve();
      return Promise.resolve();
    };
    consumer.run({ eachMessage }).catch(reject);
  });
  const value = 'r'.repeat(2048);
  let sent = 0;
  const send = async () => {
    while (sent++ < WARM_UP_RECORDS) await producer.send({ topic: WARM_UP_TOPIC, messages: [{ value }], acks: 1 });
  };
  await Promise.all(Array.from({ length: CONCURRENT_SENDS }, send));
  await allReceived;
  await Promise.all([consumer.disconnect(), producer.disconnect()]);
}
