import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import {
  ADVERTISED_FIX,
  answerFix,
  answerOf,
  diagnose,
  failureOf,
  reasonOf,
} from '../../kafka/client/access/connection-fix.ts';
import type { KafkaConnectionConfig } from '../../kafka/client/access/kafka-access.ts';
import { defaultGroupId, graphGroupId } from '../../kafka/group-id.ts';
import { createKafkaClient } from '../../kafka/client/kafka-client.ts';
import type { KafkaClient } from '../../kafka/client/kafka-client.ts';
import { Cluster } from '../../kafka/client/cluster.ts';
import { isTransient } from '../../kafka/client/kafka-errors.ts';
import { KafkaProbe } from '../../kafka/client/kafka-probe.ts';
import { ENVIRONMENT_NAMES } from '../../config/setting-names.ts';
import { createLog } from '../../base/log.ts';
import { checkCompaction } from './compaction-check.ts';
import { failed, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

export type KafkaCheckConfig = KafkaConnectionConfig & Pick<Config, 'KAFKA_GROUP_ID' | 'KAFKA_DEAD_LETTER_TOPIC'>;

export interface GraphTopics {
  /** Name of the graph. */
  readonly graph: string;
  readonly all: readonly string[];
  /** Those that keep states. */
  readonly withState: readonly string[];
  /** Those that mutations write to. */
  readonly published: readonly string[];
}

/** Longest time of all requests together. */
const TIMEOUT_MS = 20_000;
const MAX_ATTEMPTS = 10;
const RETRY_DELAY_MS = 500;

/**
 * Tries what a worker needs, as far as that is possible without joining the group and without writing: the connection, the topics and
 * the leaders of their partitions, the group, the dead-letter topic, and the rights on them. Takes about 25 s at most.
 */
export function checkKafka(config: KafkaCheckConfig, topics: GraphTopics): Promise<Finding[]> {
  return checkConnected(config, (probe) => checkUse(probe, config, topics));
}

/** Tries what a gateway needs that writes the records of mutations, without writing: the connection, and the rights on their topics. */
export function checkKafkaOfGateway(config: KafkaConnectionConfig, published: readonly string[]): Promise<Finding[]> {
  return checkConnected(config, async (probe) => {
    const present = published.filter((topic) => probe.topics.has(topic));
    return [...(await checkLeaders(probe, present)), ...(await checkPublished(probe, published))];
  });
}

type Checks = (probe: KafkaProbe) => Promise<Finding[]>;

async function checkConnected(config: KafkaConnectionConfig, checks: Checks): Promise<Finding[]> {
  const client = createKafkaClient(config, createLog('silent'));
  const timer = setTimeout(() => client.destroy(), TIMEOUT_MS);
  try {
    return await checkWith(client, config, checks);
  } finally {
    clearTimeout(timer);
    client.destroy();
  }
}

async function checkWith(client: KafkaClient, config: KafkaConnectionConfig, checks: Checks): Promise<Finding[]> {
  const brokers = config.KAFKA_BROKERS.join(', ');
  let probe: KafkaProbe;
  try {
    probe = await KafkaProbe.connect(client);
  } catch (error) {
    const reason = reasonOf(error);
    const fix = await diagnose(error, config);
    return [
      failed(`Kafka: ${failureOf(error, config.KAFKA_BROKERS)}: ${reason}; ${fix}`),
      skipped('Kafka: topics, group and rights need a connection'),
    ];
  }
  const connected = ok(`Kafka: connected to ${brokers}`);
  try {
    return [connected, ...(await checks(probe))];
  } catch (error) {
    const what = answerOf(error) === undefined ? 'the brokers stopped answering' : 'the brokers answered with an error';
    return [connected, failed(`Kafka: ${what}: ${reasonOf(error)}; ${fixOf(error, ADVERTISED_FIX)}`)];
  }
}

async function checkUse(
  probe: KafkaProbe,
  config: KafkaCheckConfig,
  { graph, all, withState, published }: GraphTopics,
): Promise<Finding[]> {
  const exists = (topic: string) => probe.topics.has(topic);
  const present = all.filter(exists);
  return [
    ...(await checkTopics(probe, all, present)),
    ...(await checkLeaders(probe, present)),
    ...(await checkCompaction(probe, withState.filter(exists))),
    await checkGroup(probe, config.KAFKA_GROUP_ID || (await groupIdOf(config, graph, present)), present),
    await checkDeadLetter(probe, config.KAFKA_DEAD_LETTER_TOPIC),
    ...(await checkPublished(probe, published)),
  ];
}

async function checkTopics(
  probe: KafkaProbe,
  topics: readonly string[],
  present: readonly string[],
): Promise<Finding[]> {
  const missing = topics.filter((topic) => !present.includes(topic));
  const readable = await Promise.all(present.map((topic) => probe.mayReadTopic(topic)));
  const unreadable = present.filter((_, i) => !readable[i]);
  if (missing.length + unreadable.length === 0)
    return [ok(`Kafka: the topics of the graph exist, and this user may read them: ${topics.join(', ')}`)];
  const absent = 'topics of the graph that do not exist, or that this user may not see';
  const fix = 'create them, correct the topic in @kafka, or grant Read on them';
  return [
    ...(missing.length > 0 ? [failed(`Kafka: ${absent}: ${missing.join(', ')}; ${fix}`)] : []),
    ...(unreadable.length > 0
      ? [
          failed(
            `Kafka: this user may see, but not read, topics of the graph: ${unreadable.join(', ')}; grant Read on them`,
          ),
        ]
      : []),
  ];
}

/** A request to each partition's leader, which is reached under the address that it advertises. */
async function checkLeaders(probe: KafkaProbe, topics: readonly string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const topic of topics) {
    try {
      const leaderless = await retried(() => probe.leaderless(topic));
      if (leaderless.length > 0) {
        const fix = 'they wait, the others are read; bring back a broker that has a replica of them';
        findings.push(
          warning(`Kafka: partitions of the topic ${topic} have no leader: ${leaderless.join(', ')}; ${fix}`),
        );
      }
    } catch (error) {
      const fix = fixOf(error, 'make its brokers reachable under the addresses that they advertise');
      findings.push(failed(`Kafka: the offsets of the topic ${topic} cannot be read: ${reasonOf(error)}; ${fix}`));
    }
  }
  return findings;
}

