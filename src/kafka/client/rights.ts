import kafkajs from 'kafkajs';
import type { Kafka } from 'kafkajs';
import { createRawCluster } from './raw-cluster.ts';
import type { RawBroker } from './raw-cluster.ts';

/** An offset that no record has. */
const BEYOND_THE_END = '9223372036854775806';
/** No count of acknowledgements that brokers accept. */
const INVALID_ACKS = 2;

/**
 * Whether this user has the rights that no harmless request of kafkajs's public API needs. Each method sends an invalid request, which
 * changes nothing. Brokers check rights first, so only a missing right causes an authorization error.
 */
export class Rights {
  readonly #broker: RawBroker;

  private constructor(broker: RawBroker) {
    this.#broker = broker;
  }

  /** Connects through a client, whose end is the end of the connection. */
  static async connect(kafka: Kafka): Promise<Rights> {
    const cluster = createRawCluster(kafka);
    await cluster.connect();
    await cluster.refreshMetadata();
    return new Rights(await cluster.findControllerBroker());
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
