import type { Consumer } from 'kafkajs';
import type { PartitionLease } from '../../bus/bus.ts';
import { StateLostError } from '../../errors.ts';
import { InflightBudget } from '../fetching/inflight-budget.ts';
import type { KafkaClient } from '../kafkajs/client.ts';
import type { PartitionMap } from '../kafkajs/cluster.ts';
import { createGroupConsumer } from '../kafkajs/group-consumer.ts';
import type { RecordPublisher } from '../record-publisher.ts';
import { BatchProcessor } from './batch-processor.ts';
import { Commits } from './commits.ts';
import type { Detachment } from './detachment.ts';
import type { FlowWait } from './flow-wait.ts';
import { Generation } from './generation.ts';
import { lostStates } from './lost-states.ts';
import { PartitionLeases } from './partition-leases.ts';
import { PartitionWaits } from './partition-waits.ts';
import type { PartitionWait, PartitionWaitsOptions } from './partition-waits.ts';
import { RunningBatches } from './running-batches.ts';
import type { KeptStates, StartOffsets } from './start-offsets.ts';
import { StateFilling } from './state-filling.ts';
import type { PendingFill } from './state-filling.ts';

/** A session timeout should span about three heartbeats. */
const MAX_HEARTBEAT_INTERVAL_MS = 3000;
/** Batches that kafkajs processes at a time, each of another partition. */
const CONCURRENT_BATCHES = 8;
const MAX_POSITION_ATTEMPTS = 5;

export interface GroupSessionOptions extends PartitionWaitsOptions {
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
  readonly publisher: Pick<RecordPublisher, 'publish'>;
  /** The flow control that the publisher waits for. */
  readonly flow: Pick<FlowWait, 'room' | 'has' | 'partitions'>;
  /** @throws BusUnavailableError */
  readonly acquire: (lease: PartitionLease) => Promise<void>;
  /** Called after each join, once every assigned partition is positioned. */
  readonly onJoined: (assignment: PartitionMap<unknown>) => void;
  /** Called with each join, before the partitions are positioned. */
  readonly onJoin: (assignment: PartitionMap<unknown>) => void;
  /** Called when records of a partition are accepted. */
  readonly onProgress: (topic: string, partition: number) => void;
  readonly onCommitFailure: () => void;
  /** Called when the group's leader has assigned partitions of topics that this member has not subscribed to. */
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
  readonly #consumer: Consumer;
  readonly #inflight: InflightBudget;
  readonly #waits: PartitionWaits;
  readonly #leases: PartitionLeases;
  readonly #commits: Commits;
  readonly #batches: RunningBatches;
  readonly #processor: BatchProcessor;
  readonly #filling: StateFilling | undefined;
  /** Next offset to read of each assigned partition; undefined until one of its records is accepted. */
  #assignment = new Map<string, Map<number, bigint | undefined>>();
  #generation = new Generation();
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #hasProgressed = false;
  /** When the coordinator last confirmed the membership, of performance.now(). */
  #confirmedAt = -Infinity;

