import { Writable } from 'node:stream';
import { after, before } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Admin, Message as OutgoingRecord, Producer } from 'kafkajs';
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { ChannelMessage } from '../../src/bus/bus-message.ts';
import type { PartitionLease } from '../../src/bus/publisher.ts';
import { BusUnavailableError } from '../../src/base/errors.ts';
import type { Conversion, RecordContent } from '../../src/kafka/batch.ts';
import { decodeRecord } from '../../src/kafka/decoding/record.ts';
import { FlowWait } from '../../src/kafka/session/flow-wait.ts';
import { KafkaConsumer } from '../../src/kafka/consumer.ts';
import type { KafkaConsumerOptions } from '../../src/kafka/consumer.ts';
import type { WorkerObserver } from '../../src/kafka/observer.ts';
import { kafkaBrokers, randomName } from '../support/services.ts';
import { testConfig } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';
import { unlimited } from './fake-gateways.ts';
import type { FakeGateways } from './fake-gateways.ts';

export const RECORD_LIMITS = { maxBytes: 4096, maxDepth: 64 };

/** Each payload is for the channel that is named like its topic; tombstones are skipped. */
export function convert({ topic, value }: RecordContent): Conversion {
  if (value === null) return { payload: '', destinations: [] };
  const { payload, poison } = decodeRecord(value, RECORD_LIMITS);
  return poison === undefined ? { payload: JSON.stringify(payload), destinations: [{ channel: topic }] } : { poison };
}

/** A publish port that keeps what it accepted, and can be away or hang. */
export class RecordingBus {
  readonly messages: ChannelMessage[] = [];
  isAway = false;
  isHanging = false;
  attempts = 0;
  readonly leases: PartitionLease[] = [];

  readonly acquire = (lease: PartitionLease): Promise<undefined> => {
    if (this.isAway) return Promise.reject(new BusUnavailableError('away'));
    this.leases.push(lease);
    return Promise.resolve(undefined);
  };

  readonly publish = async (messages: readonly ChannelMessage[]): Promise<void> => {
    this.attempts++;
    if (this.isHanging) return new Promise(() => undefined);
    await delay(1);
    if (this.isAway) throw new BusUnavailableError('away');
    this.messages.push(...messages);
  };

  /** Accepted payloads of a channel, parsed, in order. */
  of(channel: string): { key: string; seq: number }[] {
    return this.messages
      .filter((message) => message.channel === channel)
      .map(({ payload }) => JSON.parse(String(payload)) as { key: string; seq: number });
  }
}

export interface Counts extends WorkerObserver {
  consumed: number;
  published: number;
  poison: string[];
  deadLetterFailures: number;
  rebuilds: string[];
  paused: number;
  waiting: number;
  skipped: number;
  schemaWaits: number;
  stopped: number;
  lag: number;
  /** At the positions. */
  looks: number;
  bytes: number;
  commitFailures: number;
  /** By topic. */
  missed: Record<string, number>;
}

export function countingObserver(): Counts {
  return {
    consumed: 0,
    published: 0,
    poison: [],
    deadLetterFailures: 0,
    rebuilds: [],
    paused: 0,
    waiting: 0,
    skipped: 0,
    schemaWaits: 0,
    stopped: 0,
    lag: -1,
    looks: 0,
    bytes: 0,
    commitFailures: 0,
    missed: {},
    onConsumed(_topic, records, bytes) {
      this.consumed += records;
      this.bytes += bytes;
    },
    onPublished(messages) {
      this.published += messages.length;
    },
    onPoison(_topic, reason) {
      this.poison.push(reason);
    },
    onDeadLetterFailure(records) {
      this.deadLetterFailures += records;
    },
    onRebuild(reason) {
      this.rebuilds.push(reason);
    },
    onPausedPartitions(partitions) {
      this.paused = partitions;
    },
    onWaitingPartitions(partitions) {
      this.waiting = partitions;
    },
    onSkippedPartitions(partitions) {
      this.skipped = partitions;
    },
    onSchemaWaits(partitions) {
      this.schemaWaits = partitions;
    },
    onStoppedPartitions(partitions) {
      this.stopped = partitions;
    },
    onJoin: () => undefined,
    onProgress: () => undefined,
    onPositions(positions) {
      this.looks++;
      this.lag = positions.reduce((sum, { position, high }) => sum + Number(high - position), 0);
    },
    onPositionsUnknown: () => undefined,
    onMissedRecords(topic, records) {
      this.missed[topic] = (this.missed[topic] ?? 0) + records;
    },
    onCommitFailure() {
      this.commitFailures++;
    },
  };
}

