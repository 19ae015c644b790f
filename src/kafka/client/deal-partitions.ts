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
  /** Among the hands, which are in the order of their members' ids. */
  readonly place: number;
  count: number;
}

interface Topic {
  readonly name: string;
  /** Among the topics that are dealt. */
  readonly place: number;
  readonly partitions: readonly number[];
  /** Hands of its subscribers. Topics with the same subscribers have one array. */
  readonly to: readonly Hand[];
  /** By the hand's place; undefined: the hand has none of its partitions. */
  readonly shares: (Share | undefined)[];
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
  const subscribers = new Map<string, Hand[]>(Array.from(partitions.keys(), (name) => [name, []]));
  for (const [place, { memberId, topics, owned }] of members
    .toSorted((a, b) => order(a.memberId, b.memberId))
    .entries()) {
    const hand: Hand = { memberId, owned, place, count: 0 };
    for (const name of new Set(topics)) subscribers.get(name)?.push(hand);
  }
  const arrays = new Map<string, readonly Hand[]>();
  return Array.from(partitions, ([name, ids]) => {
    const to = subscribers.get(name)!;
    const key = to.map(({ place }) => place).join();
    if (!arrays.has(key)) arrays.set(key, to);
    return { name, partitions: ids.toSorted((a, b) => a - b), to: arrays.get(key)! };
  })
    .filter(({ to }) => to.length > 0)
    .sort((a, b) => a.to.length - b.to.length || order(a.name, b.name))
    .map((topic, place) => ({ ...topic, place, shares: [] }));
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
  const audiences = audiencesOf(topics, hands);
  /** Hands that may have a partition to give. One without has none before it takes one, or another subscriber has fewer than before. */
  const givers = new Set(hands);
  while (givers.size > 0) {
    const from = fullest(givers);
    const audience = bestAudience(from, audiences.get(from)!);
    if (!audience) {
      givers.delete(from);
      continue;
    }
    const topic = audience.offers.get(from)!.pop()!;
    const { kept, gained } = topic.shares[from.place]!;
    const partition = (gained.length > 0 ? gained : kept).pop()!;
    if (countOf(topic, from) > 0) insert(audience.offers.get(from)!, topic, from);
    from.count--;
    for (const one of audiences.get(from)!)
      if (recount(one, from.count + 1, from.count)) for (const hand of one.hands) givers.add(hand);
    const taker = fewest(topic);
    put(taker, topic, 'gained', partition);
    for (const one of audiences.get(taker)!) recount(one, taker.count - 1, taker.count);
    audience.offers.delete(taker);
    givers.add(taker);
  }
}

/** Topics with the same subscribers. */
interface Audience {
  readonly hands: readonly Hand[];
  readonly topics: Topic[];
  /** How many hands have a count of partitions, by that count. */
  readonly tally: number[];
  /** The fewest partitions of a hand. */
  least: number;
  /** Topics of which a hand has partitions, the one that it gives first at the end; absent: not sorted since the hand took one. */
  readonly offers: Map<Hand, Topic[]>;
}

/** Those of each hand. */
function audiencesOf(topics: readonly Topic[], hands: readonly Hand[]): ReadonlyMap<Hand, readonly Audience[]> {
  const audiences = new Map<readonly Hand[], Audience>();
  const ofHands = new Map<Hand, Audience[]>(hands.map((hand) => [hand, []]));
  for (const topic of topics) {
    const known = audiences.get(topic.to);
    if (known) {
      known.topics.push(topic);
      continue;
    }
    const counts = topic.to.map(({ count }) => count);
    const tally = new Array<number>(Math.max(...counts) + 1).fill(0);
    for (const count of counts) tally[count]!++;
    const audience = { hands: topic.to, topics: [topic], tally, least: Math.min(...counts), offers: new Map() };
    audiences.set(topic.to, audience);
    for (const hand of topic.to) ofHands.get(hand)!.push(audience);
  }
  return ofHands;
}

/** A hand has one partition more or less. Returns true if fewer are the fewest. */
function recount(audience: Audience, before: number, after: number): boolean {
  const { tally, least } = audience;
  tally[before]!--;
  tally[after] = (tally[after] ?? 0) + 1;
  if (after < least) audience.least = after;
  else if (tally[least] === 0) audience.least++;
  return after < least;
}

/** Of several, the first member. */
function fullest(hands: Iterable<Hand>): Hand {
  let best: Hand | undefined;
  for (const hand of hands)
    if (!best || hand.count > best.count || (hand.count === best.count && hand.place < best.place)) best = hand;
  return best!;
}

/** That of the topic of which the hand gives a partition; undefined: no subscriber of its topics has two fewer. */
function bestAudience(from: Hand, audiences: readonly Audience[]): Audience | undefined {
  let best: { readonly audience: Audience; readonly topic: Topic } | undefined;
  for (const audience of audiences) {
    if (audience.least + 1 >= from.count) continue;
    let offers = audience.offers.get(from);
    if (!offers) {
      offers = audience.topics.filter((topic) => countOf(topic, from) > 0).sort((a, b) => preference(b, a, from));
      audience.offers.set(from, offers);
    }
    const topic = offers.at(-1);
    if (!topic) continue;
    if (!best || preference(topic, best.topic, from, audience.least - best.audience.least) < 0)
      best = { audience, topic };
  }
  return best?.audience;
}

/** Into those that a hand offers. */
function insert(offers: Topic[], topic: Topic, from: Hand): void {
  let low = 0;
  for (let high = offers.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (preference(offers[middle]!, topic, from) > 0) low = middle + 1;
    else high = middle;
  }
  offers.splice(low, 0, topic);
}

/**
 * Rather a partition that the giver has just gained; then one for a taker with fewer; then one of the topic of which the giver has the most
 * beyond an even share: otherwise one member would come to own all of a busy topic.
 * @param least difference between the fewest partitions of a subscriber
 */
function preference(a: Topic, b: Topic, from: Hand, least = 0): number {
  const isKept = ({ shares }: Topic) => Number(shares[from.place]!.gained.length === 0);
  const excess = (topic: Topic) => countOf(topic, from) - topic.partitions.length / topic.to.length;
  return isKept(a) - isKept(b) || least || excess(b) - excess(a) || a.place - b.place;
}

/** The hand with the fewest partitions; of several the one with the fewest of this topic. */
function fewest(topic: Topic): Hand {
  let least = topic.to[0]!;
  for (const hand of topic.to)
    if (hand.count < least.count || (hand.count === least.count && countOf(topic, hand) < countOf(topic, least)))
      least = hand;
  return least;
}

function put(hand: Hand, { shares }: Topic, as: keyof Share, partition: number): void {
  (shares[hand.place] ??= { kept: [], gained: [] })[as].push(partition);
  hand.count++;
}

function countOf({ shares }: Topic, { place }: Hand): number {
  const share = shares[place];
  return share ? share.kept.length + share.gained.length : 0;
}

function partitionsOf(hand: Hand, topics: readonly Topic[]): TopicPartitionIds {
  const own = topics.filter((topic) => countOf(topic, hand) > 0);
  return new Map(
    own.map(({ name, shares }) => {
      const { kept, gained } = shares[hand.place]!;
      return [name, [...kept, ...gained].sort((a, b) => a - b)];
    }),
  );
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
