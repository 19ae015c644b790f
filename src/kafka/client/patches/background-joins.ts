import kafkajs from 'kafkajs';
import type { PartitionAssigner } from 'kafkajs';
import type { TopicPartition } from '../../partition-key.ts';
import { hasType } from '../kafka-errors.ts';
import type { RawCluster } from '../raw-cluster.ts';
import { joinThroughOwnConnection } from './join-connection.ts';
import { patchMethod } from './patched-method.ts';
import { runnerClass } from './runner.ts';
import type { FetchedBatch, JoiningGroup, OffsetManager, Runner } from './runner.ts';

const JOINS = Symbol('crier.kafkajs.joins');
/** kafkajs reads from offset 0 where this is the commit. */
const NO_COMMIT = '-1';
const REBALANCE: ReadonlySet<string> = new Set(['REBALANCE_IN_PROGRESS']);

/** Lets the consumers that a `BackgroundJoins` follows read on while they join. Idempotent. Returns a function that removes the patch. */
export function joinInBackground(): () => void {
  return patchMethod(
    runnerClass().prototype,
    'start',
    (original) =>
      function () {
        (this.consumerGroup.assigners?.[0] as { [JOINS]?: BackgroundJoins } | undefined)?.[JOINS]?.attach(this);
        return original.call(this);
      },
  );
}

/**
 * Lets one consumer read on while its group rebalances, as the consumers of KIP-429 do: kafkajs 2.2.4 ends all fetches and batches, and
 * forgets the offsets, before it joins again. A heartbeat that tells of a rebalance starts the join instead of failing. The partitions that
 * the new assignment leaves with this member keep their offsets; records of the others are dropped from that moment on.
 *
 * There is one join, and no second one for what was given up: the next owner may begin while this member publishes the last records of a
 * partition that it does not know to have lost. Order needs no more than the lease of a partition, which the next owner takes first: the bus
 * then refuses this member, and leaves out what it had accepted (bus/publisher.ts). So members of former versions may lead and follow.
 *
 * A member that is no longer known to the coordinator joins as kafkajs does.
 */
export class BackgroundJoins {
  readonly #onJoin: () => void;
  #current: Promise<void> | undefined;
  #isContinued = false;
  #hasClosed = false;
  #owned = new Map<string, ReadonlySet<number>>();
  #group: JoiningGroup | undefined;

  /** @param onJoin called before a join in the background, while the generation is still valid */
  constructor(onJoin: () => void) {
    this.#onJoin = onJoin;
  }

  /** The join that runs; undefined: none. Never rejects. */
  get current(): Promise<void> | undefined {
    return this.#current?.catch(() => undefined);
  }

  /**
   * True if the last join followed the one before without another generation in between, in which other members may have owned any
   * partition.
   */
  get isContinued(): boolean {
    return this.#isContinued;
  }

  /** An assigner whose consumer this follows. */
  follow(assigner: PartitionAssigner): PartitionAssigner {
    return (tools) => {
      const cluster = tools.cluster as unknown as RawCluster;
      joinThroughOwnConnection(cluster);
      const { findGroupCoordinator } = cluster;
      cluster.findGroupCoordinator = (group) => {
        // A member that has left gets this as the answer to its pending join: kafkajs would join as a new member.
        if (this.#hasClosed) throw new kafkajs.KafkaJSNonRetriableError('the consumer has left the group');
        return findGroupCoordinator.call(cluster, group);
      };
      return Object.assign(assigner(tools), { [JOINS]: this });
    };
  }

  /** Call once, before the runner starts. */
  attach(runner: Runner): void {
    const group = (this.#group = runner.consumerGroup);
    const { heartbeat, handleBatch } = runner;
    const { joinAndSync, resolveOffset } = group;
    // Fetches of a changed topic join, too.
    group.joinAndSync = () =>
      (this.#current ??= joinAndSync.call(group).finally(() => {
        this.#current = undefined;
      }));
    runner.heartbeat = async () => {
      // The coordinator keeps a member whose join is pending.
      if (this.#current) return;
      const { generationId } = group;
      try {
        await heartbeat.call(runner);
      } catch (error) {
        if (!hasType(error, REBALANCE)) throw error;
        // Other heartbeats receive the same answer.
        if (!this.#current && group.generationId === generationId) this.#join(runner);
      }
    };
    runner.handleBatch = async (batch) => {
      if (this.#isNext(group, batch)) await handleBatch.call(runner, batch);
    };
    group.resolveOffset = (position) => {
      if (this.#owns(position)) resolveOffset.call(group, position);
    };
    let manager = group.offsetManager;
    Object.defineProperty(group, 'offsetManager', {
      get: () => manager,
      set: (next: OffsetManager) => {
        this.#replace(group, manager, next);
        manager = next;
      },
    });
  }

  /** Reads the partitions from their commits on, as after any other join. Call in the turn in which they are told as assigned. */
  reset(partitions: readonly TopicPartition[]): void {
    for (const { topic, partition } of partitions) {
      delete this.#group?.offsetManager?.resolvedOffsets[topic]?.[partition];
      this.#group?.seekOffset.delete(JSON.stringify([topic, partition]));
    }
  }

  /** Joins no more. Idempotent. */
  close(): void {
    this.#hasClosed = true;
  }

  #join(runner: Runner): void {
    this.#onJoin();
    void runner.consumerGroup.joinAndSync().catch((error: Error) => {
      if (runner.running) runner.onCrash(error);
    });
  }

  #owns({ topic, partition }: TopicPartition): boolean {
    return this.#owned.get(topic)?.has(partition) === true;
  }

  /** A batch that was fetched before a join, or before a seek, may not begin at the next offset. */
  #isNext({ offsetManager }: JoiningGroup, { topic, partition, fetchedOffset }: FetchedBatch): boolean {
    const { resolvedOffsets } = offsetManager!;
    // undefined: the commits of this assignment are not known yet.
    const next = resolvedOffsets[topic]?.[partition] ?? offsetManager!.committedOffsets()[topic]?.[partition];
    return this.#owns({ topic, partition }) && (next === NO_COMMIT ? '0' : next) === fetchedOffset;
  }

  /** kafkajs has assigned the partitions in the same turn: no fetch sees the new ones with the former offsets. */
  #replace(group: JoiningGroup, former: OffsetManager | null, next: OffsetManager): void {
    const before = this.#owned;
    this.#owned = new Map(Object.entries(next.memberAssignment).map(([topic, of]) => [topic, new Set(of)]));
    this.#isContinued =
      former !== null && former.memberId === next.memberId && next.generationId - former.generationId <= 1;
    const isKept = (topic: string, partition: number) =>
      this.#isContinued && before.get(topic)?.has(partition) === true && this.#owns({ topic, partition });
    for (const [topic, partitions] of before) {
      // A fetch that has been prepared asks for them.
      next.committedOffsets()[topic] ??= {};
      const resolved = (next.resolvedOffsets[topic] ??= {});
      for (const partition of partitions) {
        const offset = former?.resolvedOffsets[topic]?.[partition];
        // kafkajs commits nothing at all while one of these is undefined.
        if (offset !== undefined && isKept(topic, partition)) resolved[partition] = offset;
      }
    }
    for (const key of [...group.seekOffset.keys()]) {
      const [topic, partition] = JSON.parse(key) as [string, number];
      if (!isKept(topic, partition)) group.seekOffset.delete(key);
    }
  }
}
