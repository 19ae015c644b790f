import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import kafkajs from 'kafkajs';
import lz4 from 'lz4-napi';
import type * as Group from '../../src/kafka/client/group-consumer.ts';
import type * as Client from '../../src/kafka/client/kafka-client.ts';
import type * as Budget from '../../src/kafka/client/fetching/inflight-budget.ts';
import { readSettings } from '../../src/config/config.ts';
import { createLog } from '../../src/base/log.ts';

/** What the reader needs of @platformatic/kafka, which is installed in loadtest/node_modules. */
interface PlatformaticConsumer {
  consume(options: object): Promise<AsyncIterable<{ partition: number; offset: bigint; value: Buffer }>>;
}

/** Of one run. */
export interface Reading {
  /** User and system CPU after the first quarter of the records, until the last one. */
  readonly cpuMs: number;
  /** Records in this time. */
  readonly measured: number;
  /** Records whose offset does not follow the one before. */
  readonly misplaced: number;
  /** Of resident memory. */
  readonly peakBytes: number;
}

/** The records of a partition that a client has handed over. */
type Take = (partition: number, offsets: Iterable<number>) => void;

const { CLIENT, BUILD, KAFKA_BROKERS, TOPIC, RECORDS } = process.env as Record<string, string>;
const total = Number(RECORDS);
const groupId = `${TOPIC}-${process.pid}`;
const PARTITIONS = 48;
const MAX_INFLIGHT_BYTES = 32 * 1024 * 1024;

/** crier's member of a group, of this build or of another one. */
async function readWithCrier(take: Take): Promise<void> {
  const of = <Module>(file: string) => import(resolve(BUILD!, 'src/kafka/client', file)) as Promise<Module>;
  const { GroupConsumer } = await of<typeof Group>('group-consumer.js');
  const { createKafkaClient } = await of<typeof Client>('kafka-client.js');
  const { InflightBudget } = await of<typeof Budget>('fetching/inflight-budget.js');
  const budget = new InflightBudget(MAX_INFLIGHT_BYTES);
  const consumer = new GroupConsumer(createKafkaClient(readSettings({ KAFKA_BROKERS }), createLog('silent')), {
    ...{ groupId, topics: [TOPIC!], sessionTimeoutMs: 30_000, heartbeatIntervalMs: 3000, rebalanceTimeoutMs: 20_000 },
    ...{ concurrency: 8, budget, maxInflatedBytes: MAX_INFLIGHT_BYTES },
    onBatch: ({ topic, partition, records, resolve: accept }) => {
      take(
        partition,
        records.map(({ offset }) => offset),
      );
      accept(records.at(-1)!.offset);
      budget.releasePartition(`${topic}/${partition}`);
      return Promise.resolve();
    },
    onJoin: () => undefined,
    onFailure: (error) => {
      throw error;
    },
    onEmptyBatch: () => undefined,
  });
  await consumer.start();
}

/** With crier's sizes of a fetch. */
async function readWithKafkajs(take: Take): Promise<void> {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.LZ4] = () => ({
    compress: (encoder: { buffer: Buffer }) => lz4.compressFrame(encoder.buffer),
    decompress: (bytes: Buffer) => lz4.decompressFrame(bytes),
  });
  const kafka = new kafkajs.Kafka({ brokers: KAFKA_BROKERS!.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId, maxBytes: 10_485_760, maxBytesPerPartition: 1_048_576 });
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC!, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    partitionsConsumedConcurrently: 8,
    eachBatch: ({ batch: { partition, messages } }) => {
      take(
        partition,
        messages.map(({ offset }) => Number(offset)),
      );
      return Promise.resolve();
    },
  });
}

/** Through its stream, as its documentation has it, with crier's sizes of a fetch. */
async function readWithPlatformatic(take: Take): Promise<void> {
  const load = createRequire(resolve('loadtest/package.json'));
  const { Consumer } = load('@platformatic/kafka') as { Consumer: new (options: object) => PlatformaticConsumer };
  const bootstrapBrokers = KAFKA_BROKERS!.split(',');
  const consumer = new Consumer({ clientId: 'reader', groupId, bootstrapBrokers, autocommit: false });
  const sizes = { maxBytes: 10_485_760, maxBytesPerPartition: 1_048_576, maxWaitTime: 250 };
  const stream = await consumer.consume({ topics: [TOPIC], mode: 'earliest', ...sizes });
  for await (const { partition, offset } of stream) take(partition, [Number(offset)]);
}

const CLIENTS: Readonly<Record<string, (take: Take) => Promise<void>>> = {
  crier: readWithCrier,
  kafkajs: readWithKafkajs,
  '@platformatic/kafka': readWithPlatformatic,
};

/** The last offset of each partition. The topics have no gaps. */
const last = new Int32Array(PARTITIONS).fill(-1);
let records = 0;
let misplaced = 0;
let begun: { cpu: NodeJS.CpuUsage; records: number } | undefined;

await CLIENTS[CLIENT!]!((partition, offsets) => {
  for (const offset of offsets) {
    records++;
    if (offset !== last[partition]! + 1) misplaced++;
    last[partition] = offset;
  }
  if (!begun && records >= total / 4) begun = { cpu: process.cpuUsage(), records };
  if (records < total) return;
  const { user, system } = process.cpuUsage(begun!.cpu);
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const reading = { cpuMs: (user + system) / 1000, measured: records - begun!.records, misplaced, peakBytes };
  process.send!(reading satisfies Reading, () => process.exit());
});
