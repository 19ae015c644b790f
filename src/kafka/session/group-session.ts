import type { PartitionLease, Skips } from '../../bus/publisher.ts';
import { StateLostError } from '../../base/errors.ts';
import { InflightBudget } from '../client/fetching/inflight-budget.ts';
import type { KafkaClient } from '../client/kafka-client.ts';
import type { PartitionMap } from '../client/cluster.ts';
import type { TopicPartitionIds } from '../client/owned-partitions.ts';
import { GroupConsumer } from '../client/group-consumer.ts';
import type { GroupConsumerOptions } from '../client/group-consumer.ts';
import type { SubscriptionAssignerOptions } from '../client/subscription-assigner.ts';
import type { WorkerObserver } from '../observer.ts';
import { partitionKey } from '../partition-key.ts';
import type { TopicPartition } from '../partition-key.ts';
import { Assignment } from './assignment.ts';
import { BatchProcessor } from './batch-processor.ts';
import type { BatchProcessorOptions } from './batch-processor.ts';
import { Commits } from './commits.ts';
import type { Detachment } from './detachment.ts';
import type { FlowWait } from './flow-wait.ts';
import { lostStates } from './lost-states.ts';
import { PartitionLeases } from './partition-leases.ts';
import { PartitionWaits } from './partition-waits.ts';
import type { PartitionWait, PartitionWaitsOptions } from './partition-waits.ts';
import { Positioning } from './positioning.ts';
import { RunningBatches } from './running-batches.ts';
import { SkippedPartitions } from './skipped-partitions.ts';
import type { KeptStates, StartOffsets } from './start-offsets.ts';
import { StateFilling } from './state-filling.ts';

/**
 * A session timeout should span about three heartbeats. Members learn by heartbeats that the group rebalances: the partitions that move
 * wait for the last member.
 */
const MAX_HEARTBEAT_INTERVAL_MS = 1000;
/** A batch that is processed sends heartbeats meanwhile. A publish takes 6 s at most. */
const REBALANCE_TIMEOUT_MS = 20_000;
const CONCURRENT_BATCHES = 8;

export interface GroupSessionOptions extends PartitionWaitsOptions, SubscriptionAssignerOptions {
  readonly client: KafkaClient;
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  /** Bound of all records that are decoded and not processed. */
  readonly maxInflightBytes: number;
  /** Bound of one batch after decompression. */
  readonly maxInflatedBytes: number;
  /** Topics that exist: a missing one would fail the join for all. */
  readonly topics: readonly string[];
  readonly startOffsets: Pick<StartOffsets, 'lookUp'>;
  /** undefined: the worker keeps no states. */
  readonly states?: KeptStates | undefined;
  readonly publisher: BatchProcessorOptions['publisher'];
  /** The flow control that the publisher waits for. */
  readonly flow: Pick<FlowWait, 'whenRoom' | 'has' | 'partitions'>;
  /** @throws BusUnavailableError */
  readonly acquire: (lease: PartitionLease) => Promise<Skips | undefined>;
  readonly observer: PartitionWaitsOptions['observer'] &
    Pick<WorkerObserver, 'onSkippedPartitions' | 'onProgress' | 'onCommitFailure' | 'onMissedRecords'>;
  /** Called after each join, once every assigned partition is positioned or waits for the bus. */
  readonly onJoined: (assignment: PartitionMap<unknown>) => void;
  /** Called with each join, before the partitions are positioned. */
  readonly onJoin: (assignment: PartitionMap<unknown>) => void;
  /** Called when the group's leader, of a former version, has assigned partitions of topics that this member has not subscribed to. */
  readonly onUnknownTopics: () => void;
}

/**
 * One consumer-group session, from join to leave. A failed session is replaced, never restarted. Records are published in
 * partition order. Accepted records are committed within 200 ms, before a rebalance and at close.
 */
export class GroupSession {
  /** Resolves with the error when the consumer fails. Never rejects. */
  readonly failed: Promise<Error>;
  readonly #fail: (error: Error) => void;
  readonly #options: GroupSessionOptions;
  readonly #consumer: GroupConsumer;
  readonly #waits: PartitionWaits;
  readonly #leases: PartitionLeases;
  readonly #commits: Commits;
  readonly #batches: RunningBatches;
  readonly #processor: BatchProcessor;
  /** undefined: no lease may skip messages. */
  #skipped: SkippedPartitions | undefined;
  readonly #filling: StateFilling | undefined;
  readonly #positioning: Positioning;
  readonly #assignment = new Assignment();
  /** Of the last join. Aborted by the next one, and when the session closes. */
  #positioningEnd = new AbortController();
  /** Settles when the partitions that the last join has brought are positioned, or wait for the bus. */
  #positioned: Promise<void> = Promise.resolve();
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #hasProgressed = false;
  /** When the coordinator last confirmed the membership, of performance.now(). */
  #confirmedAt = -Infinity;

