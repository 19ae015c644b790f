import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { drive } from './fleet.js';

const USAGE = `node examples/iot-map/produce.js [records per second]   writes positions until Ctrl-C (default 500)
`;
const BROKERS = process.env['KAFKA_BROKERS'] || '127.0.0.1:9092';
const BATCH_MS = 100;

const rate = Number(process.argv[2] ?? 500);
if (!(rate >= 1000 / BATCH_MS && rate <= 50_000)) {
  process.stderr.write(`${USAGE}expected 10 to 50000 records per second\n`);
  process.exit(1);
}

const kafka = new kafkajs.Kafka({
  clientId: 'vehicles',
  brokers: BROKERS.split(','),
  logLevel: kafkajs.logLevel.NOTHING,
  retry: { retries: 1 },
});
const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
const records = drive(Date.now());
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isStopped = true));

try {
  await producer.connect();
  process.stdout.write(`Writing ${rate} records per second to the topic "vehicles"; Ctrl-C ends it.\n`);
  while (!isStopped) {
    const messages = Array.from({ length: (rate * BATCH_MS) / 1000 }, () => {
      const { key, value } = records.next().value;
      return { key, value: value && JSON.stringify(value) };
    });
    await Promise.all([producer.send({ topic: 'vehicles', messages }), delay(BATCH_MS)]);
  }
  await producer.disconnect();
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}; does "npm run stack" run?\n`);
  process.exitCode = 1;
}
