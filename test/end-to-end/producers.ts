import { spawn } from 'node:child_process';
import { once } from 'node:events';
import kafkajs from 'kafkajs';
import type { Producer } from 'kafkajs';

/** One record for one partition. The value is JSON with camelCase keys, as producers write it. */
export interface OutgoingRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: string;
  readonly value: string;
}

/** Writes records, in order within each partition. */
export type Produce = (records: readonly OutgoingRecord[]) => Promise<void>;

/** Writes with `kcat -P -K`, one process for each partition. */
export function kcatProducer(brokers: string): Produce {
  return async (records) => {
    await Promise.all([...partitionsOf(records).values()].map((partition) => runKcat(brokers, partition)));
  };
}

async function runKcat(brokers: string, records: readonly OutgoingRecord[]): Promise<void> {
  const { topic, partition } = records[0]!;
  const child = spawn(
    'kcat',
    ['-P', '-b', brokers, '-t', topic, '-p', `${partition}`, '-K', '\t', '-X', 'enable.idempotence=true'],
    { stdio: ['pipe', 'ignore', 'pipe'] },
  );
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const ended = once(child, 'close') as Promise<[number]>;
  // JSON has no raw tabs and line feeds, so they can separate keys and records.
  child.stdin.end(records.map(({ key, value }) => `${key}\t${value}\n`).join(''));
  const [code] = await ended;
  if (code !== 0) throw new Error(`kcat ended with ${code}: ${complaints}`);
}

/** A connected kafkajs producer that sends gzip batches. */
export async function kafkajsProducer(
  scope: { after(fn: () => Promise<void>): void },
  brokers: string,
): Promise<Produce> {
  const kafka = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING });
  const producer: Producer = kafka.producer({ maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  scope.after(() => producer.disconnect());
  return async (records) => {
    const topicMessages = [...partitionsOf(records).values()].map((partition) => ({
      topic: partition[0]!.topic,
      messages: partition.map(({ partition, key, value }) => ({ partition, key, value })),
    }));
    await producer.sendBatch({ topicMessages, compression: kafkajs.CompressionTypes.GZIP });
  };
}

function partitionsOf(records: readonly OutgoingRecord[]): Map<string, OutgoingRecord[]> {
  const partitions = new Map<string, OutgoingRecord[]>();
  for (const record of records) {
    const name = `${record.topic}/${record.partition}`;
    const partition = partitions.get(name);
    if (partition) partition.push(record);
    else partitions.set(name, [record]);
  }
  return partitions;
}

/** Number of members of a consumer group; 0 while it is rebalancing, or has no coordinator yet. */
export async function stableMembers(brokers: string, group: string): Promise<number> {
  const admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const [description] = (await admin.describeGroups([group])).groups;
    return description?.state === 'Stable' ? description.members.length : 0;
  } catch (error) {
    if (error instanceof kafkajs.KafkaJSProtocolError && error.retriable) return 0;
    throw error;
  } finally {
    await admin.disconnect();
  }
}
