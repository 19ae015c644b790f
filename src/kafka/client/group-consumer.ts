import type { Consumer, EachBatchPayload } from 'kafkajs';
import type { TopicPartition } from '../partition-key.ts';
import type { TopicPartitionIds } from './owned-partitions.ts';
import type { InflightBudget } from './fetching/inflight-budget.ts';
import { fetched } from './fetching/record-batch.ts';
import type { FetchedRecord } from './fetching/record-batch.ts';
import type { KafkaClient } from './kafka-client.ts';
import { BackgroundJoins } from './patches/background-joins.ts';
import { boundFetches } from './patches/bounded-fetch.ts';
import { withoutDefaultOffsets } from './patches/default-offsets.ts';
import { subscriptionAssigner } from './subscription-assigner.ts';
import type { SubscriptionAssignerOptions } from './subscription-assigner.ts';

/** Longest wait of a fetch for records. A resumed partition is fetched after this time at the latest. */
const MAX_WAIT_MS = 250;
const MAX_BYTES_PER_PARTITION = 1_048_576;
const MAX_BYTES_PER_FETCH = 10_485_760;

interface TopicPartitionOffset extends TopicPartition {
  readonly offset: number;
}

/** What a commit of a partition says. */
export interface Commit {
  readonly offset: number;
  readonly metadata: string;
}

/** Records of a partition that were fetched together. */
export interface Batch extends TopicPartition {
  readonly records: readonly FetchedRecord[];
  /** Greater than that of the last record if control records or aborted ones follow. */
  readonly lastOffset: number;
  /** False once the consumer stops. */
  readonly isRunning: () => boolean;
  /** True from `seek` until it is applied: other records of the partition are read. */
  readonly isStale: () => boolean;
  /** The records up to this one are processed. The last record stands for those up to `lastOffset`. */
  readonly resolve: (offset: number) => void;
}

export interface GroupConsumerOptions {
  readonly groupId: string;
  /** They exist: a missing one would fail the join for all. */
  readonly topics: readonly string[];
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** How long a rebalance waits for a member with a running batch. */
  readonly rebalanceTimeoutMs: number;
  /** Batches at a time, each of another partition. */
  readonly concurrency: number;
  readonly budget: InflightBudget;
  /** Bound of one batch after decompression. */
  readonly maxInflatedBytes: number;
  /** Members of this group may have other topics, and each partition is positioned before it is read. undefined: neither. */
  readonly members?: SubscriptionAssignerOptions;
  /** Rejects for an error that ends the consumer. Nothing is fetched from the batch's broker before it has settled. */
  readonly onBatch: (batch: Batch) => Promise<void>;
  /**
   * Receives the assigned partitions. `isContinued`: this member was one in the last generation, too, so no other member can have owned the
   * partitions that it keeps in between. They are read on.
   */
  readonly onJoin: (assigned: TopicPartitionIds, isContinued: boolean) => void;
  /** The consumer has failed. It does not restart. */
  readonly onFailure: (error: Error) => void;
  /** Called when the consumer has stopped to read, to join the group again. Its membership may be lost. */
  readonly onRebalance?: () => void;
  /** Called before a consumer with `members` joins the group again and reads on meanwhile. Its generation is still valid. */
  readonly onBackgroundJoin?: () => void;
  /** The coordinator has confirmed the membership. */
  readonly onHeartbeat?: () => void;
  /** The group's leader, of a former version, has assigned partitions of topics that this member has not subscribed to. */
  readonly onUnknownTopics?: () => void;
  /** A batch had no records to process: control records, or aborted ones. It is resolved. */
  readonly onEmptyBatch: (position: TopicPartition & { readonly lastOffset: number }) => void;
}

/** A member of a consumer group, whose fetches are bounded. Once it has stopped, it may be paused, resumed and moved without effect. */
export class GroupConsumer {
  readonly #options: GroupConsumerOptions;
  readonly #consumer: Consumer;
  /** kafkajs sends heartbeats and the commits of all partitions through any batch. */
  #latest: Pick<EachBatchPayload, 'heartbeat' | 'uncommittedOffsets' | 'commitOffsetsIfNecessary'> | undefined;
  /** kafkajs throws where a consumer that has stopped is moved: in a timer of a partition that waits, that would end the process. */
  #hasStopped = false;
  readonly #joins: BackgroundJoins | undefined;

  constructor({ kafka }: KafkaClient, options: GroupConsumerOptions) {
    this.#options = options;
    const { members, budget, maxInflatedBytes } = options;
    const bounds = { budget, maxInflatedBytes };
    this.#joins = members && new BackgroundJoins(() => options.onBackgroundJoin?.());
    this.#consumer = kafka.consumer({
      partitionAssigners: [
        members
          ? withoutDefaultOffsets(boundFetches(bounds, this.#joins!.follow(subscriptionAssigner(members))))
          : boundFetches(bounds),
      ],
      groupId: options.groupId,
      sessionTimeout: options.sessionTimeoutMs,
      heartbeatInterval: options.heartbeatIntervalMs,
      rebalanceTimeout: options.rebalanceTimeoutMs,
      maxWaitTimeInMs: MAX_WAIT_MS,
      minBytes: 1,
      maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
      maxBytes: MAX_BYTES_PER_FETCH,
      allowAutoTopicCreation: false,
      retry: { retries: 5, initialRetryTime: 300, maxRetryTime: 2000, restartOnFailure: () => Promise.resolve(false) },
    });
    this.#listen();
  }

