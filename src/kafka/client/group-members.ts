import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import type { Subscriber } from './deal-partitions.ts';
import { ownedIn, ownedText } from './owned-partitions.ts';
import type { OwnedPartitions, TopicPartitionIds } from './owned-partitions.ts';

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
  /** What it was assigned last, so that it keeps what it can; undefined: nothing yet. */
  readonly owned?: OwnedPartitions | undefined;
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
  const { owned } = facts;
  const userData = JSON.stringify({ ...facts, owned: owned && ownedText(owned) });
  return MemberMetadata.encode({ version: VERSION, topics, userData: Buffer.from(userData) });
}

/** What a member says of itself with a join. */
export function decodeSubscription(metadata: Buffer): Omit<Subscriber, 'memberId'> & MemberFacts {
  const { topics, userData } = MemberMetadata.decode(metadata) ?? { topics: [], userData: Buffer.alloc(0) };
  return { ...factsIn(userData), topics };
}

export function encodeAssignment(assigned: TopicPartitionIds): Buffer {
  const assignment = Object.fromEntries(Array.from(assigned, ([topic, partitions]) => [topic, [...partitions]]));
  return MemberAssignment.encode({ version: VERSION, assignment, userData: Buffer.alloc(0) });
}

export function decodeAssignment(assigned: Buffer): TopicPartitionIds {
  return new Map(Object.entries(MemberAssignment.decode(assigned)?.assignment ?? {}));
}

/** The group's members; undefined: the group rebalances. */
export async function describeMembers(admin: Admin, groupId: string): Promise<readonly GroupMember[] | undefined> {
  const { groups } = await admin.describeGroups([groupId]);
  const group = groups[0]!;
  if (group.state !== 'Stable') return undefined;
  return group.members.map(({ memberId, memberMetadata, memberAssignment }) => {
    return { ...decodeSubscription(memberMetadata), memberId, assigned: decodeAssignment(memberAssignment) };
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
  const { pod, graph, place, missingTopics, owned } = facts;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    pod: text(pod),
    graph: text(graph),
    place: text(place),
    missingTopics: Array.isArray(missingTopics)
      ? missingTopics.filter((topic) => typeof topic === 'string')
      : undefined,
    owned: ownedIn(owned),
  };
}
