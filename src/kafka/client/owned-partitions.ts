/** Partitions by topic. */
export type TopicPartitionIds = ReadonlyMap<string, readonly number[]>;

/** What a member was assigned last. Others may own it by now: then they have it of a newer generation. */
export interface OwnedPartitions {
  /** Of the group, when it assigned them. It counts up with each rebalance. */
  readonly generation: number;
  readonly partitions: TopicPartitionIds;
}

/** Partitions of one topic as ranges: at most 6 bytes for each of 10,000 partitions, where an assignment has 4. */
type Ranges = string;

/** In the facts of a member. */
export interface OwnedText {
  readonly generation: number;
  readonly partitions: Readonly<Record<string, Ranges>>;
}

/** A decoded topic has at most a million partitions, whatever a member sends. */
const RANGE = /^(\d{1,6})(?:-(\d{1,6}))?$/;

export function ownedText({ generation, partitions }: OwnedPartitions): OwnedText {
  return {
    generation,
    partitions: Object.fromEntries(
      [...partitions].filter(([, ids]) => ids.length > 0).map(([topic, ids]) => [topic, rangesOf(ids)]),
    ),
  };
}

/** undefined: the value is not what `ownedText` returns. */
export function ownedIn(value: unknown): OwnedPartitions | undefined {
  const { generation, partitions } = Object(value) as { generation?: unknown; partitions?: unknown };
  if (!Number.isSafeInteger(generation) || typeof partitions !== 'object' || partitions === null) return undefined;
  const topics = new Map<string, readonly number[]>();
  for (const [topic, ranges] of Object.entries(partitions as Record<string, unknown>)) {
    const ids = idsIn(ranges);
    if (!ids) return undefined;
    topics.set(topic, ids);
  }
  return { generation: generation as number, partitions: topics };
}

/** @example rangesOf([3, 0, 1, 2, 7]) // '0-3,7' */
function rangesOf(ids: readonly number[]): Ranges {
  const ranges: { first: number; last: number }[] = [];
  for (const id of ids.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && id === range.last + 1) range.last = id;
    else ranges.push({ first: id, last: id });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/** undefined: these are no ascending ranges. */
function idsIn(ranges: unknown): readonly number[] | undefined {
  if (typeof ranges !== 'string') return undefined;
  const ids: number[] = [];
  let next = 0;
  for (const text of ranges.split(',')) {
    const [, from, to = from] = RANGE.exec(text) ?? [];
    if (from === undefined || Number(from) < next || Number(to) < Number(from)) return undefined;
    for (next = Number(from); next <= Number(to); next++) ids.push(next);
  }
  return ids;
}
