import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

interface Broker {
  readonly nodeId: string;
}

/** The part of kafkajs's ConsumerGroup that is touched. */
export interface ConsumerGroup {
  readonly groupId: string;
  readonly sessionTimeout: number;
  readonly memberId: string | null;
  /** When the coordinator last answered a heartbeat (Date.now()). */
  readonly lastRequest: number;
  readonly cluster: {
    findGroupCoordinatorMetadata(group: { groupId: string; coordinatorType: number }): Promise<{ coordinator: Broker }>;
    findBroker(broker: Broker): Promise<Broker>;
    refreshMetadata(): Promise<void>;
  };
  coordinator: Broker;
  readonly offsetManager: { coordinator: Broker } | null;
  heartbeat: (this: ConsumerGroup, options: { interval: number }) => Promise<void>;
  joinAndSync: (this: ConsumerGroup) => Promise<void>;
  fetch: (this: ConsumerGroup, nodeId: string) => Promise<readonly unknown[]>;
  recoverFromFetch: (this: ConsumerGroup, error: unknown) => Promise<void>;
}

/** What a client says that was destroyed: nothing is waited for then. */
export const CLIENT_CLOSED = 'the client was closed';

const PATCHED = Symbol.for('crier.kafkajs.failover');
const GROUP_COORDINATOR = 0;
const RETRY_MS = 250;
/**
 * What a cluster may take, beyond a session, to replace a broker: it is given up after 9 s (`broker.session.timeout.ms`), 9 s after
 * the election of another controller if it was that, too.
 */
const MAX_FAILOVER_MS = 10_000;
/** A broker that failed this long ago, and not since, was there in between. */
const STREAK_GAP_MS = 5000;

const AWAY_NAMES = ['KafkaJSConnectionError', 'KafkaJSConnectionClosedError', 'KafkaJSGroupCoordinatorNotFound'];
const COORDINATOR_MOVES = ['GROUP_COORDINATOR_NOT_AVAILABLE', 'GROUP_LOAD_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP'];
const UNKNOWN_TOPIC = 'UNKNOWN_TOPIC_OR_PARTITION';
const LEADER_MOVES = [
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  UNKNOWN_TOPIC,
];

/** kafkajs's own class, which it does not export. */
export function consumerGroupClass(): { readonly prototype: ConsumerGroup } {
  return createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup') as { prototype: ConsumerGroup };
}

/**
 * Lets a member of a group outlive the brokers that are replaced: kafkajs 2.2.4 sends heartbeats and commits to the coordinator
 * that it joined by, dead or not, counts what fails against a consumer that then crashes and never leaves, and is back when the
 * session of its ghost has ended. With this, as in Kafka's own client, the coordinator is looked for, a leader is waited for, and
 * the member goes on as the one it was, without a rebalance; what other brokers lead is read all the while. A session and 10 s
 * later it fails as ever. https://github.com/tulios/kafkajs/issues/1011, https://github.com/tulios/kafkajs/issues/1630
 *
 * A partition whose next record was deleted, with its topic or alone, is no failover: it ends the consumer at once.
 *
 * Thus a heartbeat that resolves need not have been answered: kafkajs's HEARTBEAT event says when one was.
 * Installing it again does nothing. Returns what takes it back.
 */
export function surviveFailovers(): () => void {
  const { prototype } = consumerGroupClass();
  const { heartbeat, joinAndSync, fetch, recoverFromFetch } = prototype;
  const readers = new WeakSet<ConsumerGroup>();
  if (PATCHED in heartbeat) return () => undefined;
  prototype.heartbeat = Object.assign(patientHeartbeat(heartbeat), { [PATCHED]: true });
  prototype.joinAndSync = patientJoin(joinAndSync);
  prototype.fetch = notedFetch(fetch, readers);
  prototype.recoverFromFetch = patientRecovery(recoverFromFetch, readers);
  return () => Object.assign(prototype, { heartbeat, joinAndSync, fetch, recoverFromFetch });
}

function patientHeartbeat(heartbeat: ConsumerGroup['heartbeat']): ConsumerGroup['heartbeat'] {
  const searching = new WeakSet<ConsumerGroup>();
  return async function (options) {
    if (searching.has(this)) return;
    try {
      await heartbeat.call(this, options);
    } catch (error) {
      if (!isAway(error, COORDINATOR_MOVES) || Date.now() - this.lastRequest > patienceMs(this)) throw error;
      if (searching.has(this)) return;
      searching.add(this);
      // In the background: records flow while it is looked for.
      void followCoordinator(this)
        .catch(pause)
        .finally(() => searching.delete(this));
    }
  };
}