/** A logger whose lines can be read. */
export function readableLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { log: pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'info', base: null }, stream), lines };
}

export interface Setup {
  consumer: KafkaConsumer;
  bus: RecordingBus;
  counts: Counts;
  flow: FlowWait;
  lines: string[];
  groupId: string;
  fatal: Error[];
}

/** A consumer of the broker, not started; closed at the end of the test. */
export function createConsumer(
  t: { after(fn: () => Promise<void>): void },
  broker: string,
  topics: readonly string[],
  {
    groupId = randomName('group'),
    bus = new RecordingBus(),
    environment = {},
    gateways = unlimited(),
    ports = {},
  }: {
    groupId?: string;
    bus?: RecordingBus;
    environment?: Record<string, string>;
    gateways?: FakeGateways;
    ports?: Partial<KafkaConsumerOptions>;
  } = {},
): Setup {
  const { log, lines } = readableLog();
  const counts = countingObserver();
  const fatal: Error[] = [];
  const config = testConfig({
    KAFKA_BROKERS: broker,
    REDIS_URL: 'redis://127.0.0.1:1',
    KAFKA_GROUP_ID: groupId,
    KAFKA_SESSION_TIMEOUT_MS: '6000',
    KAFKA_TOPIC_CHECK_INTERVAL_MS: '200',
    KAFKA_DEAD_LETTER_TOPIC: `${groupId}-dead`,
    ...environment,
  });
  const flow = new FlowWait(gateways, log);
  const consumer = new KafkaConsumer({
    config,
    topics,
    convert,
    publish: gateways.before(bus.publish),
    acquire: bus.acquire,
    flow,
    observer: counts,
    log,
    onFatal: (error) => fatal.push(error),
    ...ports,
  });
  t.after(async () => {
    bus.isHanging = false;
    await consumer.close();
    await flow.close();
    if (process.env['TEST_SHOW_LOG']) process.stderr.write(lines.join(''));
  });
  return { consumer, bus, counts, flow, lines, groupId, fatal };
}

/** In a `describe`: its tests have a Kafka, and `use` gets an `Outside` that is connected to it, before the first of them. */
export function withOutside(use: (outside: Outside) => void): void {
  const stops: (() => Promise<void>)[] = [];
  before(async () => {
    const outside = new Outside(await kafkaBrokers({ after: (stop) => stops.push(stop) }));
    await outside.connect();
    stops.unshift(() => outside.close());
    use(outside);
  });
  after(async () => {
    for (const stop of stops) await stop();
  });
}

/** The other side of the broker: makes topics, writes records, reads offsets. */
export class Outside {
  /** `host:port`, comma-separated. */
  readonly brokers: string;
  readonly kafka: kafkajs.Kafka;
  readonly #producer: Producer;

  constructor(brokers: string) {
    this.brokers = brokers;
    this.kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
    this.#producer = this.kafka.producer({
      allowAutoTopicCreation: false,
      idempotent: true,
      // What waits for a broker that is replaced is written soon after.
      retry: { retries: Number.MAX_SAFE_INTEGER, maxRetryTime: 500 },
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
  }

  async connect(): Promise<void> {
    await this.#producer.connect();
    // A fresh broker coordinates no groups yet, and refuses who wants to join one.
    await this.ask((admin) => {
      const coordinator = () => admin.fetchOffsets({ groupId: 'any', topics: [] }).catch(() => undefined);
      return waitFor('a coordinator of groups', coordinator, 30_000);
    });
  }

  async close(): Promise<void> {
    await this.#producer.disconnect();
  }

  /**
   * Asks with a client of its own: tests ask at once, and what an admin of kafkajs learns of one topic replaces what it knows of the others,
   * within their requests; once a topic is deleted, the requests for others fail, too.
   */
  async ask<T>(request: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = this.kafka.admin();
    await admin.connect();
    try {
      return await request(admin);
    } finally {
      await admin.disconnect();
    }
  }

  async createTopic(topic = randomName('topic'), numPartitions = 4, replicationFactor = 1): Promise<string> {
    const config = { topic, numPartitions, replicationFactor };
    await this.ask((admin) => admin.createTopics({ topics: [config], waitForLeaders: false }));
    // kafkajs's own wait gives up too early, and a producer that meets a partition without a leader repeats the others.
    await this.hasLeaders(topic);
    return topic;
  }

