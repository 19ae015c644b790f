import { setMaxListeners } from 'node:events';
import type { Consumer, EachBatchPayload } from 'kafkajs';
import type { PartitionLease } from '../../bus/bus.ts';
import { BusUnavailableError, FencedError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { KafkaRecord } from '../batch.ts';
import { boundFetches } from '../kafkajs/bounded-fetch.ts';
import { BusPause } from './bus-pause.ts';
import { PartitionLeases } from './partition-leases.ts';
import type { KafkaClient } from '../kafkajs/client.ts';
import type { PartitionMap } from '../kafkajs/cluster.ts';
import { Commits } from './commits.ts';
import { DeadLetterWait } from './dead-letter-wait.ts';
import type { Detachment } from './detachment.ts';
import type { FlowWait } from './flow-wait.ts';
import { InflightBudget } from '../fetching/inflight-budget.ts';
import type { FetchedRecord } from '../fetching/record-batch.ts';
import { RunningBatches } from './running-batches.ts';
import type { StartOffsets } from './start-offsets.ts';
import type { PublishedChunk, RecordPublisher } from '../record-publisher.ts';

/** A session needs about three heartbeats. */
const MAX_HEARTBEAT_INTERVAL_MS = 3000;
/** A member with a batch under way keeps its session by heartbeats: a rebalance waits for it this long. A publish takes 6 s at most. */
const REBALANCE_TIMEOUT_MS = 20_000;
/** Longest wait of a fetch for records; a resumed partition waits as long at most. */
const MAX_WAIT_MS = 250;
const MAX_BYTES_PER_PARTITION = 1_048_576;
const MAX_BYTES_PER_FETCH = 10_485_760;
/** Batches of different partitions that wait for the bus together. */
const CONCURRENT_BATCHES = 8;
/** Longest time that a batch waits for the dead-letter topic; its partition waits longer, without holding up the others. */
const DEAD_LETTER_PATIENCE_MS = 200;
const MAX_POSITION_ATTEMPTS = 5;

export interface GroupSessionOptions {
  readonly client: KafkaClient;
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  /** Of all records that are decoded and not processed yet. */
  readonly maxInflightBytes: number;
  /** Of one batch. */
  readonly maxInflatedBytes: number;
  /** Existing ones: a missing topic would fail the join of all. */
  readonly topics: readonly string[];
  readonly startOffsets: Pick<StartOffsets, 'look'>;
  readonly publisher: Pick<RecordPublisher, 'publish'>;
  /** The worker's. */
  readonly flow: Pick<FlowWait, 'room' | 'has' | 'partitions'>;
  /** @throws BusUnavailableError */
  readonly acquire: (lease: PartitionLease) => Promise<void>;
  readonly log: Logger;
  /** Joined, for the first time or after a rebalance, and every assigned partition knows where it starts. */
  readonly onJoined: (assignment: PartitionMap<unknown>) => void;
  /** The group's leader has given us partitions of topics that we do not know yet. */
  readonly onUnknownTopics: () => void;
  readonly onPausedPartitions: (partitions: number) => void;
  /** How many partitions wait for the dead-letter topic now. */
  readonly onWaitingPartitions: (partitions: number) => void;
}

/** Why a partition is not read now. */
export interface PartitionWait {
  readonly topic: string;
  readonly partition: number;
  readonly for: 'bus' | 'dead-letter topic' | 'gateways';
  /** The gateway that is furthest behind, where it is known. */
  readonly gateway?: string | undefined;
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
  readonly #pause: BusPause;
  readonly #deadLetterWait: DeadLetterWait;
  readonly #leases: PartitionLeases;
  readonly #commits: Commits;
  /** Position of each assigned partition; undefined until something of it was accepted. */
  #assignment = new Map<string, Map<number, bigint | undefined>>();
  /** Counts joins: a batch that was fetched before a rebalance may belong to another member by now. */
  #generation = 0;
  /** Aborted when the generation ends: then nobody waits for its dead letters. */
  #generationEnd = sharedAbort();
  /** Ends all waits for gateways: aborted when the group rebalances, the generation ends, or the session is closed. */
  #flowEnd = sharedAbort();
  readonly #batches: RunningBatches;
  #positioning: Promise<void> = Promise.resolve();
  #positionedGeneration = 0;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #hasProgressed = false;
  /** When the coordinator last said that we are a member, of performance.now(). */
  #confirmedAt = -Infinity;

  constructor(options: GroupSessionOptions) {
    this.#options = options;
    let fail: (error: Error) => void;
    this.failed = new Promise((resolve) => (fail = resolve));
    this.#fail = (error) => fail(error);
    this.#pause = new BusPause({ log: options.log, onChange: options.onPausedPartitions });
    this.#deadLetterWait = new DeadLetterWait(options.onWaitingPartitions);
    this.#leases = new PartitionLeases(options.acquire);
    this.#commits = new Commits(this.#leases, options.log);
    const heartbeatIntervalMs = Math.min(MAX_HEARTBEAT_INTERVAL_MS, Math.floor(options.sessionTimeoutMs / 3));
    this.#inflight = new InflightBudget(options.maxInflightBytes);
    this.#batches = new RunningBatches({
      budget: this.#inflight,
      flow: options.flow,
      heartbeatIntervalMs,
      onFailure: this.#fail,
    });
    const { maxInflatedBytes } = options;
    this.#consumer = options.client.kafka.consumer({
      partitionAssigners: [boundFetches({ budget: this.#inflight, maxInflatedBytes })],
      groupId: options.groupId,
      sessionTimeout: options.sessionTimeoutMs,
      heartbeatInterval: heartbeatIntervalMs,
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      maxWaitTimeInMs: MAX_WAIT_MS,
      minBytes: 1,
      maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
      maxBytes: MAX_BYTES_PER_FETCH,
      allowAutoTopicCreation: false,
      // kafkajs never restarts by itself: whatever ends the consumer replaces this session.
      retry: { retries: 5, initialRetryTime: 300, maxRetryTime: 2000, restartOnFailure: () => Promise.resolve(false) },
    });
  }

  /** Whether any record was accepted. */
  get hasProgressed(): boolean {
    return this.#hasProgressed;
  }

  /** The assigned partitions, with the next offset where one is known. */
  get assignment(): PartitionMap<bigint | undefined> {
    return this.#assignment;
  }

  /** Whether it waits for the bus, for the dead-letter topic, or for gateways. */
  isPaused(topic: string, partition: number): boolean {
    const waits = [this.#pause, this.#deadLetterWait, this.#options.flow];
    return waits.some((wait) => wait.has(topic, partition));
  }

  /** The partitions that are paused. */
  get waits(): readonly PartitionWait[] {
    return [
      ...this.#options.flow.partitions.map((one) => ({ ...one, for: 'gateways' as const })),
      ...this.#pause.partitions.map(({ topic, partition }) => ({ topic, partition, for: 'bus' as const })),
      ...this.#deadLetterWait.partitions.map((one) => ({ ...one, for: 'dead-letter topic' as const })),
    ];
  }

  /** Joins the group. Resolves when joined and positioned; a failure to join rejects, or resolves `failed`. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Finishes the chunks under way, commits and leaves. Bounded by `timeoutMs`. Later calls return the same promise. */
  close(timeoutMs: number): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async #open(): Promise<void> {
    const { topics, onUnknownTopics } = this.#options;
    const { events } = this.#consumer;
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => this.#onJoin(payload.memberAssignment));
    // Emitted before kafkajs sends the join: the commit reaches the coordinator while our generation is still valid.
    this.#consumer.on(events.REBALANCING, () => {
      this.#flowEnd.abort();
      void this.#commits.now();
    });
    this.#consumer.on(events.HEARTBEAT, () => (this.#confirmedAt = performance.now()));
    this.#consumer.on(events.RECEIVED_UNSUBSCRIBED_TOPICS, onUnknownTopics);
    // Also where there is nothing to ask the broker for: a rebalance may have dropped the batches of its last response.
    this.#consumer.on(events.FETCH_START, ({ payload }) => this.#inflight.releaseNode(`${payload.nodeId}`));
    this.#consumer.on(events.CRASH, ({ payload }) => this.#fail(payload.error));
    this.#consumer.on(events.END_BATCH_PROCESS, ({ payload }) => {
      // Nothing but control records and aborted ones: kafkajs has resolved it itself.
      if (payload.batchSize === 0) this.#advance(payload.topic, payload.partition, BigInt(payload.lastOffset) + 1n);
    });
    await this.#consumer.connect();
    // Where records are gone while we read: the oldest. StartOffsets says where the others start.
    await this.#consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_BATCHES,
      eachBatch: (payload) => {
        const process = (detachment: Detachment) => this.#onBatch(payload, detachment);
        return this.#batches.run(payload, process, this.#flowEnd.signal);
      },
    });
    // Who joins again meanwhile is positioned anew.
    let positioning;
    do await (positioning = this.#positioning);
    while (positioning !== this.#positioning);
  }

  async #close(timeoutMs: number): Promise<void> {
    const { client } = this.#options;
    this.#flowEnd.abort();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    const leave = async () => {
      await this.#opening?.catch(() => undefined);
      // kafkajs leaves the group as soon as it stops: what is accepted after the last commit would be delivered again.
      await this.#batches.ended();
      await this.#commits.now();
      await this.#consumer.disconnect().catch(() => undefined);
    };
    await Promise.race([leave(), timeout]);
    clearTimeout(timer);
    this.#commits.close();
    this.#batches.close();
    this.#beginGeneration();
    this.#pause.close();
    client.destroy();
  }

  #beginGeneration(): number {
    this.#generationEnd.abort();
    this.#generationEnd = sharedAbort();
    this.#flowEnd.abort();
    this.#flowEnd = sharedAbort();
    this.#deadLetterWait.clear();
    return ++this.#generation;
  }

  #onJoin(memberAssignment: Record<string, number[]>): void {
    const generation = this.#beginGeneration();
    this.#confirmedAt = performance.now();
    this.#assignment = new Map(
      Object.entries(memberAssignment).map(([topic, partitions]) => [
        topic,
        new Map(partitions.map((partition) => [partition, undefined])),
      ]),
    );
    this.#pause.retain((topic, partition) => this.#assignment.get(topic)?.has(partition) === true);
    const partitions = Object.entries(memberAssignment).map(([topic, of]) => ({ topic, partitions: of }));
    // What would be fetched from before a start is of no use, and may not be there any more, which would end us.
    this.#consumer.pause(partitions);
    this.#positioning = this.#position(generation)
      .then(() => {
        this.#positionedGeneration = generation;
        if (generation !== this.#generation) return;
        this.#consumer.resume(partitions);
        this.#options.onJoined(this.#assignment);
      })
      .catch((error: Error) => {
        if (generation === this.#generation) this.#fail(error);
      });
  }

  /** Looks where the assigned partitions go on; commits where those start that go on from nothing, and reads it back. */
  async #position(generation: number): Promise<void> {
    // A detached batch of the generation before may have a chunk on its way: records are not read again before it has arrived.
    await this.#batches.ended();
    for (let attempt = 1; ; attempt++) {
      const { resumePoints, uncommitted } = await this.#options.startOffsets.look(this.#assignment);
      if (generation !== this.#generation) return;
      this.#leases.assign(resumePoints);
      if (uncommitted.length === 0) return;
      if (attempt > MAX_POSITION_ATTEMPTS) throw new Error('the start offsets of partitions could not be committed');
      for (const start of uncommitted) this.#consumer.seek(start);
      await this.#consumer.commitOffsets(uncommitted);
    }
  }

  async #onBatch(payload: EachBatchPayload, detachment: Detachment): Promise<void> {
    const { batch } = payload;
    const { topic, partition } = batch;
    const generation = this.#generation;
    const { signal: deadLetterSignal } = this.#generationEnd;
    const { signal } = this.#flowEnd;
    const isOurs = () => generation === this.#generation && !payload.isStale();
    const isGoingOn = () => !this.#closing && !signal.aborted && payload.isRunning() && isOurs();
    this.#commits.use(payload);
    await this.#positioning;
    if (this.#positionedGeneration !== generation || !isGoingOn()) return;
    const [first] = batch.messages;
    const onPublished = async ({ last, lastBeforePoison, deadLettered }: PublishedChunk) => {
      const isDeadLettered = await isResolvedWithin(deadLettered, DEAD_LETTER_PATIENCE_MS);
      // The partition may have gone to another member, which reads it from the last commit.
      if (!isOurs()) return false;
      if (isDeadLettered) {
        this.#accept(payload, last);
      } else {
        if (lastBeforePoison) this.#accept(payload, lastBeforePoison);
        this.#waitForDeadLetters(payload, last, deadLettered!, isOurs);
      }
      await payload.heartbeat();
      return isDeadLettered && isGoingOn();
    };
    try {
      if (first) await this.#leases.acquire(topic, partition, Number(first.offset));
      const onLimited = () => detachment.detach();
      await this.#options.publisher.publish(recordsOf(payload), { onPublished, onLimited, signal, deadLetterSignal });
    } catch (error) {
      if (error instanceof FencedError) return await this.#onFenced(payload);
      if (!(error instanceof BusUnavailableError)) throw error;
      if (isGoingOn()) this.#pause.add(topic, partition, this.#pausePartition(topic, partition));
    } finally {
      if (!payload.isRunning() || signal.aborted) await this.#commits.now();
    }
  }

  /** Everything up to this record was published, or dead-lettered. */
  #accept(payload: EachBatchPayload, { offset }: KafkaRecord): void {
    const { batch } = payload;
    const { topic, partition } = batch;
    const isFinal = offset === batch.messages.at(-1)?.offset;
    payload.resolveOffset(offset);
    this.#leases.accept(topic, partition, Number(offset));
    this.#advance(topic, partition, BigInt(isFinal ? batch.lastOffset() : offset) + 1n);
    this.#pause.delete(topic, partition);
  }

  /** Returns what resumes it: unlike `payload.pause()`, without a reference to the batch's records, which count in no budget any more. */
  #pausePartition(topic: string, partition: number): () => void {
    const paused = [{ topic, partitions: [partition] }];
    this.#consumer.pause(paused);
    return () => this.#consumer.resume(paused);
  }

  /** Pauses the partition until the poison records of its last chunk are written. The other partitions are read on. */
  #waitForDeadLetters(
    payload: EachBatchPayload,
    last: KafkaRecord,
    deadLettered: Promise<void>,
    isOurs: () => boolean,
  ): void {
    const { topic, partition } = payload.batch;
    const resume = payload.pause();
    this.#pause.delete(topic, partition);
    this.#deadLetterWait.add(topic, partition);
    void deadLettered.then(
      () => {
        if (!isOurs()) return;
        this.#accept(payload, last);
        this.#deadLetterWait.delete(topic, partition);
        resume();
      },
      // The generation has ended: whoever has the partition then begins with these records.
      () => undefined,
    );
  }

  /**
   * Only a member may lease a partition again that another has leased. A partition is given to another 10 s (the session's timeout) after our
   * last heartbeat at the earliest, and kafkajs sends one here if the last was answered more than 3 s ago: we are a member, or
   * this throws. It is then refused again, until a coordinator answers or the group is joined anew.
   */
  async #onFenced(payload: EachBatchPayload): Promise<void> {
    const { topic, partition } = payload.batch;
    await payload.heartbeat();
    if (performance.now() - this.#confirmedAt > this.#options.sessionTimeoutMs / 2) {
      throw new Error('the bus refused a partition, and no coordinator says that it is ours');
    }
    this.#options.log.warn({ topic, partition }, 'the bus refused the partition; it is leased again');
    this.#leases.drop(topic, partition);
  }

  #advance(topic: string, partition: number, position: bigint): void {
    this.#hasProgressed = true;
    this.#assignment.get(topic)?.set(partition, position);
    this.#commits.schedule();
  }
}

/** Any number of partitions listen to its signal: Node warns of more than ten. */
function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

function* recordsOf({ batch }: EachBatchPayload): Generator<KafkaRecord> {
  const { topic, partition } = batch;
  for (const message of batch.messages) {
    const { offset, timestamp, key, value, headers } = message;
    const { poison } = message as Partial<FetchedRecord>;
    yield { topic, partition, offset, timestamp, key, value, headers, poison };
  }
}

/** Whether it resolves in time; undefined: there is nothing to wait for. Handles a rejection, too. */
async function isResolvedWithin(promise: Promise<void> | undefined, timeoutMs: number): Promise<boolean> {
  if (!promise) return true;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const resolved = promise.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([resolved, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
