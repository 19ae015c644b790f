/** A member of the group, as the assignment sees it. */
export interface Subscriber {
  readonly memberId: string;
  readonly topics: readonly string[];
}

/** Partitions by topic. */
export type TopicPartitionIds = ReadonlyMap<string, readonly number[]>;

interface Hand {
  readonly memberId: string;
  count: number;
}

/**
 * Deals each partition to one of the members that subscribed to its topic; partitions of a topic without a subscriber to nobody.
 * No partition could move to a member that has two fewer than its owner. Depends on the members and the partitions only, whatever
 * their order: the same group has the same assignment again under another leader. If all members have the same topics, it is
 * round-robin.
 * @returns the partitions by member, of the members that have any
 */
export function dealPartitions(
  members: readonly Subscriber[],
  partitions: TopicPartitionIds,
): ReadonlyMap<string, TopicPartitionIds> {
  const hands = members.map(({ memberId, topics }) => ({ memberId, topics: new Set(topics), count: 0 }));
  hands.sort((a, b) => order(a.memberId, b.memberId));
  const topics = Array.from(partitions, ([topic, ids]) => ({
    topic,
    ids,
    to: hands.filter((hand) => hand.topics.has(topic)),
  }))
    .filter(({ to }) => to.length > 0)
    // Topics with few subscribers first: the others fill up who is left behind.
    .sort((a, b) => a.to.length - b.to.length || order(a.topic, b.topic));
  const dealt = topics.flatMap(({ topic, ids, to }) =>
    ids.toSorted((a, b) => a - b).map((partition) => ({ topic, partition, to, owner: taken(to) })),
  );
  balance(dealt);
  const byMember = new Map<string, Map<string, number[]>>();
  for (const { topic, partition, owner } of dealt) {
    const ofMember = byMember.get(owner.memberId) ?? new Map<string, number[]>();
    byMember.set(owner.memberId, ofMember);
    ofMember.set(topic, [...(ofMember.get(topic) ?? []), partition]);
  }
  return byMember;
}

/** The hand with the fewest partitions, which takes one more. */
function taken(to: readonly Hand[]): Hand {
  const hand = fewest(to);
  hand.count++;
  return hand;
}

/** Ends: each move lessens the sum of the squared counts. */
function balance(dealt: { readonly to: readonly Hand[]; owner: Hand }[]): void {
  for (let hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (const one of dealt) {
      if (fewest(one.to).count + 1 >= one.owner.count) continue;
      one.owner.count--;
      one.owner = taken(one.to);
      hasMoved = true;
    }
  }
}

function fewest(hands: readonly Hand[]): Hand {
  return hands.reduce((least, hand) => (hand.count < least.count ? hand : least));
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
