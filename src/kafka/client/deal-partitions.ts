import type { OwnedPartitions, TopicPartitionIds } from './owned-partitions.ts';

/** A member of the group, as the assignment sees it. */
export interface Subscriber {
  readonly memberId: string;
  readonly topics: readonly string[];
  /** undefined: it has owned nothing, or is of a former version, which does not tell. */
  readonly owned?: OwnedPartitions | undefined;
}

/** The partitions that a member is dealt. */
interface Hand {
  readonly memberId: string;
  readonly owned: OwnedPartitions | undefined;
  /** By the topic's place. */
  readonly shares: readonly Share[];
  count: number;
}

interface Topic {
  readonly name: string;
  /** Among the topics that are dealt. */
  readonly place: number;
  readonly partitions: readonly number[];
  /** Hands of its subscribers. Topics with the same subscribers have one array. */
  readonly to: readonly Hand[];
}

/** Partitions of one topic in one hand. */
interface Share {
  /** The member owned them before. */
  readonly kept: number[];
  readonly gained: number[];
}

/**
 * Deals each partition to one of the members that subscribed to its topic; partitions of a topic without a subscriber to nobody.
 * No partition could move to a member that has two fewer than its owner. Within this balance owners keep their partitions: a member that
 * leaves moves its own, one that joins takes what it lacks. Depends on the members and the partitions only, whatever their order: the same
 * group has the same assignment again under another leader. If all members have the same topics and none owns a partition, it is
 * round-robin.
 *
 * Of members that own the same partition, the one of the newest generation keeps it: the others have missed a rebalance. In one generation
 * each partition has one owner, so two of the same generation tell of different groups of this name, and neither keeps it.
 * @returns the partitions by member, of the members that have any
 */
export function dealPartitions(
  members: readonly Subscriber[],
  partitions: TopicPartitionIds,
): ReadonlyMap<string, TopicPartitionIds> {
  const topics = topicsOf(members, partitions);
  const hands = [...new Set(topics.flatMap(({ to }) => to))];
  const free = topics.map((topic) => keep(topic));
  for (const topic of topics)
    for (const partition of free[topic.place]!) put(fewest(topic), topic, 'gained', partition);
  balance(topics, hands);
  return new Map(hands.filter(({ count }) => count > 0).map((hand) => [hand.memberId, partitionsOf(hand, topics)]));
}

/** Topics that have subscribers. Topics with few subscribers come first: the others fill up the members that are left behind. */
function topicsOf(members: readonly Subscriber[], partitions: TopicPartitionIds): Topic[] {
  const subscribers = members
    .toSorted((a, b) => order(a.memberId, b.memberId))
    .map(({ memberId, topics, owned }) => {
      const hand: Hand = {
        memberId,
        owned,
        shares: Array.from(partitions, () => ({ kept: [], gained: [] })),
        count: 0,
      };
      return { topics: new Set(topics), hand };
    });
  const arrays = new Map<string, readonly Hand[]>();
  return Array.from(partitions, ([name, ids]) => {
    const to = subscribers.filter(({ topics }) => topics.has(name)).map(({ hand }) => hand);
    const key = JSON.stringify(to.map(({ memberId }) => memberId));
    arrays.set(key, arrays.get(key) ?? to);
    return { name, partitions: ids.toSorted((a, b) => a - b), to: arrays.get(key)! };
  })
    .filter(({ to }) => to.length > 0)
    .sort((a, b) => a.to.length - b.to.length || order(a.name, b.name))
    .map((topic, place) => ({ ...topic, place }));
}

/** Leaves the partitions of a topic with their owners. @returns those that nobody owns */
function keep(topic: Topic): number[] {
  const keepers = new Map<number, { generation: number; hand: Hand | undefined }>();
  for (const hand of topic.to) {
    if (!hand.owned) continue;
    const { generation, partitions } = hand.owned;
    for (const partition of partitions.get(topic.name) ?? []) {
      const other = keepers.get(partition);
      if (!other || generation > other.generation) keepers.set(partition, { generation, hand });
      else if (generation === other.generation) other.hand = undefined;
    }
  }
  return topic.partitions.filter((partition) => {
    const hand = keepers.get(partition)?.hand;
    if (hand) put(hand, topic, 'kept', partition);
    return !hand;
  });
}

/** Ends: each move lessens the sum of the squared counts. */
function balance(topics: readonly Topic[], hands: readonly Hand[]): void {
  for (let move = nextMove(topics, hands); move; move = nextMove(topics, hands)) {
    const { from, topic } = move;
    const { kept, gained } = from.shares[topic.place]!;
    from.count--;
    put(fewest(topic), topic, 'gained', (gained.length > 0 ? gained : kept).pop()!);
  }
}

interface Move {
  readonly from: Hand;
  readonly topic: Topic;
  /** The fewest partitions of a subscriber. */
  readonly least: number;
}

/** From the fullest hand that has a partition to give. */
function nextMove(topics: readonly Topic[], hands: readonly Hand[]): Move | undefined {
  const leasts = new Map<readonly Hand[], number>();
  for (const { to } of topics) if (!leasts.has(to)) leasts.set(to, Math.min(...to.map(({ count }) => count)));
  for (const from of hands.toSorted((a, b) => b.count - a.count || order(a.memberId, b.memberId))) {
    let best: Move | undefined;
    for (const topic of topics) {
      const least = leasts.get(topic.to)!;
      if (least + 1 >= from.count || countOf(from, topic) === 0) continue;
      const move = { from, topic, least };
      if (!best || preference(move, best) < 0) best = move;
    }
    if (best) return best;
  }
  return undefined;
}

/**
 * Rather a partition that the giver has just gained; then one for a taker with fewer; then one of the topic of which the giver has the most
 * beyond an even share: otherwise one member would come to own all of a busy topic.
 */
function preference(a: Move, b: Move): number {
  const isKept = ({ from, topic }: Move) => Number(from.shares[topic.place]!.gained.length === 0);
  const excess = ({ from, topic }: Move) => countOf(from, topic) - topic.partitions.length / topic.to.length;
  return isKept(a) - isKept(b) || a.least - b.least || excess(b) - excess(a);
}

/** The hand with the fewest partitions; of several the one with the fewest of this topic. */
function fewest(topic: Topic): Hand {
  return topic.to.reduce((least, hand) => {
    const difference = hand.count - least.count || countOf(hand, topic) - countOf(least, topic);
    return difference < 0 ? hand : least;
  });
}

function put(hand: Hand, topic: Topic, as: keyof Share, partition: number): void {
  hand.shares[topic.place]![as].push(partition);
  hand.count++;
}

function countOf({ shares }: Hand, { place }: Topic): number {
  const { kept, gained } = shares[place]!;
  return kept.length + gained.length;
}

function partitionsOf(hand: Hand, topics: readonly Topic[]): TopicPartitionIds {
  const own = topics.filter((topic) => countOf(hand, topic) > 0);
  return new Map(
    own.map(({ name, place }) => {
      const { kept, gained } = hand.shares[place]!;
      return [name, [...kept, ...gained].sort((a, b) => a - b)];
    }),
  );
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