/** If the commits cannot be read, the check of the group says so. */
async function groupIdOf(config: KafkaCheckConfig, graph: string, topics: readonly string[]): Promise<string> {
  const log = createLog('silent');
  const cluster = new Cluster(() => createKafkaClient(config, log));
  try {
    return await defaultGroupId(graph, topics, cluster, { log, names: config.names });
  } catch {
    return graphGroupId(graph);
  } finally {
    cluster.close();
  }
}

async function checkGroup(probe: KafkaProbe, groupId: string, topics: readonly string[]): Promise<Finding> {
  if (!(await probe.mayReadGroup(groupId))) {
    return failed(
      `Kafka: this user may not join the group ${groupId}; grant Read on the group, or correct KAFKA_GROUP_ID`,
    );
  }
  try {
    await retried(() => probe.readCommits(groupId, topics));
    return ok(`Kafka: this user may join the group ${groupId}`);
  } catch (error) {
    const fix = fixOf(error, 'make its coordinator reachable under the address that it advertises');
    return failed(`Kafka: the commits of the group ${groupId} cannot be read: ${reasonOf(error)}; ${fix}`);
  }
}

async function checkDeadLetter(probe: KafkaProbe, topic: string): Promise<Finding> {
  const exists = probe.topics.has(topic);
  try {
    if (!exists) await probe.tryCreateTopic(topic);
  } catch (error) {
    const absent = 'does not exist, or this user may not see it, and may not create it';
    const fix = 'create it, grant Write and Create on it, or correct KAFKA_DEAD_LETTER_TOPIC';
    return failed(`Kafka: the dead-letter topic ${topic} ${absent}: ${reasonOf(error)}; ${fix}`);
  }
  if (!(await probe.mayWriteTopic(topic))) {
    const fix = 'grant Write on it, or correct KAFKA_DEAD_LETTER_TOPIC';
    return failed(`Kafka: this user may not write to the dead-letter topic ${topic}; ${fix}`);
  }
  return ok(
    exists
      ? `Kafka: the dead-letter topic ${topic} exists, and this user may write to it`
      : `Kafka: the dead-letter topic ${topic} does not exist; a worker creates it at its start`,
  );
}

async function checkPublished(probe: KafkaProbe, topics: readonly string[]): Promise<Finding[]> {
  const writable = await Promise.all(
    topics.map(async (topic) => probe.topics.has(topic) && probe.mayWriteTopic(topic)),
  );
  const refused = topics.filter((_, i) => !writable[i]);
  if (refused.length === 0)
    return topics.length === 0
      ? []
      : [ok(`Kafka: this user may write to the topics of mutations: ${topics.join(', ')}`)];
  const what = 'topics of mutations that do not exist, or that this user may not write to';
  const fix = 'create them, correct the topic in @kafkaPublish, or grant Write on them';
  return [failed(`Kafka: ${what}: ${refused.join(', ')}; ${fix}`)];
}

/** @param unanswered the fix if no broker has answered */
function fixOf(error: unknown, unanswered: string): string {
  const answer = answerOf(error);
  return answer === undefined ? unanswered : answerFix(answer, ENVIRONMENT_NAMES);
}

/** Repeats a request while the brokers elect leaders or coordinators. */
async function retried<Reply>(request: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (!isTransient(error) || attempt === MAX_ATTEMPTS) throw error;
      await delay(RETRY_DELAY_MS);
    }
  }
}