  /** Joins the group. Rejects if that fails; a failure after it calls `onFailure`. */
  async start(): Promise<void> {
    const { topics, concurrency, onBatch } = this.#options;
    await this.#consumer.connect();
    // `fromBeginning` applies if the next record is deleted while the consumer reads.
    await this.#consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: concurrency,
      eachBatch: (payload) => {
        this.#latest = payload;
        return onBatch(batchOf(payload));
      },
    });
  }

  pause(partitions: readonly TopicPartition[]): void {
    if (!this.#hasStopped) this.#consumer.pause(listed(partitions));
  }

  resume(partitions: readonly TopicPartition[]): void {
    if (!this.#hasStopped) this.#consumer.resume(listed(partitions));
  }

  seek({ topic, partition, offset }: TopicPartitionOffset): void {
    if (!this.#hasStopped) this.#consumer.seek({ topic, partition, offset: `${offset}` });
  }

  /** Reads these partitions from their commits on. Call in the turn of `onJoin`, which has assigned them. */
  reset(partitions: readonly TopicPartition[]): void {
    this.#joins?.reset(partitions);
  }

  /** Tries again for some seconds. @throws what the coordinator refuses */
  commit(offsets: readonly (TopicPartition & Commit)[]): Promise<void> {
    return this.#consumer.commitOffsets(offsets.map((one) => ({ ...one, offset: `${one.offset}` })));
  }

  /**
   * Commits what batches have resolved, of all partitions. Tries once.
   * @param commitOf undefined: the partition is left out
   * @throws what the coordinator refuses
   */
  async commitResolved(commitOf: (resolved: TopicPartitionOffset) => Commit | undefined): Promise<void> {
    const resolved = this.#latest?.uncommittedOffsets().topics ?? [];
    const topics = resolved.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.flatMap(({ partition, offset }) => {
        const commit = commitOf({ topic, partition, offset: Number(offset) });
        return commit ? [{ partition, offset: `${commit.offset}`, metadata: commit.metadata }] : [];
      }),
    }));
    const filled = topics.filter(({ partitions }) => partitions.length > 0);
    if (filled.length > 0) await this.#latest!.commitOffsetsIfNecessary({ topics: filled });
  }

  /** Sends a heartbeat if the last one is older than the interval. @throws if the group rebalances */
  async heartbeat(): Promise<void> {
    await this.#latest?.heartbeat();
  }

  /** The join that runs while the consumer reads on; undefined: none. Never rejects. */
  get joining(): Promise<void> | undefined {
    return this.#joins?.current;
  }

  /** Leaves the group. Never rejects. */
  async close(): Promise<void> {
    this.#joins?.close();
    await this.#consumer.disconnect().catch(() => undefined);
  }

  #listen(): void {
    const { onJoin, onFailure, onRebalance, onHeartbeat, onUnknownTopics, onEmptyBatch, budget } = this.#options;
    const consumer = this.#consumer;
    const { events } = consumer;
    consumer.on(events.STOP, () => {
      this.#hasStopped = true;
      this.#joins?.close();
    });
    consumer.on(events.GROUP_JOIN, ({ payload }) =>
      onJoin(new Map(Object.entries(payload.memberAssignment)), this.#joins?.isContinued === true),
    );
    consumer.on(events.CRASH, ({ payload }) => onFailure(payload.error));
    // Emitted even if there is nothing to fetch: a rebalance may have dropped the batches of the broker's last response.
    consumer.on(events.FETCH_START, ({ payload }) => budget.releaseNode(`${payload.nodeId}`));
    consumer.on(events.END_BATCH_PROCESS, ({ payload: { topic, partition, batchSize, lastOffset } }) => {
      if (batchSize === 0) onEmptyBatch({ topic, partition, lastOffset: Number(lastOffset) });
    });
    if (onRebalance) consumer.on(events.REBALANCING, onRebalance);
    if (onHeartbeat) consumer.on(events.HEARTBEAT, onHeartbeat);
    if (onUnknownTopics) consumer.on(events.RECEIVED_UNSUBSCRIBED_TOPICS, onUnknownTopics);
  }
}

function batchOf(payload: EachBatchPayload): Batch {
  const { batch } = payload;
  return {
    topic: batch.topic,
    partition: batch.partition,
    records: fetched(batch.messages),
    lastOffset: Number(batch.lastOffset()),
    isRunning: () => payload.isRunning(),
    isStale: () => payload.isStale(),
    resolve: (offset) => payload.resolveOffset(`${offset}`),
  };
}

/** As kafkajs lists partitions. */
function listed(partitions: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  return partitions.map(({ topic, partition }) => ({ topic, partitions: [partition] }));
}
