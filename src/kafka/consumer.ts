import { setTimeout as delay } from 'node:timers/promises';
import type { ChannelMessage } from '../bus/bus-message.ts';
import type { PartitionLease, Position, Skips } from '../bus/publisher.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../base/log.ts';
import { orAborted } from '../base/or-aborted.ts';
import { answerOf, diagnose } from './client/access/connection-fix.ts';
import type { KafkaConnectionConfig } from './client/access/kafka-access.ts';
import type { BatchPorts } from './batch.ts';
import { createKafkaClient } from './client/kafka-client.ts';
import { Cluster } from './client/cluster.ts';
import type { PartitionMap } from './client/cluster.ts';
import type { MemberFacts } from './client/group-members.ts';
import type { OwnedPartitions } from './client/owned-partitions.ts';
import { DeadLetter } from './dead-letter/dead-letter.ts';
import { GroupWatch } from './group-watch.ts';
import type { FlowWait } from './session/flow-wait.ts';
import { GroupSession } from './session/group-session.ts';
import type { PartitionWait } from './session/partition-waits.ts';
import type { RebuildReason, WorkerObserver } from './observer.ts';
import { isSameReads } from './kafka-reads.ts';
import type { KafkaReads } from './kafka-reads.ts';
import { Periodic } from './periodic.ts';
import { OpenTransactions } from './session/open-transactions.ts';
import { positionsOf } from './session/positions.ts';
import { StartOffsets } from './session/start-offsets.ts';
import { SessionWatchdog } from './session/session-watchdog.ts';
import { RecordPublisher } from './record-publisher.ts';
import { TopicDiscovery } from './topic-discovery.ts';
import { UndecodableLimit } from './undecodable-limit.ts';

export interface KafkaConsumerOptions extends BatchPorts, KafkaReads {
  readonly config: KafkaConnectionConfig &
    Pick<
      Config,
      | 'KAFKA_GROUP_ID'
      | 'KAFKA_SESSION_TIMEOUT_MS'
      | 'KAFKA_FROM_BEGINNING'
      | 'KAFKA_DEAD_LETTER_TOPIC'
      | 'DEAD_LETTER'
      | 'KAFKA_TOPIC_CHECK_INTERVAL_MS'
      | 'KAFKA_STALL_TIMEOUT_MS'
      | 'MAX_INFLIGHT_BYTES'
      | 'MAX_INFLATED_BATCH_BYTES'
      | 'UNDECODABLE_LIMIT'
    >;
  /** @throws BusUnavailableError, FencedError */
  readonly publish: (messages: readonly ChannelMessage[], upTo: Position) => Promise<void>;
  /** @throws BusUnavailableError */
  readonly acquire: (lease: PartitionLease) => Promise<Skips | undefined>;
  /** What this worker tells the others of its group. Default: nothing. */
  readonly facts?: (() => Pick<MemberFacts, 'pod' | 'graph' | 'place'>) | undefined;
  /** Finds the consumer group before the first join, if KAFKA_GROUP_ID is not set. `topics`: those that exist. */
  readonly findGroupId?: ((topics: readonly string[], cluster: Cluster) => Promise<string>) | undefined;
  readonly flow: FlowWait;
  readonly observer: WorkerObserver;
  readonly log: Logger;
  /** Called once, if the consumer stalls again after it was replaced: the process must be restarted. */
  readonly onFatal: (error: Error) => void;
}

const LEAVE_TIMEOUT_MS = 4000;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5000;
const MAX_WATCH_INTERVAL_MS = 10_000;

const UNREACHABLE = 'Kafka cannot be reached; trying again';
const REFUSED = 'Kafka answered with an error; trying again';

/** Why the group cannot be joined, and what to correct. */
export interface KafkaProblem {
  readonly reason: string;
  readonly fix: string;
}

/** Why a group session ended. */
type Ending =
  | { readonly kind: 'closed' | 'topics' }
  | { readonly kind: 'failed'; readonly reason: RebuildReason; readonly error: Error };

/**
 * Consumes the topics: decodes, routes and publishes their records, then commits. Recovers by itself: replaces a group session that
 * failed or stalled, retries brokers that cannot be reached, and subscribes to missing topics when they appear.
 */
