import type { Consumer, PartitionAssigner } from 'kafkajs';
import type { InflightBudget } from './fetching/inflight-budget.ts';
import { boundFetches } from './patches/bounded-fetch.ts';
import type { KafkaClient } from './kafka-client.ts';
import type { RawCluster } from './raw-cluster.ts';
import { subscriptionAssigner } from './subscription-assigner.ts';
import type { SubscriptionAssignerOptions } from './subscription-assigner.ts';

/** How long a rebalance waits for a member with a running batch, which sends heartbeats. A publish takes 6 s at most. */
const REBALANCE_TIMEOUT_MS = 20_000;
/** Longest wait of a fetch for records. A resumed partition is fetched after this time at the latest. */
const MAX_WAIT_MS = 250;
const MAX_BYTES_PER_PARTITION = 1_048_576;
const MAX_BYTES_PER_FETCH = 10_485_760;

export interface GroupConsumerOptions extends SubscriptionAssignerOptions {
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly budget: InflightBudget;
  readonly maxInflatedBytes: number;
}

/**
 * A kafkajs consumer whose fetches are bounded, and which never restarts by itself: a failure ends it. Once it has stopped, it may be paused,
 * resumed and moved without effect.
 */
export function createGroupConsumer({ kafka }: KafkaClient, options: GroupConsumerOptions): Consumer {
  const { groupId, sessionTimeoutMs, heartbeatIntervalMs, budget, maxInflatedBytes } = options;
  const consumer = kafka.consumer({
    partitionAssigners: [
      withoutDefaultOffsets(boundFetches({ budget, maxInflatedBytes }, subscriptionAssigner(options))),
    ],
    groupId,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: heartbeatIntervalMs,
    rebalanceTimeout: REBALANCE_TIMEOUT_MS,
    maxWaitTimeInMs: MAX_WAIT_MS,
    minBytes: 1,
    maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
    maxBytes: MAX_BYTES_PER_FETCH,
    allowAutoTopicCreation: false,
    retry: { retries: 5, initialRetryTime: 300, maxRetryTime: 2000, restartOnFailure: () => Promise.resolve(false) },
  });
  return ignoredOnceStopped(consumer);
}

/**
 * Each partition is positioned before it is read. kafkajs would ask for the offsets of those that wait for that, and read nothing at all while
 * a leader does not answer.
 */
function withoutDefaultOffsets(assigner: PartitionAssigner): PartitionAssigner {
  return (tools) => {
    const cluster = tools.cluster as unknown as Pick<RawCluster, 'fetchTopicsOffset'>;
    cluster.fetchTopicsOffset = (topics) => Promise.resolve(topics.map(({ topic }) => ({ topic, partitions: [] })));
    return assigner(tools);
  };
}

/** kafkajs stops a consumer that fails, and throws where it is resumed afterwards: in a timer of a partition that waits, which ends the process. */
function ignoredOnceStopped(consumer: Consumer): Consumer {
  let hasStopped = false;
  consumer.on(consumer.events.STOP, () => (hasStopped = true));
  return {
    ...consumer,
    pause: (partitions) => {
      if (!hasStopped) consumer.pause(partitions);
    },
    resume: (partitions) => {
      if (!hasStopped) consumer.resume(partitions);
    },
    seek: (position) => {
      if (!hasStopped) consumer.seek(position);
    },
  };
}
