import { setTimeout as delay } from 'node:timers/promises';
import type { PartitionAssigner } from 'kafkajs';
import { dealPartitions } from './deal-partitions.ts';
import { decodeSubscription, encodeAssignment, encodeSubscription } from './group-members.ts';
import type { MemberFacts } from './group-members.ts';
import type { OwnedPartitions, TopicPartitionIds } from './owned-partitions.ts';
import { followAssignments } from './patches/assignments.ts';
import { withoutErrors } from './patches/partition-errors.ts';
import type { RawCluster } from './raw-cluster.ts';

export interface SubscriptionAssignerOptions {
  readonly facts: () => MemberFacts;
  /** Called on the group's leader with the topics whose partitions it cannot find out: they are given to nobody. */
  readonly onUndescribed: (topics: readonly string[]) => void;
  /** Called with each assignment of this member. Its next facts should tell of it. */
  readonly onAssigned: (owned: OwnedPartitions) => void;
}

/**
 * That of kafkajs's assigner, which former versions of crier use: a group needs a protocol that all its members have, also in a rolling
 * upgrade. Their leader gives the partitions of its own topics to all members, as kafkajs does.
 */
const NAME = 'RoundRobinAssigner';
/** UNKNOWN_TOPIC_OR_PARTITION and LEADER_NOT_AVAILABLE: the broker may not have heard of a new topic yet. */
const NOT_KNOWN_YET = [3, 5];
const MAX_ATTEMPTS = 5;

/**
 * Assigns each partition to a member that subscribed to its topic: the group's leader looks at the topics of all members, not only at its
 * own. A topic that it cannot describe does not keep it from assigning the others. Members keep the partitions that their facts tell of, as
 * `dealPartitions` says.
 */
export function subscriptionAssigner(options: SubscriptionAssignerOptions): PartitionAssigner {
  const { facts, onUndescribed, onAssigned } = options;
  return (tools) => {
    const cluster = tools.cluster as unknown as RawCluster;
    followAssignments(cluster, onAssigned);
    return {
      name: NAME,
      version: 0,
      protocol: ({ topics }) => ({ name: NAME, metadata: encodeSubscription(topics, facts()) }),
      assign: async ({ members, topics: own }) => {
        const subscribers = members.map(({ memberId, memberMetadata }) => ({
          memberId,
          ...decodeSubscription(memberMetadata),
        }));
        const topics = new Set(subscribers.flatMap(({ topics }) => topics));
        const others = [...topics].filter((topic) => !own.includes(topic));
        // kafkajs has just asked for the leader's own topics.
        const partitions = new Map<string, readonly number[]>(
          own.map((topic) => [topic, idsOf(cluster.findTopicPartitionMetadata(topic))]),
        );
        for (const [topic, ids] of await describe(cluster, others)) partitions.set(topic, ids);
        const undescribed = others.filter((topic) => !partitions.has(topic));
        if (undescribed.length > 0) onUndescribed(undescribed);
        const assignments = dealPartitions(subscribers, partitions);
        return Array.from(assignments, ([memberId, assigned]) => ({
          memberId,
          memberAssignment: encodeAssignment(assigned),
        }));
      },
    };
  };
}

/**
 * Partitions of topics that this consumer does not read. They are no topics of its cluster: each later refresh would ask for them, and fail
 * for all topics once one of them is deleted or denied. Partitions without a leader count.
 */
async function describe(cluster: RawCluster, topics: readonly string[]): Promise<TopicPartitionIds> {
  const described = new Map<string, readonly number[]>();
  let left = topics;
  for (let attempt = 1; left.length > 0 && attempt <= MAX_ATTEMPTS; attempt++) {
    if (attempt > 1) await delay(attempt * 50);
    const broker = await cluster.brokerPool.findConnectedBroker();
    const { topicMetadata } = await broker.metadata.call(withoutErrors(broker), left);
    for (const { topic, partitionMetadata } of topicMetadata)
      if (partitionMetadata.length > 0) described.set(topic, idsOf(partitionMetadata));
    left = topicMetadata
      .filter(({ topic, topicErrorCode }) => !described.has(topic) && NOT_KNOWN_YET.includes(topicErrorCode))
      .map(({ topic }) => topic);
  }
  return described;
}

function idsOf(metadata: readonly { readonly partitionId: number }[]): number[] {
  return metadata.map(({ partitionId }) => partitionId);
}