export class KafkaConsumer {
  readonly #options: KafkaConsumerOptions;
  readonly #cluster: Cluster;
  readonly #deadLetter: DeadLetter;
  readonly #publisher: RecordPublisher;
  readonly #discovery: TopicDiscovery;
  /** undefined until the group is known. */
  #startOffsets: StartOffsets | undefined;
  readonly #group: GroupWatch;
  /** '' until it is known. */
  #groupId: string;
  readonly #watchdog: SessionWatchdog;
  readonly #transactions: OpenTransactions;
  readonly #periodics: readonly Periodic[];
  readonly #closeSignal = new AbortController();
  #starting: Promise<void> | undefined;
  #supervision: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #session: GroupSession | undefined;
  #end: ((ending: Ending) => void) | undefined;
  #isConnected = false;
  #isFatal = false;
  #problem: KafkaProblem | undefined;
  /** Of the last join, also by a session that has ended: the next one keeps what nobody else has received meanwhile. */
  #owned: OwnedPartitions | undefined;
  #reads: KafkaReads;
  /** Topics that no discovery has looked for yet. */
  #newTopics: ReadonlySet<string>;

  constructor(options: KafkaConsumerOptions) {
    this.#options = options;
    this.#reads = options;
    this.#newTopics = new Set(options.topics);
    const { config, log, observer, convert, printParts, publish, flow, traces } = options;
    const createClient = () => createKafkaClient(config, log);
    this.#cluster = new Cluster(createClient);
    this.#deadLetter = new DeadLetter({
      topic: config.KAFKA_DEAD_LETTER_TOPIC,
      policy: config.DEAD_LETTER,
      cluster: this.#cluster,
      createClient,
      log,
      onDropped: (records) => observer.onDeadLetterFailure(records),
    });
    const deadLetter = this.#deadLetter.write.bind(this.#deadLetter);
    const undecodable = new UndecodableLimit({ limit: config.UNDECODABLE_LIMIT, log, names: config.names });
    const deadLetterTopic = config.KAFKA_DEAD_LETTER_TOPIC;
    const ports = { convert, printParts, publish, deadLetter, deadLetterTopic, flow, traces, undecodable };
    this.#publisher = new RecordPublisher(ports, observer, log);
    this.#discovery = new TopicDiscovery(this.#cluster, options.topics, log);
    this.#groupId = config.KAFKA_GROUP_ID;
    this.#group = new GroupWatch({
      cluster: this.#cluster,
      groupId: () => this.#groupId,
      graph: () => options.facts?.().graph,
      topics: () => this.#reads.topics,
      log,
      names: config.names,
    });
    this.#watchdog = new SessionWatchdog(config.KAFKA_STALL_TIMEOUT_MS);
    this.#transactions = new OpenTransactions(log);
    const watchIntervalMs = Math.min(MAX_WATCH_INTERVAL_MS, config.KAFKA_STALL_TIMEOUT_MS / 4);
    this.#periodics = [
      new Periodic(config.KAFKA_TOPIC_CHECK_INTERVAL_MS, () => this.#checkTopics()),
      new Periodic(watchIntervalMs, () => this.#watch()),
      new Periodic(watchIntervalMs, () => this.#checkStates()),
    ];
  }

  /** True while this consumer is a member of the group: false while the brokers are down, and until a first topic exists. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Why the brokers could not be reached; undefined: they can be. */
  get problem(): KafkaProblem | undefined {
    return this.#problem;
  }

  /** Topics that do not exist yet. The others are consumed. */
  get missingTopics(): readonly string[] {
    return this.#discovery.missing;
  }

  /** What the members of the group read. */
  get group(): Pick<GroupWatch, 'differing' | 'unreadTopics'> {
    return this.#group;
  }

  /** Assigned partitions that are not read now, and why. */
  get waits(): readonly PartitionWait[] {
    const session = this.#session;
    if (!session) return [];
    return [
      ...session.waits,
      ...this.#discovery.leaderlessOf(session).map((one) => ({ ...one, for: 'a leader' as const })),
      ...this.#transactions.held.map((one) => ({ ...one, for: 'the end of a transaction' as const })),
    ];
  }

  /** Assigned partitions whose states are being filled. */
  get pendingFills(): GroupSession['pendingFills'] {
    return this.#session?.pendingFills ?? [];
  }

  /**
   * Consumes other topics, or keeps other states: the group is joined again, from the last commits, which are made before. With the same topics
   * and states nothing happens.
   */
  replace(reads: KafkaReads): void {
    const former = this.#reads;
    this.#reads = reads;
    if (isSameReads(former, reads)) return;
    this.#newTopics = new Set([...this.#newTopics, ...reads.topics.filter((topic) => !former.topics.includes(topic))]);
    this.#discovery.topics = reads.topics;
    if (this.#startOffsets) this.#startOffsets.states = reads.states;
    this.#end?.({ kind: 'topics' });
  }

  /** Resolves after the first attempt to join, even a failed one: attempts continue in the background. Never rejects. */
  start(): Promise<void> {
    this.#starting ??= new Promise((resolve) => {
      if (this.#closing) return resolve();
      for (const periodic of this.#periodics) periodic.start();
      this.#supervision = this.#supervise(resolve).finally(resolve);
    });
    return this.#starting;
  }

  /** Finishes the running chunks, commits and leaves the group, within about 5 s. Later calls return the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closeSignal.abort();
    for (const periodic of this.#periodics) periodic.close();
    this.#end?.({ kind: 'closed' });
    // Ends a running discovery. A session needs no cluster connection to leave.
    if (!this.#session) this.#cluster.close();
    await this.#supervision;
    this.#cluster.close();
    await this.#deadLetter.close();
  }

  async #supervise(onAttempt: () => void): Promise<void> {
    let failures = 0;
    while (!this.#closing) {
      const { ending, hasProgressed } = await this.#runSession(onAttempt);
      onAttempt();
      if (this.#closing || ending.kind !== 'failed') continue;
      failures = hasProgressed ? 1 : failures + 1;
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures) * (0.5 + Math.random() / 2);
      const { reason, error } = ending;
      const isUnreachable = reason === 'unreachable';
      const brokers = isUnreachable ? this.#options.config.KAFKA_BROKERS : undefined;
      const problem = isUnreachable ? await this.#problemOf(error) : undefined;
      if (this.#closing) continue;
      this.#problem = problem;
      this.#options.observer.onRebuild(reason);
      this.#options.log.error(
        { reason, brokers, failures, backoffMs: Math.round(backoffMs), err: { message: describe(error) } },
        problem
          ? [answerOf(error) === undefined ? UNREACHABLE : REFUSED, problem.fix].filter(Boolean).join('; ')
          : 'the Kafka consumer failed; a new one is started',
      );
      await delay(backoffMs, undefined, { signal: this.#closeSignal.signal }).catch(() => undefined);
    }
  }

  /** Brokers that fail as before are not asked again. */
  async #problemOf(error: Error): Promise<KafkaProblem> {
    const reason = error.message;
    if (this.#problem?.reason === reason) return this.#problem;
    const fix = await orAborted(diagnose(error, this.#options.config), this.#closeSignal.signal, () => error).catch(
      () => '',
    );
    return { reason, fix };
  }

  /** Runs one group session on the topics that exist, until it ends. Without a topic, waits until one appears. */
  async #runSession(onAttempt: () => void): Promise<{ ending: Ending; hasProgressed: boolean }> {
    let session: GroupSession | undefined;
    let hasJoined = false;
    let ending: Ending;
    try {
      let end!: (ending: Ending) => void;
      const ended = new Promise<Ending>((resolve) => (end = this.#end = resolve));
      const topics = await this.#findTopics();
      if (topics.length > 0 && !this.#closing) {
        session = this.#session = this.#createSession(topics);
        void session.failed.then((error) => end({ kind: 'failed', reason: 'crashed', error }));
        await Promise.race([session.open(), ended]);
        hasJoined = this.#isConnected;
      }
      onAttempt();
      ending = await ended;
    } catch (error) {
      ending = { kind: 'failed', reason: hasJoined ? 'crashed' : 'unreachable', error: error as Error };
    }
    this.#isConnected = false;
    this.#options.observer.onPositionsUnknown();
    this.#transactions.forget();
    await session?.close(LEAVE_TIMEOUT_MS);
    this.#session = undefined;
    return { ending, hasProgressed: session?.hasProgressed ?? false };
  }

  #createSession(topics: readonly string[]): GroupSession {
    const { config, log, observer, flow } = this.#options;
    return new GroupSession({
      client: createKafkaClient(config, log),
      groupId: this.#groupId,
      sessionTimeoutMs: config.KAFKA_SESSION_TIMEOUT_MS,
      maxInflightBytes: config.MAX_INFLIGHT_BYTES,
      maxInflatedBytes: config.MAX_INFLATED_BATCH_BYTES,
      topics,
      startOffsets: this.#startOffsets!,
      states: this.#reads.states,
      publisher: this.#publisher,
      flow,
      acquire: this.#options.acquire,
      facts: () => ({
        ...this.#options.facts?.(),
        missingTopics: this.#discovery.missing,
        owned: this.#owned,
      }),
      onAssigned: (owned) => (this.#owned = owned),
      onUndescribed: (topics) =>
        log.error(
          { topics },
          'topics that other members of the consumer group read cannot be described, so nobody reads them: grant Describe on them',
        ),
      log,
      observer,
      onJoin: (assignment) => {
        this.#group.onJoin();
        observer.onJoin(assignment);
      },
      onJoined: (assignment) => this.#onJoined(assignment),
      onUnknownTopics: () => void this.#checkTopics(),
    });
  }

  #onJoined(assignment: PartitionMap<unknown>): void {
    if (this.#closing) return;
    this.#isConnected = true;
    this.#problem = undefined;
    this.#watchdog.restart(performance.now());
    const partitions = Object.fromEntries([...assignment].map(([topic, of]) => [topic, [...of.keys()]]));
    this.#options.log.info({ groupId: this.#groupId, partitions }, 'joined the consumer group');
    void this.#group.look();
  }

  async #findTopics(): Promise<string[]> {
    const newTopics = this.#newTopics;
    const existing = await this.#discovery.existing();
    const startOffsets = existing.length > 0 ? await this.#findStartOffsets(existing) : undefined;
    // Where a new group starts. Topics that appear later are read from their beginning.
    const preceding = existing.filter((topic) => newTopics.has(topic));
    if (preceding.length > 0 && !this.#options.config.KAFKA_FROM_BEGINNING) await startOffsets?.capture(preceding);
    if (this.#newTopics === newTopics) this.#newTopics = new Set();
    await this.#deadLetter.createTopic();
    return existing;
  }

  async #findStartOffsets(topics: readonly string[]): Promise<StartOffsets> {
    this.#groupId ||= await this.#options.findGroupId!(topics, this.#cluster);
    return (this.#startOffsets ??= new StartOffsets(this.#cluster, this.#groupId, this.#reads.states));
  }

  /** Joins again where that lets more partitions be read. */
  async #checkTopics(): Promise<void> {
    const session = this.#session;
    const hasMore =
      (await this.#discovery.hasChanged()) || (await this.#startOffsets?.canPlace(session?.unknown ?? []));
    if (hasMore && session === this.#session) this.#end?.({ kind: 'topics' });
  }

  /** The bus logs its own outage. */
  async #checkStates(): Promise<void> {
    await this.#session?.checkStates().catch(() => undefined);
  }

  async #watch(): Promise<void> {
    const session = this.#session;
    if (!session || !this.#isConnected) return;
    await this.#group.look();
    try {
      const positions = await positionsOf(session, this.#cluster, this.#groupId);
      if (session !== this.#session || !this.#isConnected) return;
      this.#options.observer.onPositions(positions);
      this.#transactions.observe(positions);
      const verdict = this.#watchdog.observe(performance.now(), positions);
      if (verdict === 'healthy') return;
      const error = new Error(`no progress in ${this.#options.config.KAFKA_STALL_TIMEOUT_MS} ms despite lag`);
      this.#end?.({ kind: 'failed', reason: 'stalled', error });
      if (verdict !== 'fatal' || this.#isFatal) return;
      this.#isFatal = true;
      this.#options.onFatal(new Error('the Kafka consumer stalled again after it was replaced', { cause: error }));
    } catch (error) {
      if (session === this.#session) this.#options.observer.onPositionsUnknown();
      this.#options.log.debug({ err: { message: describe(error as Error) } }, 'reading the lag failed');
    }
  }
}

function describe(error: Error): string {
  return `${error.name}: ${error.message}`;
}
