import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import type { TopicPartitionIds } from './deal-partitions.ts';

/** What a member of the consumer group tells the others with each join. */
export interface MemberFacts {
  /** Name of its process. */
  readonly pod?: string | undefined;
  /** Name of its graph. */
  readonly graph?: string | undefined;
  /** Where it publishes; undefined: not known yet. Members that publish to the same channels have the same place. */
  readonly place?: string | undefined;
  /** Topics of its graph that do not exist, so that it has not subscribed to them. */
  readonly missingTopics?: readonly string[] | undefined;
}

/** A member of a stable group. One of another version has no facts. */
export interface GroupMember extends MemberFacts {
  readonly memberId: string;
  /** The topics that it subscribed to. */
  readonly topics: readonly string[];
  /** The partitions that the group's leader gave it. */
  readonly assigned: TopicPartitionIds;
}

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;
/** Of the consumer protocol. */
const VERSION = 0;

export function encodeSubscription(topics: string[], facts: MemberFacts): Buffer {
  return MemberMetadata.encode({ version: VERSION, topics, userData: Buffer.from(JSON.stringify(facts)) });
}

export function subscribedTopics(metadata: Buffer): readonly string[] {
  return MemberMetadata.decode(metadata)?.topics ?? [];
}

export function encodeAssignment(assigned: TopicPartitionIds): Buffer {
  const assignment = Object.fromEntries(Array.from(assigned, ([topic, partitions]) => [topic, [...partitions]]));
  return MemberAssignment.encode({ version: VERSION, assignment, userData: Buffer.alloc(0) });
}

/** The group's members; undefined: the group rebalances. */
export async function describeMembers(admin: Admin, groupId: string): Promise<readonly GroupMember[] | undefined> {
  const { groups } = await admin.describeGroups([groupId]);
  const group = groups[0]!;
  if (group.state !== 'Stable') return undefined;
  return group.members.map(({ memberId, memberMetadata, memberAssignment }) => {
    const { topics, userData } = MemberMetadata.decode(memberMetadata) ?? { topics: [], userData: Buffer.alloc(0) };
    const { assignment } = MemberAssignment.decode(memberAssignment) ?? { assignment: {} };
    return { ...factsIn(userData), memberId, topics, assigned: new Map(Object.entries(assignment)) };
  });
}

/** Members of other versions of crier send no JSON, or other facts. */
function factsIn(userData: Buffer): MemberFacts {
  let facts: Partial<Record<keyof MemberFacts, unknown>>;
  try {
    facts = Object(JSON.parse(userData.toString())) as typeof facts;
  } catch {
    return {};
  }
  const { pod, graph, place, missingTopics } = facts;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    pod: text(pod),
    graph: text(graph),
    place: text(place),
    missingTopics: Array.isArray(missingTopics)
      ? missingTopics.filter((topic) => typeof topic === 'string')
      : undefined,
  };
}