  constructor(options: GroupSessionOptions) {
    const { client, groupId, sessionTimeoutMs, maxInflatedBytes, publisher, flow, states, log } = options;
    this.#options = options;
    let fail: (error: Error) => void;
    this.failed = new Promise((resolve) => (fail = resolve));
    this.#fail = (error) => fail(error);
    this.#waits = new PartitionWaits(options);
    this.#leases = new PartitionLeases(options.acquire, states?.signatures);
    this.#filling = states && new StateFilling(states.fills, log);
    this.#commits = new Commits(this.#leases, log, options.onCommitFailure);
    this.#inflight = new InflightBudget(options.maxInflightBytes);
    const budget = this.#inflight;
    const heartbeatIntervalMs = Math.min(MAX_HEARTBEAT_INTERVAL_MS, Math.floor(sessionTimeoutMs / 3));
    this.#batches = new RunningBatches({ budget, flow, heartbeatIntervalMs, onFailure: this.#fail });
    const settings = { groupId, sessionTimeoutMs, heartbeatIntervalMs, budget, maxInflatedBytes };
    this.#consumer = createGroupConsumer(client, settings);
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

  /** Whether any record was accepted. */
  get hasProgressed(): boolean {
    return this.#hasProgressed;
  }

  /** The assigned partitions, with the next offset if it is known. */
  get assignment(): PartitionMap<bigint | undefined> {
    return this.#assignment;
  }

  /** True while the partition waits for something other than records. */
  isPaused(topic: string, partition: number): boolean {
    return this.#waits.has(topic, partition);
  }

  /** The partitions that wait. */
  get waits(): readonly PartitionWait[] {
    return this.#waits.list;
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
    const generation = this.#generation;
    const { states } = this.#options;
    if (!states || !generation.isPositioned) return;
    const lost = await lostStates(states, this.#assignment);
    if (lost.length > 0 && !generation.hasEnded)
      this.#fail(new StateLostError(`the bus lost states of ${lost.join(', ')}`));
  }

  /** Joins the group. Resolves when joined and positioned; a failure to join rejects, or resolves `failed`. */
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
    this.#listen();
    await this.#consumer.connect();
    // `fromBeginning` applies if the next record is deleted while the session reads. StartOffsets sets where each partition starts.
    await this.#consumer.subscribe({ topics: [...this.#options.topics], fromBeginning: true });
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_BATCHES,
      eachBatch: (payload) => {
        const generation = this.#generation;
        const process = (detachment: Detachment) => this.#processor.process(payload, generation, detachment);
        return this.#batches.run(payload, process, generation.flowSignal);
      },
    });
    // A rejoin in the meantime positions the partitions again.
    let positioning;
    do await (positioning = this.#generation.positioning);
    while (positioning !== this.#generation.positioning);
  }

  #listen(): void {
    const consumer = this.#consumer;
    const { events } = consumer;
    consumer.on(events.GROUP_JOIN, ({ payload }) => this.#onJoin(payload.memberAssignment));
    // Emitted before kafkajs sends the join: the commit reaches the coordinator while this generation is still valid.
    consumer.on(events.REBALANCING, () => {
      this.#generation.endFlowWaits();
      void this.#commits.commitNow();
    });
    consumer.on(events.HEARTBEAT, () => (this.#confirmedAt = performance.now()));
    consumer.on(events.RECEIVED_UNSUBSCRIBED_TOPICS, this.#options.onUnknownTopics);
    // Emitted even if there is nothing to fetch: a rebalance may have dropped the batches of the broker's last response.
    consumer.on(events.FETCH_START, ({ payload }) => this.#inflight.releaseNode(`${payload.nodeId}`));
    consumer.on(events.CRASH, ({ payload }) => this.#fail(payload.error));
    consumer.on(events.END_BATCH_PROCESS, ({ payload: { topic, partition, batchSize, lastOffset } }) => {
      // Only control records and aborted ones: kafkajs has resolved the batch itself.
      if (batchSize === 0) this.#advance(topic, partition, BigInt(lastOffset) + 1n);
    });
  }

  #onJoin(memberAssignment: Record<string, number[]>): void {
    const generation = this.#replaceGeneration();
    this.#confirmedAt = performance.now();
    this.#assignment = new Map(
      Object.entries(memberAssignment).map(([topic, partitions]) => [
        topic,
        new Map(partitions.map((partition) => [partition, undefined])),
      ]),
    );
    this.#options.onJoin(this.#assignment);
    this.#waits.reassign((topic, partition) => this.#assignment.get(topic)?.has(partition) === true);
    const partitions = Object.entries(memberAssignment).map(([topic, of]) => ({ topic, partitions: of }));
    // Records fetched before the partition is positioned would be useless. They may be deleted by now, which would end the session.
    this.#consumer.pause(partitions);
    generation.positioning = this.#position(generation)
      .then(() => {
        generation.isPositioned = true;
        if (generation.hasEnded) return;
        this.#consumer.resume(partitions);
        this.#options.onJoined(this.#assignment);
      })
      .catch((error: Error) => {
        if (!generation.hasEnded) this.#fail(error);
      });
  }

  /** Looks up where the assigned partitions resume. Commits new start ids, then looks them up again. */
  async #position(generation: Generation): Promise<void> {
    // A detached batch of the last generation may be publishing a chunk. Its records are not read again before it ends.
    await this.#batches.ended();
    for (let attempt = 1; ; attempt++) {
      const { resumePoints, uncommitted, pendingFills } = await this.#options.startOffsets.lookUp(this.#assignment);
      if (generation.hasEnded) return;
      this.#leases.assign(resumePoints);
      if (uncommitted.length === 0) return await this.#fill(pendingFills, generation);
      if (attempt > MAX_POSITION_ATTEMPTS) throw new Error('the start offsets of partitions could not be committed');
      for (const start of uncommitted) this.#consumer.seek(start);
      await this.#consumer.commitOffsets(uncommitted);
    }
  }

  /** Leases the partitions of fills at once: a fill of a partition without records would never begin otherwise. */
  async #fill(pendingFills: readonly PendingFill[], generation: Generation): Promise<void> {
    for (const { topic, partition, next } of pendingFills) await this.#leases.acquire(topic, partition, Number(next));
    if (!generation.hasEnded) this.#filling?.assign(pendingFills);
  }

  #replaceGeneration(): Generation {
    this.#generation.end();
    this.#generation = new Generation();
    return this.#generation;
  }

  #advance(topic: string, partition: number, position: bigint): void {
    this.#hasProgressed = true;
    this.#assignment.get(topic)?.set(partition, position);
    this.#filling?.advance(topic, partition, position);
    this.#options.onProgress(topic, partition);
    this.#commits.schedule();
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#generation.endFlowWaits();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#leave(), timeout]);
    clearTimeout(timer);
    this.#commits.close();
    this.#batches.close();
    this.#filling?.close();
    this.#generation.end();
    this.#waits.close();
    this.#options.client.destroy();
  }

  /** Waits for the running batches: kafkajs leaves the group as soon as it stops, and later acceptances could not be committed. */
  async #leave(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#batches.ended();
    await this.#commits.commitNow();
    await this.#consumer.disconnect().catch(() => undefined);
  }
}