/** @throws while the old one is still named, and while the new one does not answer. */
async function followCoordinator(group: ConsumerGroup): Promise<void> {
  const { cluster, groupId } = group;
  const { coordinator } = await cluster.findGroupCoordinatorMetadata({ groupId, coordinatorType: GROUP_COORDINATOR });
  const broker = await cluster.findBroker(coordinator);
  group.coordinator = broker;
  if (group.offsetManager) group.offsetManager.coordinator = broker;
}

/** A member joins again by the id it has, whatever step of it failed; who is none yet fails at once. */
function patientJoin(joinAndSync: ConsumerGroup['joinAndSync']): ConsumerGroup['joinAndSync'] {
  return async function () {
    const startedAt = Date.now();
    for (;;) {
      try {
        return await joinAndSync.call(this);
      } catch (error) {
        const isPatient = this.memberId !== null && Date.now() - startedAt < patienceMs(this);
        if (!isPatient || !isAway(error, COORDINATOR_MOVES)) throw error;
        await pause();
      }
    }
  };
}

/** Notes who has been answered: with batches, though they may be empty. */
function notedFetch(fetch: ConsumerGroup['fetch'], readers: WeakSet<ConsumerGroup>): ConsumerGroup['fetch'] {
  return async function (nodeId) {
    const batches = await fetch.call(this, nodeId);
    if (batches.length > 0) readers.add(this);
    return batches;
  };
}

function patientRecovery(
  recoverFromFetch: ConsumerGroup['recoverFromFetch'],
  readers: WeakSet<ConsumerGroup>,
): ConsumerGroup['recoverFromFetch'] {
  const streaks = new WeakMap<ConsumerGroup, Map<string, Streak>>();
  return async function (error) {
    const type = typeOf(error);
    // Who has read nothing yet may ask for a topic that is new: its leader does not know it at once.
    if (type === 'OFFSET_OUT_OF_RANGE' || (type === UNKNOWN_TOPIC && readers.has(this))) throw gone(error as Error);
    if (!isAway(error, LEADER_MOVES)) return recoverFromFetch.call(this, error);
    const ofGroup = streaks.get(this) ?? new Map<string, Streak>();
    streaks.set(this, ofGroup);
    if (failingMs(ofGroup, brokerOf(error)) > patienceMs(this)) throw error;
    // Forgets the broker, and with it the metadata.
    if ((error as Error).name === 'KafkaJSConnectionClosedError') await recoverFromFetch.call(this, error);
    // kafkajs would join anew; a partition that has another leader has the same owner.
    else if (LEADER_MOVES.includes(type)) await this.cluster.refreshMetadata().catch(() => undefined);
    await pause();
  };
}

/** An unbroken run of failures. */
interface Streak {
  since: number;
  last: number;
}

/** For how long this broker has been failing. The map holds the cluster's brokers at most. */
function failingMs(streaks: Map<string, Streak>, broker: string): number {
  const now = Date.now();
  const streak = streaks.get(broker);
  const since = streak && now - streak.last < STREAK_GAP_MS ? streak.since : now;
  streaks.set(broker, { since, last: now });
  return now - since;
}

function patienceMs({ sessionTimeout }: ConsumerGroup): number {
  return sessionTimeout + MAX_FAILOVER_MS;
}

/** Does not keep the process. */
async function pause(): Promise<void> {
  await delay(RETRY_MS, undefined, { ref: false });
}

/** Whether a broker cannot be reached, or has handed over what it was asked for. */
function isAway(error: unknown, moves: readonly string[]): boolean {
  const chain = [...causesOf(error)];
  if (chain.some(({ message }) => message.endsWith(CLIENT_CLOSED))) return false;
  return chain.some((one) => AWAY_NAMES.includes(one.name) || moves.includes(typeOf(one)));
}

/**
 * kafkajs would commit that nothing is committed and go on with the oldest record, or with the old offset in a topic that was made anew,
 * as if no record were missing. This ends the consumer; the one that is made in its place looks where the partitions begin
 * now, and claims that as a start (start-offsets.ts).
 */
function gone(cause: Error): Error {
  const place = 'topic' in cause && 'partition' in cause ? `${String(cause.topic)}/${String(cause.partition)}: ` : '';
  const error = new Error(`${place}what was to be read next was deleted (${cause.message})`, { cause });
  return Object.assign(error, { retriable: false });
}

function brokerOf(error: unknown): string {
  for (const one of causesOf(error)) if ('broker' in one && typeof one.broker === 'string') return one.broker;
  return '';
}

function typeOf(error: unknown): string {
  return error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : '';
}

function* causesOf(error: unknown): Generator<Error> {
  for (let one = error; one instanceof Error; one = one.cause) yield one;
}