  /** Resolves when the broker knows the topic and its leaders. */
  async hasLeaders(topic: string): Promise<void> {
    await this.ask((admin) =>
      waitFor(`the leaders of ${topic}`, async () => {
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] }).catch(() => ({ topics: [] }));
        return topics[0]?.partitions.every(({ leader }) => leader >= 0);
      }),
    );
  }

  /** Resolves with a writer that knows all partitions: an older one learns of them minutes later. */
  async addPartitions(t: { after(fn: () => Promise<void>): void }, topic: string, count: number): Promise<Outside> {
    await this.ask(async (admin) => {
      await admin.createPartitions({ topicPartitions: [{ topic, count }] });
      const isMade = async () =>
        (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]!.partitions.length === count;
      await waitFor('the partitions', () => isMade().catch(() => false));
    });
    await this.hasLeaders(topic);
    const writer = new Outside(this.brokers);
    t.after(() => writer.close());
    await writer.connect();
    return writer;
  }

  /** The offset of the next record of a partition. */
  async endOffset(topic: string, partition: number): Promise<string> {
    const partitions = await this.ask((admin) => admin.fetchTopicOffsets(topic));
    return partitions.find((one) => one.partition === partition)!.high;
  }

  /** Resolves when the topic does not exist any more. */
  deleteTopic(topic: string): Promise<void> {
    return this.ask(async (admin) => {
      await admin.deleteTopics({ topics: [topic] });
      await waitFor('the end of the topic', async () => !(await admin.listTopics()).includes(topic));
    });
  }

  /** Sets `max.message.bytes` of a topic. Resolves once the broker has the new limit: it answers earlier. */
  async limitMessages(topic: string, bytes: number): Promise<void> {
    const name = 'max.message.bytes';
    const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic };
    const configEntries = [{ name, value: `${bytes}` }];
    const wanted = { includeSynonyms: false, resources: [{ ...resource, configNames: [name] }] };
    await this.ask(async (admin) => {
      await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
      await waitFor('the limit of the topic', async () => {
        const { resources } = await admin.describeConfigs(wanted);
        return resources[0]!.configEntries[0]!.configValue === `${bytes}`;
      });
    });
  }

  async send(topic: string, messages: OutgoingRecord[], isCompressed = false): Promise<void> {
    const { GZIP, None } = kafkajs.CompressionTypes;
    await this.#producer.send({ topic, messages, compression: isCompressed ? GZIP : None });
  }

  /** Sends the values to the first partition, in order. */
  sendValues(topic: string, values: readonly (string | Buffer | null)[]): Promise<void> {
    return this.send(
      topic,
      values.map((value) => ({ partition: 0, value })),
    );
  }

  /** `count` records on each partition; key: the partition; seq: counts from `first`. */
  async sendSequences(topic: string, partitions: number, count: number, first = 0): Promise<void> {
    const messages: OutgoingRecord[] = [];
    for (let seq = first; seq < first + count; seq++) {
      for (let partition = 0; partition < partitions; partition++) {
        messages.push({ partition, value: JSON.stringify({ key: `${partition}`, seq }) });
      }
    }
    await this.send(topic, messages);
  }

  /** Sum of the group's committed offsets on a topic; uncommitted partitions count 0. */
  async committed(groupId: string, topic: string): Promise<number> {
    const [answer] = await this.ask((admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
    return answer!.partitions.reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
  }

  /** Every record of a topic. */
  async readAll(topic: string, count: number): Promise<kafkajs.KafkaMessage[]> {
    const records: kafkajs.KafkaMessage[] = [];
    // The first record of a dead-letter topic creates it: a broker may not know it yet.
    await this.hasLeaders(topic);
    const consumer = this.kafka.consumer({ groupId: randomName('reader'), maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${records.length} of ${count} records in 60 s`)), 60_000);
      void consumer.run({
        eachMessage: ({ message }) => {
          records.push(message);
          if (records.length === count) {
            clearTimeout(timer);
            resolve();
          }
          return Promise.resolve();
        },
      });
    });
    await consumer.disconnect();
    return records;
  }
}

/** The first break of the order within a key, or undefined; repeats are allowed where `canRepeat`. */
export function orderBreak(records: readonly { key: string; seq: number }[], canRepeat = false): string | undefined {
  const next = new Map<string, number>();
  for (const { key, seq } of records) {
    const expected = next.get(key) ?? 0;
    if (seq > expected || (seq < expected && !canRepeat)) return `key ${key}: ${seq} where ${expected} was due`;
    next.set(key, seq + 1);
  }
  return undefined;
}
