import type { TestContext } from 'node:test';
import type { HistoryLimits } from '../../src/bus/history.ts';
import type { RedisServer } from '../../stack/redis-server.ts';
import { createTopics } from '../../stack/topics.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import type { PodProcess } from '../end-to-end/pod-process.ts';
import { stableMembers } from '../end-to-end/producers.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { ENTRY_TYPES } from '../support/entry-record.ts';
import { randomName, redisServer } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';

/** A hanging test fails after this time and names what is missing. */
const PATIENCE_MS = 120_000;
const MAX_LOG_LENGTH = 6000;

export interface StageOptions {
  /** `host:port`, comma-separated. */
  readonly brokers: string;
  readonly partitions: number;
  /** Of each channel. Default: none. */
  readonly history?: HistoryLimits;
}

/** A topic, a Redis and a graph of this test, with pods of one consumer group. */
export class Stage {
  readonly brokers: string;
  readonly partitions: number;
  /** Name of the topic and the group. */
  readonly name: string;
  readonly redis: RedisServer;
  readonly pods: PodProcess[] = [];
  readonly #t: TestContext;
  readonly #settings: Readonly<Record<string, string>>;

  constructor(
    t: TestContext,
    { brokers, partitions }: StageOptions,
    name: string,
    redis: RedisServer,
    settings: Readonly<Record<string, string>>,
  ) {
    this.#t = t;
    this.brokers = brokers;
    this.partitions = partitions;
    this.name = name;
    this.redis = redis;
    this.#settings = settings;
  }

  async start(
    role: 'all' | 'gateway' | 'worker',
    settings: Readonly<Record<string, string>> = {},
  ): Promise<PodProcess> {
    const pod = spawnPod(this.#t, { ...this.#settings, ...settings, ROLE: role });
    this.pods.push(pod);
    return pod.started();
  }

  /** Resolves when the group is stable with this number of members. */
  async hasWorkers(count: number, group = this.name): Promise<void> {
    const isThere = async () => (await stableMembers(this.brokers, group)) === count;
    await this.until(`${count} members of one stable group`, isThere);
  }

  /** The tails of all pods' logs. */
  get logs(): string {
    return this.pods.map(({ log, process }) => `pod ${process.pid}:\n${log.slice(-MAX_LOG_LENGTH)}`).join('\n');
  }

  /** @throws Error with the pods' logs when the condition is not met in two minutes. */
  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    await waitFor(what, condition, PATIENCE_MS).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.logs}`);
    });
  }
}

export async function createStage(t: TestContext, options: StageOptions): Promise<Stage> {
  const { brokers } = options;
  const name = randomName('faults');
  const redis = await redisServer(t);
  const dead = `${name}-dead`;
  await createTopics(brokers, [
    { topic: name, numPartitions: options.partitions },
    { topic: dead, numPartitions: 1 },
  ]);
  const settings = {
    GRAPH: await graphFolder(t, { 'schema.graphql': schemaOf(name, options.history), 'resolvers.js': RESOLVERS }),
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: name,
    KAFKA_DEAD_LETTER_TOPIC: dead,
    REDIS_URL: redis.url,
    CHANNEL_PREFIX: `${name}:`,
  };
  return new Stage(t, options, name, redis, settings);
}

function schemaOf(topic: string, limits?: HistoryLimits): string {
  const { entries, bytes, seconds } = limits ?? {};
  const history = limits ? `, history: { entries: ${entries}, bytes: ${bytes}, seconds: ${seconds} }` : '';
  return `type Subscription {
  entry_written(lane: ID): Event @kafka(topic: "${topic}", match: [{ arg: "lane", path: "lane" }]${history})
}

type Event {
  lane: ID!
  ledger_entry: Entry!
  # keeps the gateway's core busy
  work(ms: Float!): Boolean
  # as from a backend that takes so long
  wait(ms: Float!): Boolean
}

${ENTRY_TYPES}
`;
}

const RESOLVERS = `export const Event = {
  work: (_, { ms }) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
    return true;
  },
  wait: (_, { ms }) => new Promise((resolve) => setTimeout(resolve, ms, true)),
};
`;