  constructor(options: GroupSessionOptions) {
    const { client, sessionTimeoutMs, publisher, flow, states, log } = options;
    this.#options = options;
    let fail: (error: Error) => void;
    this.failed = new Promise((resolve) => (fail = resolve));
    this.#fail = (error) => fail(error);
    this.#waits = new PartitionWaits(options);
    this.#leases = new PartitionLeases((lease) => this.#acquire(lease), states?.signatures);
    this.#filling = states && new StateFilling(states.fills, log, this.#fail);
    const budget = new InflightBudget(options.maxInflightBytes);
    const heartbeatIntervalMs = Math.min(MAX_HEARTBEAT_INTERVAL_MS, Math.floor(sessionTimeoutMs / 3));
    this.#consumer = new GroupConsumer(client, { ...this.#consumerOptions(), budget, heartbeatIntervalMs });
    this.#commits = new Commits(this.#consumer, this.#leases, log, () => options.observer.onCommitFailure());
    const heartbeat = () => this.#consumer.heartbeat();
    this.#batches = new RunningBatches({ budget, flow, heartbeatIntervalMs, heartbeat, onFailure: this.#fail });
    this.#positioning = new Positioning({
      ...{ consumer: this.#consumer, startOffsets: options.startOffsets, leases: this.#leases, filling: this.#filling },
      ...{ wait: this.#waits.bus, observer: options.observer, log, onFailure: this.#fail },
    });
    this.#processor = new BatchProcessor({
      consumer: this.#consumer,
      publisher,
      leases: this.#leases,
      commits: this.#commits,
      waits: this.#waits,
      log,
      isClosing: () => this.#closing !== undefined,
      isConfirmedMember: () => performance.now() - this.#confirmedAt <= sessionTimeoutMs / 2,
      onAccepted: (topic, partition, position) => this.#advance(topic, partition, position),
    });
  }

  #consumerOptions(): Omit<GroupConsumerOptions, 'budget' | 'heartbeatIntervalMs'> {
    const { groupId, topics, sessionTimeoutMs, maxInflatedBytes, facts, onUndescribed, onAssigned, onUnknownTopics } =
      this.#options;
    return {
      groupId,
      topics,
      sessionTimeoutMs,
      rebalanceTimeoutMs: REBALANCE_TIMEOUT_MS,
      concurrency: CONCURRENT_BATCHES,
      maxInflatedBytes,
      members: { facts, onUndescribed, onAssigned },
      onBatch: (batch) => {
        const ownership = this.#assignment.ownershipOf(batch.topic, batch.partition);
        if (!ownership) return Promise.resolve();
        const process = (detachment: Detachment) => this.#processor.process(batch, ownership, detachment);
        return this.#batches.run(batch, process, ownership.flowSignal);
      },
      onJoin: (assigned, isContinued) => this.#onJoin(assigned, isContinued),
      onFailure: this.#fail,
      onRebalance: () => {
        this.#assignment.endFlowWaits();
        void this.#commits.commitNow();
      },
      onBackgroundJoin: () => void this.#commits.commitNow(),
      onHeartbeat: () => (this.#confirmedAt = performance.now()),
      onUnknownTopics,
      onEmptyBatch: ({ topic, partition, lastOffset }) => this.#advance(topic, partition, lastOffset + 1),
    };
  }

  async #acquire(lease: PartitionLease): Promise<Skips | undefined> {
    const skips = await this.#options.acquire(lease);
    if (skips && !this.#closing) this.#skipped ??= this.#followSkips(this.#options);
    return skips;
  }

  #followSkips({ log, observer }: GroupSessionOptions): SkippedPartitions {
    const onChange = (partitions: number) => observer.onSkippedPartitions(partitions);
    const skipped = () =>
      this.#assignment.list.flatMap(({ topic, partition }) => {
        const from = this.#leases.skippedFrom(topic, partition);
        return from === undefined ? [] : [{ topic, partition, from }];
      });
    const retake = (topic: string, partition: number, from: number) => {
      this.#leases.rewind(topic, partition, from);
      this.#consumer.seek({ topic, partition, offset: from });
    };
    const canRetake = (topic: string, partition: number) =>
      this.#assignment.ownershipOf(topic, partition)?.isPositioned === true && this.#leases.canRetake(topic, partition);
    return new SkippedPartitions({ skipped, canRetake, retake, onChange, log });
  }

  /** Whether any record was accepted. */
  get hasProgressed(): boolean {
    return this.#hasProgressed;
  }

  /** The assigned partitions, with the next offset if it is known. */
  get assignment(): PartitionMap<number | undefined> {
    return this.#assignment.positions;
  }

  /** Assigned partitions that are not read before another join, because no leader could say which records they have. */
  get unknown(): readonly TopicPartition[] {
    return this.#assignment.list.filter(({ ownership }) => ownership.isUnknown);
  }

  /** True while the partition waits for something other than records. */
  isPaused(topic: string, partition: number): boolean {
    return this.#waits.has(topic, partition);
  }

  /** The partitions that wait. */
  get waits(): readonly PartitionWait[] {
    const skipped = this.#skipped?.list ?? [];
    return [...this.#waits.list, ...skipped.map((one) => ({ ...one, for: 'a shard of the Redis Cluster' as const }))];
  }

  /** Fills of states that have not ended. */
  get pendingFills(): StateFilling['pending'] {
    return this.#filling?.pending ?? [];
  }

  /**
   * Fails the session if the bus has lost states of its partitions: a partition without new records would never show it.
   * @throws BusUnavailableError
   */
  async checkStates(): Promise<void> {
    const { states } = this.#options;
    const { signal } = this.#positioningEnd;
    const positioned = this.#assignment.list.filter(({ ownership }) => ownership.isPositioned);
    if (!states || positioned.length === 0) return;
    const lost = await lostStates(states, positioned);
    if (lost.length > 0 && !signal.aborted) this.#fail(new StateLostError(`the bus lost states of ${lost.join(', ')}`));
  }

  /** Joins the group. Resolves when joined, and positioned unless the bus is away; a failure to join rejects, or resolves `failed`. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Finishes the running chunks, commits and leaves the group, within `timeoutMs`. Later calls return the same promise. */
  close(timeoutMs: number): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async #open(): Promise<void> {
    await this.#consumer.start();
    // A rejoin in the meantime positions the partitions again.
    let positioning;
    do await (positioning = this.#positioned);
    while (positioning !== this.#positioned);
  }

  /** `isContinued`: no other member can have owned partitions that this one keeps. Their batches go on. */
  #onJoin(assigned: TopicPartitionIds, isContinued: boolean): void {
    if (this.#closing) return;
    this.#confirmedAt = performance.now();
    this.#positioningEnd.abort();
    const { signal } = (this.#positioningEnd = new AbortController());
    const gained = this.#assignment.replace(assigned, isContinued);
    const gainedKeys = new Set(gained.map(({ topic, partition }) => partitionKey(topic, partition)));
    const isGained = (topic: string, partition: number) => gainedKeys.has(partitionKey(topic, partition));
    const isAssigned = (topic: string, partition: number) => Boolean(this.#assignment.ownershipOf(topic, partition));
    const isKept = (topic: string, partition: number) => isAssigned(topic, partition) && !isGained(topic, partition);
    this.#options.onJoin(this.#assignment.positions);
    this.#waits.reassign(isAssigned, isKept);
    this.#leases.retain(isKept);
    this.#filling?.retain(isKept);
    // Records fetched before the partition is positioned would be useless. They may be deleted by now, which would end the session.
    this.#consumer.pause(gained);
    this.#consumer.reset(gained);
    // A detached batch of an earlier ownership may be publishing a chunk. Its records are not read again before it ends.
    this.#positioned = this.#batches.ended(isGained).then(async () => {
      if (await this.#positioning.run(gained, signal)) this.#options.onJoined(this.#assignment.positions);
    });
    for (const { ownership } of gained) ownership.positioning = this.#positioned;
  }

  #advance(topic: string, partition: number, position: number): void {
    this.#hasProgressed = true;
    this.#assignment.advance(topic, partition, position);
    // A fill has not read what was skipped.
    if (this.#leases.skippedFrom(topic, partition) === undefined) this.#filling?.advance(topic, partition, position);
    this.#options.observer.onProgress(topic, partition);
    this.#commits.schedule();
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#assignment.endFlowWaits();
    this.#positioningEnd.abort();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#leave(), timeout]);
    clearTimeout(timer);
    this.#commits.close();
    this.#batches.close();
    this.#filling?.close();
    this.#assignment.end();
    this.#waits.close();
    this.#skipped?.close();
    this.#options.client.destroy();
  }

  /** Waits for the running batches: kafkajs leaves the group as soon as it stops, and later acceptances could not be committed. */
  async #leave(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#batches.ended();
    await this.#commits.commitNow();
    await this.#consumer.close();
  }
}
