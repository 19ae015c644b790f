import { randomUUID } from 'node:crypto';
import { fillOfStart, fillStartId } from '../../bus/state-fill.ts';
import type { StateFill, StateFills, TopicFills } from '../../bus/state-fill.ts';
import type { Cluster, CommittedOffset, PartitionMap, PartitionRange } from '../client/cluster.ts';
import type { TopicPartition } from '../partition-key.ts';
import { commitMetadata, parseCommitMetadata } from './commit-metadata.ts';
import type { ResumePoint } from './commit-metadata.ts';
import type { PendingFill } from './state-filling.ts';

export interface PartitionOffset extends TopicPartition {
  /** Of the next record to read. */
  readonly offset: number;
  readonly metadata: string;
  /** undefined: it follows the group's last commit, or there is none. */
  readonly jump?: Jump;
}

/** Why a partition does not go on where the group's last commit says. */
export interface Jump {
  /** recreated: the commit is of another topic of this name; deleted: the next record to read is gone; shorter: the partition ends before the commit; reset: another program made the commit. */
  readonly reason: 'recreated' | 'deleted' | 'shorter' | 'reset';
  /** Offset of the commit. */
  readonly committed: number;
  /** Records that were deleted before they were read; 0: unknown. */
  readonly records: number;
}

export interface StartPositions {
  /** Assigned partitions whose place is not known, because no leader says which records they have. They wait. */
  readonly unknown: readonly TopicPartition[];
  /** Where each other partition resumes, once `uncommitted` is committed. */
  readonly resumePoints: PartitionMap<ResumePoint>;
  /** Offsets with new start ids. Commit them, then look them up again, before any record is read. */
  readonly uncommitted: PartitionOffset[];
  /** Fills of assigned partitions that have not ended. */
  readonly pendingFills: readonly PendingFill[];
}

/** What Kafka and the bus know of an assigned partition. */
interface PartitionFacts extends TopicPartition {
  readonly commit: CommittedOffset | undefined;
  /** undefined: no leader says it. */
  readonly range: PartitionRange | undefined;
  readonly fill: StateFill | undefined;
  /** undefined: unknown. */
  readonly topicId: string | undefined;
}

/** Where a partition resumes; without a `resumePoint` it waits. */
interface PartitionStart {
  readonly resumePoint: ResumePoint | undefined;
  readonly uncommitted?: PartitionOffset;
  readonly pendingFill?: PendingFill;
}

type StartOffsetsCluster = Pick<
  Cluster,
  'topicPartitions' | 'topicIds' | 'partitionRanges' | 'committedOffsets' | 'hasCommits'
>;

/** The states that a worker keeps. */
export interface KeptStates {
  /** By topic. */
  readonly signatures: ReadonlyMap<string, string>;
  readonly fills: StateFills;
}

/**
 * Looks up where each assigned partition resumes. A partition resumes from the group's commit, if crier wrote it and its offset still
 * exists. Otherwise the partition gets a new start id, which is committed before any record is read: a later owner then resumes from
 * the same start id, even if no later commit reached Kafka.
 *
 * A partition without a commit starts at its oldest record, and so does one whose commit is of a former topic of this name. Only a new group, which has no commit at all, starts at the end offsets of each
 * partition at the time this process first saw it. "Latest" at the first fetch would lose records, because every rebalance before the first
 * commit moves it; "latest" for a group with commits would lose what was written to a new partition or topic before the group knew it.
 * Holds one number for each partition of a new group's topics.
 *
 * A partition without a fill of the worker's states starts at its oldest record, too, whatever is committed.
 *
 * While no leader says which records a partition has, it resumes from a commit of crier's only.
 */
export class StartOffsets {
  readonly #cluster: StartOffsetsCluster;
  readonly #groupId: string;
  /** undefined: the worker keeps none. They may be replaced between two sessions. */
  states: KeptStates | undefined;
  readonly #ends = new Map<string, Map<number, number>>();

  constructor(cluster: StartOffsetsCluster, groupId: string, states?: KeptStates) {
    this.states = states;
    this.#cluster = cluster;
    this.#groupId = groupId;
  }

