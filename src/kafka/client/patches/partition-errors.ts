import type { Kafka } from 'kafkajs';
import { eachCluster } from '../raw-cluster.ts';
import type { RawBroker, RawBrokerPool, RawCluster, RawMetadata, RawProtocol } from '../raw-cluster.ts';

/** How long metadata is used while a partition has no leader, in ms: kafkajs would look for the new leader after 5 minutes. */
const LEADERLESS_MAX_AGE_MS = 500;

const NO_LEADER = -1;

type Parse = RawProtocol['response']['parse'];

/**
 * Lets a client know topics of which a partition has an error, such as no leader, as Kafka's own client does: in kafkajs 2.2.4 any such
 * partition fails the metadata of all topics. A partition without a leader has the leader -1, and no broker is asked for its records or
 * offsets. https://github.com/tulios/kafkajs/issues/639
 */
export function tolerateLeaderless(kafka: Kafka): void {
  eachCluster(kafka, (cluster) => {
    const { brokerPool, fetchTopicsOffset } = cluster;
    const { createBroker, refreshMetadata } = brokerPool;
    cluster.fetchTopicsOffset = ofLeaders(fetchTopicsOffset);
    brokerPool.createBroker = (options) => {
      const broker = createBroker(options);
      const { metadata } = broker;
      broker.metadata = function (topics) {
        return metadata.call(withParse(this, ofTopicsOnly), topics);
      };
      return broker;
    };
    brokerPool.refreshMetadata = async (topics) => {
      await refreshMetadata.call(brokerPool, topics);
      if (!hasLeaderless(brokerPool)) return;
      const expireAt = Date.now() + LEADERLESS_MAX_AGE_MS;
      brokerPool.metadataExpireAt = Math.min(expireAt, brokerPool.metadataExpireAt ?? expireAt);
    };
  });
}

/** The broker, with responses that have been decoded, but not searched for errors. */
export function withoutErrors(broker: RawBroker): RawBroker {
  return withParse(broker, () => (decoded) => Promise.resolve(decoded));
}

/** Throws the errors of topics, and leaves those of partitions. */
function ofTopicsOnly(parse: Parse): Parse {
  return async (decoded) => {
    const { topicMetadata } = decoded as RawMetadata;
    await parse({ topicMetadata: topicMetadata.map((topic) => ({ ...topic, partitionMetadata: [] })) });
    return decoded;
  };
}

/** Leaves out partitions without a leader. */
function ofLeaders(fetchTopicsOffset: RawCluster['fetchTopicsOffset']): RawCluster['fetchTopicsOffset'] {
  return async function (topics) {
    const led = topics.map((topic) => {
      const metadata = this.findTopicPartitionMetadata(topic.topic);
      const leaders = new Map(metadata.map(({ partitionId, leader }) => [partitionId, leader]));
      return { ...topic, partitions: topic.partitions.filter(({ partition }) => leaders.get(partition) !== NO_LEADER) };
    });
    const offsets = await fetchTopicsOffset.call(
      this,
      led.filter(({ partitions }) => partitions.length > 0),
    );
    return topics.map(({ topic }) => offsets.find((one) => one.topic === topic) ?? { topic, partitions: [] });
  };
}

function withParse(broker: RawBroker, parseWith: (parse: Parse) => Parse): RawBroker {
  const lookupRequest: RawBroker['lookupRequest'] = (apiKey, definition) => (parameters) => {
    const protocol = broker.lookupRequest(apiKey, definition)(parameters);
    return { ...protocol, response: { ...protocol.response, parse: parseWith(protocol.response.parse) } };
  };
  return Object.create(broker, { lookupRequest: { value: lookupRequest } }) as RawBroker;
}

function hasLeaderless({ metadata }: RawBrokerPool): boolean {
  return (
    metadata?.topicMetadata.some((topic) => topic.partitionMetadata.some(({ leader }) => leader === NO_LEADER)) ?? false
  );
}
