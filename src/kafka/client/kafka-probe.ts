import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka-client.ts';
import { createAdmin } from './raw-cluster.ts';
import type { RawBroker } from './raw-cluster.ts';

/** An offset that no record has. */
const BEYOND_THE_END = '9223372036854775806';
/** No count of acknowledgements that brokers accept. */
const INVALID_ACKS = 2;
const CLEANUP_POLICY = 'cleanup.policy';

/**
 * Asks what a worker or a gateway will need, and changes nothing. No request is repeated. kafkajs's public API has no harmless request for some
 * rights: these methods send an invalid one. Brokers check rights first, so only a missing right causes an authorization error.
 */
export class KafkaProbe {
  readonly #admin: Admin;
  readonly #broker: RawBroker;
  /** The topics that exist and that this user may see. */
  readonly topics: ReadonlySet<string>;

  private constructor(admin: Admin, broker: RawBroker, topics: readonly string[]) {
    this.#admin = admin;
    this.#broker = broker;
    this.topics = new Set(topics);
  }

  /** Connects through a client, whose end is the end of the connection. */
  static async connect({ kafka }: KafkaClient): Promise<KafkaProbe> {
    const { admin, cluster } = createAdmin(kafka);
    await admin.connect();
    const topics = await admin.listTopics();
    return new KafkaProbe(admin, await cluster.findControllerBroker(), topics);
  }

  /** The partitions that have no leader. Asks all leaders for offsets. @throws if one does not answer */
  async leaderless(topic: string): Promise<readonly number[]> {
    await this.#admin.fetchTopicOffsets(topic);
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]!.partitions.filter(({ leader }) => leader < 0).map(({ partitionId }) => partitionId);
  }

  /** @throws if the group's commits cannot be read */
  async readCommits(groupId: string, topics: readonly string[]): Promise<void> {
    await this.#admin.fetchOffsets({ groupId, topics: [...topics] });
  }

  /** `cleanup.policy` by topic. */
  async cleanupPolicies(topics: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { resources } = await this.#admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map((name) => ({
        type: kafkajs.ConfigResourceTypes.TOPIC,
        name,
        configNames: [CLEANUP_POLICY],
      })),
    });
    return new Map(
      resources.map(({ resourceName, configEntries }) => [
        resourceName,
        configEntries.find(({ configName }) => configName === CLEANUP_POLICY)?.configValue ?? '',
      ]),
    );
  }

  /** The brokers check the request and create nothing. @throws if they would refuse it */
  async tryCreateTopic(topic: string): Promise<void> {
    await this.#admin.createTopics({ topics: [{ topic }], validateOnly: true, waitForLeaders: false });
  }

  mayReadTopic(topic: string): Promise<boolean> {
    const partitions = [{ partition: 0, fetchOffset: BEYOND_THE_END, maxBytes: 1 }];
    const bounds = { maxWaitTime: 0, minBytes: 0, maxBytes: 1, isolationLevel: 0 };
    return isAuthorized(this.#broker.fetch({ ...bounds, topics: [{ topic, partitions }] }));
  }

  mayWriteTopic(topic: string): Promise<boolean> {
    const topicData = [{ topic, partitions: [{ partition: 0, messages: [] }] }];
    return isAuthorized(this.#broker.produce({ topicData, acks: INVALID_ACKS, timeout: 1000 }));
  }

  mayReadGroup(groupId: string): Promise<boolean> {
    return isAuthorized(this.#broker.heartbeat({ groupId, groupGenerationId: 0, memberId: 'none' }));
  }
}

async function isAuthorized(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSProtocolError)) throw error;
    return !error.type.endsWith('_AUTHORIZATION_FAILED');
  }
}
