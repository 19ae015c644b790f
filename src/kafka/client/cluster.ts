import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka-client.ts';
import { describeMembers } from './group-members.ts';
import type { GroupMember } from './group-members.ts';
import { isTransient } from './kafka-errors.ts';
import { KafkaLink } from './kafka-link.ts';
import { partitionRanges } from './partition-ranges.ts';
import type { PartitionMap, PartitionRange } from './partition-ranges.ts';
import { createAdmin } from './raw-cluster.ts';
import type { RawCluster } from './raw-cluster.ts';
import { topicIds } from './topic-ids.ts';

export type { PartitionMap, PartitionRange } from './partition-ranges.ts';

/** A group's commit for a partition. */
export interface CommittedOffset {
  /** Of the next record to read. */
  readonly offset: number;
  readonly metadata: string;
}

/** The partitions of a topic. */
export interface TopicPartitions {
  readonly count: number;
  /** Those that have no leader. */
  readonly leaderless: readonly number[];
}

interface Endpoint {
  readonly admin: Admin;
  readonly cluster: RawCluster;
  readonly connect: () => Promise<void>;
  readonly disconnect: () => Promise<void>;
}

const REQUEST_TIMEOUT_MS = 15_000;
const MAX_ATTEMPTS = 5;
const GROUP_COORDINATOR = 0;

/**
 * Requests about topics and groups. Connects at the first request, and again after a failure.
 * Every method throws if the brokers cannot be reached, do not reply within 15 s, or refuse.
 */
export class Cluster {
  readonly #link: KafkaLink<Endpoint>;

  constructor(createClient: () => KafkaClient) {
    this.#link = new KafkaLink({
      createClient,
      createEndpoint: (client) => {
        const { admin, cluster } = createAdmin(client.kafka);
        return { admin, cluster, connect: () => admin.connect(), disconnect: () => admin.disconnect() };
      },
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
  }

  /** The topics that exist and that this client may see. */
  topics(): Promise<string[]> {
    return this.#request(({ admin }) => admin.listTopics());
  }

  /** The given topics that exist and that this client may see. */
  async existingTopics(topics: readonly string[]): Promise<string[]> {
    const existing = new Set(await this.topics());
    return topics.filter((topic) => existing.has(topic));
  }

  /** Throws if a topic does not exist. */
  topicPartitions(topics: readonly string[]): Promise<ReadonlyMap<string, TopicPartitions>> {
    if (topics.length === 0) return Promise.resolve(new Map());
    return this.#request(async ({ admin }) => {
      const metadata = await admin.fetchTopicMetadata({ topics: [...topics] });
      return new Map(
        metadata.topics.map(({ name, partitions }) => {
          const leaderless = partitions.filter(({ leader }) => leader < 0).map(({ partitionId }) => partitionId);
          return [name, { count: partitions.length, leaderless }];
        }),
      );
    });
  }

  /** See `topicIds`. */
  topicIds(topics: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#request(async ({ cluster }) => topicIds(await cluster.brokerPool.findConnectedBroker(), topics));
  }

  /** See `partitionRanges`. */
  partitionRanges(topics: readonly string[]): Promise<PartitionMap<PartitionRange>> {
    return this.#request(({ cluster }) => partitionRanges(cluster, topics));
  }

  /** Omits partitions without a commit. */
  committedOffsets(groupId: string, topics: readonly string[]): Promise<PartitionMap<CommittedOffset>> {
    return this.#request(async (endpoint) => {
      const committed = await fetchOffsets(endpoint, groupId, topics);
      return new Map(
        committed.map(({ topic, partitions }) => [
          topic,
          new Map(
            partitions
              .map(
                ({ partition, offset, metadata }) =>
                  [partition, { offset: Number(offset), metadata: metadata ?? '' }] as const,
              )
              .filter(([, { offset }]) => offset >= 0),
          ),
        ]),
      );
    });
  }

  /** True if the group has a commit for any partition of any topic. */
  hasCommits(groupId: string): Promise<boolean> {
    return this.#request(async (endpoint) => {
      // kafkajs asks for all topics.
      const committed = await fetchOffsets(endpoint, groupId, []);
      return committed.some(({ partitions }) => partitions.some(({ offset }) => Number(offset) >= 0));
    });
  }

  /** undefined while the group rebalances. */
  groupMembers(groupId: string): Promise<readonly GroupMember[] | undefined> {
    return this.#request(({ admin }) => describeMembers(admin, groupId));
  }

  /** Creates a topic with the brokers' defaults. False if it exists already. */
  createTopic(topic: string): Promise<boolean> {
    return this.#request(({ admin }) => admin.createTopics({ topics: [{ topic }], waitForLeaders: false }));
  }

  /** Aborts running requests. Idempotent. */
  close(): void {
    this.#link.destroy();
  }

  async #request<Reply>(send: (endpoint: Endpoint) => Promise<Reply>): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#link.use(send);
      } catch (error) {
        // Such as a leader that has just changed, or a topic that was just created.
        if (attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
        await delay(attempt * 50);
      }
    }
  }
}

async function fetchOffsets({ admin, cluster }: Endpoint, groupId: string, topics: readonly string[]) {
  try {
    return await admin.fetchOffsets({ groupId, topics: [...topics] });
  } catch (error) {
    // kafkajs drops what the brokers answered, such as that this user has no right on the group.
    if ((error as Error).name === 'KafkaJSGroupCoordinatorNotFound') {
      const broker = await cluster.findControllerBroker();
      await broker.findGroupCoordinator({ groupId, coordinatorType: GROUP_COORDINATOR });
    }
    throw error;
  }
}
