import { readFile } from 'node:fs/promises';
import avsc from 'avsc';
import kafkajs from 'kafkajs';

const BROKERS = process.env['KAFKA_BROKERS'] || '127.0.0.1:9092';
const REGISTRY = process.env['SCHEMA_REGISTRY_URL'] || 'http://127.0.0.1:8081/apis/ccompat/v7';
const TOPIC = 'orders';
const TOTAL = /^\d{1,10}\.\d\d$/;

/** @param {string} text */
export function isTotal(text) {
  return TOTAL.test(text);
}

/** A producer of the topic, whose records are of `order.avsc`. */
export async function openOrderTopic() {
  const schema = await readFile(new URL('order.avsc', import.meta.url), 'utf8');
  const schemaId = await register(schema);
  // eslint-disable-next-line @typescript-eslint/no-unsafe-argument -- JavaScript has no cast that this rule sees
  const type = avsc.Type.forSchema(JSON.parse(schema));
  const kafka = new kafkajs.Kafka({
    clientId: 'orders',
    brokers: BROKERS.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 1 },
  });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  return {
    /** @param {string} orderId @param {string} status @param {string} total */
    put: (orderId, status, total) => {
      // A zero byte, the id of the schema, the record.
      const header = Buffer.alloc(5);
      header.writeUInt32BE(schemaId, 1);
      const value = Buffer.concat([header, type.toBuffer({ orderId, status, total: decimal(total) })]);
      return producer.send({ topic: TOPIC, messages: [{ key: orderId, value }] });
    },
    /** Writes a tombstone. @param {string} orderId */
    delete: (orderId) => producer.send({ topic: TOPIC, messages: [{ key: orderId, value: null }] }),
    close: () => producer.disconnect(),
  };
}

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
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(total.replace('.', '')));
  return bytes;
}
