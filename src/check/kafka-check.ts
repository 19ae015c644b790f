import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import type { Config } from '../config.ts';
import { createKafkaClient } from '../kafka/kafkajs/client.ts';
import type { KafkaClient, KafkaConnectionConfig } from '../kafka/kafkajs/client.ts';
import { createLog } from '../log.ts';
import { failed, ok, skipped } from './finding.ts';
import type { Finding } from './finding.ts';

export type KafkaCheckConfig = KafkaConnectionConfig & Pick<Config, 'KAFKA_GROUP_ID' | 'KAFKA_DEAD_LETTER_TOPIC'>;

/** Longest time of all requests together. */
const TIMEOUT_MS = 20_000;
const MAX_ATTEMPTS = 10;
const RETRY_DELAY_MS = 500;

/**
 * Tries what a worker needs, as far as that is possible without joining the group and without writing: the connection, the topics and
 * the leaders of their partitions, the group, the dead-letter topic. Takes at most 20 s.
 */
export async function checkKafka(config: KafkaCheckConfig, topics: readonly string[]): Promise<Finding[]> {
  const client = createKafkaClient(config, createLog('silent'));
  const timer = setTimeout(() => client.destroy(), TIMEOUT_MS);
  try {
    return await checkWith(client, config, topics);
  } finally {
    clearTimeout(timer);
    client.destroy();
  }
}

async function checkWith(
  { kafka }: KafkaClient,
  config: KafkaCheckConfig,
  topics: readonly string[],
): Promise<Finding[]> {
  const admin = kafka.admin();
  const brokers = config.KAFKA_BROKERS.join(', ');
  let existing: ReadonlySet<string>;
  try {
    await admin.connect();
    existing = new Set(await admin.listTopics());
  } catch (error) {
    const mend = 'correct KAFKA_BROKERS, KAFKA_TLS or KAFKA_SASL_..., or the network';
    return [
      failed(`Kafka: no connection to ${brokers}: ${reasonOf(error)}; ${mend}`),
      skipped('Kafka: topics, group and dead-letter topic need a connection'),
    ];
  }
  const present = topics.filter((topic) => existing.has(topic));
  return [
    ok(`Kafka: connected to ${brokers}`),
    ...topicFindings(topics, present),
    ...(await checkLeaders(admin, present)),
    await checkGroup(admin, config.KAFKA_GROUP_ID, present),
    await checkDeadLetter(admin, config.KAFKA_DEAD_LETTER_TOPIC, existing),
  ];
}

function topicFindings(topics: readonly string[], present: readonly string[]): Finding[] {
  const missing = topics.filter((topic) => !present.includes(topic));
  if (missing.length === 0) return [ok(`Kafka: the topics of the graph exist: ${topics.join(', ')}`)];
  const mend = 'create them, correct the topic in @kafka, or let this user describe them';
  return [
    failed(
      `Kafka: topics of the graph that do not exist, or that this user may not see: ${missing.join(', ')}; ${mend}`,
    ),
  ];
}

/** A request to each partition's leader, which is reached under the address that it advertises. */
async function checkLeaders(admin: Admin, topics: readonly string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const topic of topics) {
    try {
      await retried(() => admin.fetchTopicOffsets(topic));
    } catch (error) {
      const mend = 'make its brokers reachable under the addresses that they advertise';
      findings.push(failed(`Kafka: the offsets of the topic ${topic} cannot be read: ${reasonOf(error)}; ${mend}`));
    }
  }
  return findings;
}

async function checkGroup(admin: Admin, groupId: string, topics: readonly string[]): Promise<Finding> {
  try {
    await retried(() => admin.fetchOffsets({ groupId, topics: [...topics] }));
    return ok(`Kafka: this user may use the consumer group ${groupId}`);
  } catch (error) {
    const mend = 'let this user read and describe the group, or correct KAFKA_GROUP_ID';
    return failed(`Kafka: this user may not use the consumer group ${groupId}: ${reasonOf(error)}; ${mend}`);
  }
}

async function checkDeadLetter(admin: Admin, topic: string, existing: ReadonlySet<string>): Promise<Finding> {
  if (existing.has(topic)) return ok(`Kafka: the dead-letter topic ${topic} exists`);
  try {
    // The brokers check the request and create nothing.
    await admin.createTopics({ topics: [{ topic }], validateOnly: true, waitForLeaders: false });
    return ok(`Kafka: the dead-letter topic ${topic} does not exist; a worker creates it at its start`);
  } catch (error) {
    const mend = 'create it, or correct KAFKA_DEAD_LETTER_TOPIC';
    return failed(
      `Kafka: the dead-letter topic ${topic} does not exist, and this user may not create it: ${reasonOf(error)}; ${mend}`,
    );
  }
}

/** Repeats a request while the brokers elect leaders or coordinators. */
async function retried<Reply>(request: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      const isTransient = error instanceof kafkajs.KafkaJSProtocolError && error.retriable;
      if (!isTransient || attempt === MAX_ATTEMPTS) throw error;
      await delay(RETRY_DELAY_MS);
    }
  }
}

function reasonOf(error: unknown): string {
  const { message, errors } = error as { message: string; errors?: readonly Error[] };
  return errors?.map((one) => one.message).join(', ') ?? message;
}