  /** Remembers the end offsets of these topics, if the group is new. Call before the group is joined. */
  async capture(topics: readonly string[]): Promise<void> {
    if (await this.#cluster.hasCommits(this.#groupId)) return;
    for (const [topic, partitions] of await this.#cluster.partitionRanges(topics)) {
      this.#ends.set(topic, new Map([...partitions].map(([partition, { end }]) => [partition, end])));
    }
  }

  /** @throws BusUnavailableError if the worker keeps states */
  async lookUp(assignment: PartitionMap<unknown>): Promise<StartPositions> {
    const topics = [...assignment.keys()];
    if (topics.length === 0) return { unknown: [], resumePoints: new Map(), uncommitted: [], pendingFills: [] };
    const committed = await this.#cluster.committedOffsets(this.#groupId, topics);
    // Before the ranges: records of a newer topic are never taken for those of this id.
    const topicIds = await this.#cluster.topicIds(topics);
    const ranges = await this.#cluster.partitionRanges(topics);
    const fills = await this.#fillsOf(topics);
    // A topic that is created again has fewer records, and no commits.
    for (const [topic, partitions] of committed)
      for (const partition of partitions.keys()) this.#ends.get(topic)?.delete(partition);
    const unknown: TopicPartition[] = [];
    const uncommitted: PartitionOffset[] = [];
    const pendingFills: PendingFill[] = [];
    const resumePoints = new Map<string, Map<number, ResumePoint>>();
    for (const [topic, partitions] of assignment) {
      const ofTopic = new Map<number, ResumePoint>();
      resumePoints.set(topic, ofTopic);
      for (const partition of partitions.keys()) {
        const start = this.#startOf({
          topic,
          partition,
          commit: committed.get(topic)?.get(partition),
          range: ranges.get(topic)?.get(partition),
          fill: fills.get(topic)?.fills.get(partition),
          topicId: topicIds.get(topic),
        });
        if (start.resumePoint) ofTopic.set(partition, start.resumePoint);
        else unknown.push({ topic, partition });
        if (start.uncommitted) uncommitted.push(start.uncommitted);
        if (start.pendingFill) pendingFills.push(start.pendingFill);
      }
    }
    return { unknown, resumePoints, uncommitted, pendingFills };
  }

  #startOf({ topic, partition, commit, range, fill, topicId }: PartitionFacts): PartitionStart {
    const signature = this.states?.signatures.get(topic);
    const identity = topicId === undefined ? {} : { topicId };
    const committed = commit && parseCommitMetadata(commit.metadata);
    const isRecreated = topicId !== undefined && committed?.topicId !== undefined && committed.topicId !== topicId;
    const resumed = committed && !isRecreated ? { ...committed, ...identity } : undefined;
    if (!range) return { resumePoint: signature === undefined ? resumed : undefined };
    const isInRange = commit && !isRecreated && range.low <= commit.offset && commit.offset <= range.end;
    const known = isInRange ? resumed : undefined;
    const jump = commit && !known ? jumpFrom(commit.offset, range, isRecreated) : undefined;
    const begin = (offset: number, startId: string): PartitionStart => {
      const resumePoint = { position: -1, startId, ...identity };
      const metadata = commitMetadata(resumePoint);
      return { resumePoint, uncommitted: { topic, partition, offset, metadata, ...(jump && { jump }) } };
    };
    if (signature !== undefined) {
      // A worker that keeps no states may have published the records up to the position.
      const begun = known?.position === -1 ? fillOfStart(known.startId) : undefined;
      const { signature: filled, end } = begun ?? fill ?? {};
      if (!known || filled !== signature) return begin(range.low, fillStartId(signature, range.end));
      if (end !== undefined) {
        return { resumePoint: known, pendingFill: { topic, partition, signature, end, next: commit!.offset } };
      }
    }
    if (known) return { resumePoint: known };
    const captured = this.#ends.get(topic)?.get(partition);
    const isEnd = captured !== undefined && range.low <= captured && captured <= range.end;
    return begin(isInRange ? commit.offset : isEnd ? captured : range.low, randomUUID());
  }

  /** True if a leader now says which records one of these has, whose place was unknown at `lookUp`. */
  async canPlace(unknown: readonly TopicPartition[]): Promise<boolean> {
    if (unknown.length === 0) return false;
    const topics = [...new Set(unknown.map(({ topic }) => topic))];
    const ranges = await this.#cluster.partitionRanges(topics).catch(() => undefined);
    return unknown.some(({ topic, partition }) => ranges?.get(topic)?.has(partition));
  }

  /** By topic, of the topics whose states the worker keeps. */
  async #fillsOf(topics: readonly string[]): Promise<ReadonlyMap<string, TopicFills>> {
    const fills = new Map<string, TopicFills>();
    const { states } = this;
    const kept = topics.filter((topic) => states?.signatures.has(topic));
    // The ranges lack partitions without a leader.
    for (const [topic, { count }] of await this.#cluster.topicPartitions(kept))
      fills.set(topic, await states!.fills.read(topic, count));
    return fills;
  }
}

function jumpFrom(committed: number, { low, end }: PartitionRange, isRecreated: boolean): Jump {
  if (isRecreated) return { reason: 'recreated', committed, records: 0 };
  if (committed < low) return { reason: 'deleted', committed, records: low - committed };
  return { reason: committed > end ? 'shorter' : 'reset', committed, records: 0 };
}
