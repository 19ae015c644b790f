import { readFile } from 'node:fs/promises';
import avsc from 'avsc';
import kafkajs from 'kafkajs';

const USAGE = `node examples/orders/produce.js <order id> PLACED|PAID|SHIPPED <total>   writes an order
node examples/orders/produce.js <order id> delete                        deletes it
`;
const BROKERS = process.env['KAFKA_BROKERS'] || '127.0.0.1:9092';
const REGISTRY = process.env['SCHEMA_REGISTRY_URL'] || 'http://127.0.0.1:8081/apis/ccompat/v7';
const TOPIC = 'orders';

/** Registers the schema for the values of the topic. @param {string} schema @returns {Promise<number>} its id */
async function register(schema) {
  const response = await fetch(`${REGISTRY}/subjects/${TOPIC}-value/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema }),
  });
  if (!response.ok) throw new Error(`${REGISTRY}: ${response.status} ${await response.text()}`);
  const { id } = /** @type {{ id: number }} */ (await response.json());
  return id;
}

/** Two's complement, big-endian. Reads the text's digits, because a double has not all of them. @param {string} total */
function decimal(total) {
  const cents = BigInt(total.replace('.', ''));
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(cents);
  return bytes;
}

/** A zero byte, the id of the schema, the record. @param {string} orderId @param {string} status @param {string} total */
async function encode(orderId, status, total) {
  const schema = await readFile(new URL('order.avsc', import.meta.url), 'utf8');
  const header = Buffer.alloc(5);
  header.writeUInt32BE(await register(schema), 1);
  // eslint-disable-next-line @typescript-eslint/no-unsafe-argument -- JavaScript has no cast that this rule sees
  const type = avsc.Type.forSchema(JSON.parse(schema));
  const record = type.toBuffer({ orderId, status, total: decimal(total) });
  return Buffer.concat([header, record]);
}

/** @param {string} key @param {Buffer | null} value null deletes the key: a tombstone */
async function write(key, value) {
  const kafka = new kafkajs.Kafka({
    clientId: 'orders',
    brokers: BROKERS.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 1 },
  });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  try {
    await producer.send({ topic: TOPIC, messages: [{ key, value }] });
  } finally {
    await producer.disconnect();
  }
}

const [orderId, status = '', total = ''] = process.argv.slice(2);
const isOrder = ['PLACED', 'PAID', 'SHIPPED'].includes(status) && /^\d{1,10}\.\d\d$/.test(total);
if (orderId && (isOrder || status === 'delete')) {
  try {
    await write(orderId, isOrder ? await encode(orderId, status, total) : null);
  } catch (error) {
    const { message, cause } = /** @type {Error} */ (error);
    process.stderr.write(`${cause instanceof Error ? cause.message : message}; does "npm run stack" run?\n`);
    process.exitCode = 1;
  }
} else {
  process.stderr.write(USAGE);
  process.exitCode = 1;
}
