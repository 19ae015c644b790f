import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { brokerOf, causesOf } from '../kafka-errors.ts';

interface Broker {
  readonly nodeId: string;
}

/** The part of kafkajs's ConsumerGroup that this file patches. */
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

/** Error message of a destroyed client: no method waits for its brokers. */
export const CLIENT_CLOSED = 'the client was closed';

const PATCHED = Symbol.for('crier.kafkajs.failover');
const GROUP_COORDINATOR = 0;
const RETRY_MS = 250;
/**
 * Longest time beyond a session that a cluster takes to replace a broker: it removes a broker after 9 s (`broker.session.timeout.ms`),
 * counted from the election of another controller if the broker was the controller, too.
 */
const MAX_FAILOVER_MS = 10_000;
/** Failures of a broker that are further apart do not belong to one outage. */
const OUTAGE_GAP_MS = 5000;

const UNREACHABLE_NAMES = ['KafkaJSConnectionError', 'KafkaJSConnectionClosedError', 'KafkaJSGroupCoordinatorNotFound'];
const COORDINATOR_MOVES = ['GROUP_COORDINATOR_NOT_AVAILABLE', 'GROUP_LOAD_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP'];
const UNKNOWN_TOPIC = 'UNKNOWN_TOPIC_OR_PARTITION';
const LEADER_MOVES = [
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  UNKNOWN_TOPIC,
];

/** A class of kafkajs that it does not export. */
export function consumerGroupClass(): { readonly prototype: ConsumerGroup } {
  return createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup') as { prototype: ConsumerGroup };
}

/**
 * Lets a group member survive a broker failover. kafkajs 2.2.4 sends heartbeats and commits to the coordinator that it joined through,
 * even a dead one. Its consumer then crashes without leaving the group, and can rejoin only after its old session has expired. With
 * this patch, as in Kafka's own client, the member looks for the new coordinator, waits for new leaders, and keeps its membership
 * without a rebalance. It reads from the other brokers meanwhile. After a session timeout and 10 s it fails as without the patch.
 * https://github.com/tulios/kafkajs/issues/1011, https://github.com/tulios/kafkajs/issues/1630
 *
 * A deleted next record, alone or with its topic, is no failover: it ends the consumer at once.
 *
 * A heartbeat may resolve unanswered: kafkajs's HEARTBEAT event tells when the coordinator answered one.
 * Idempotent. Returns a function that removes the patch.
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
      if (!isFailover(error, COORDINATOR_MOVES) || Date.now() - this.lastRequest > patienceMs(this)) throw error;
      if (searching.has(this)) return;
      searching.add(this);
      // In the background: records flow meanwhile.
      void followCoordinator(this)
        .catch(pause)
        .finally(() => searching.delete(this));
    }
  };
}

/** @throws while the brokers still name the old coordinator, or the new one does not answer */
async function followCoordinator(group: ConsumerGroup): Promise<void> {
  const { cluster, groupId } = group;
  const { coordinator } = await cluster.findGroupCoordinatorMetadata({ groupId, coordinatorType: GROUP_COORDINATOR });
  const broker = await cluster.findBroker(coordinator);
  group.coordinator = broker;
  if (group.offsetManager) group.offsetManager.coordinator = broker;
}

/** A member retries every failed step of a rejoin with its member id. A consumer that is no member yet fails at once. */
function patientJoin(joinAndSync: ConsumerGroup['joinAndSync']): ConsumerGroup['joinAndSync'] {
  return async function () {
    const startedAt = Date.now();
    for (;;) {
      try {
        return await joinAndSync.call(this);
      } catch (error) {
        const isPatient = this.memberId !== null && Date.now() - startedAt < patienceMs(this);
        if (!isPatient || !isFailover(error, COORDINATOR_MOVES)) throw error;
        await pause();
      }
    }
  };
}

/** Remembers the groups that have received batches, even empty ones. */
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
  const outages = new WeakMap<ConsumerGroup, Map<string, Outage>>();
  return async function (error) {
    const type = typeOf(error);
    // Before the first batch the topic may be new, and its leader may not know it yet.
    if (type === 'OFFSET_OUT_OF_RANGE' || (type === UNKNOWN_TOPIC && readers.has(this)))
      throw recordDeleted(error as Error);
    if (!isFailover(error, LEADER_MOVES)) return recoverFromFetch.call(this, error);
    const ofGroup = outages.get(this) ?? new Map<string, Outage>();
    outages.set(this, ofGroup);
    if (outageMs(ofGroup, brokerOf(error) ?? '') > patienceMs(this)) throw error;
    // kafkajs's recovery forgets the broker and the metadata.
    if ((error as Error).name === 'KafkaJSConnectionClosedError') await recoverFromFetch.call(this, error);
    // kafkajs would rejoin. A leader change does not change the partition's owner.
    else if (LEADER_MOVES.includes(type)) await this.cluster.refreshMetadata().catch(() => undefined);
    await pause();
  };
}

/** An outage of one broker: failures without a long gap. */
interface Outage {
  since: number;
  last: number;
}

/** Duration of the broker's current outage. The map holds at most the cluster's brokers. */
function outageMs(outages: Map<string, Outage>, broker: string): number {
  const now = Date.now();
  const outage = outages.get(broker);
  const since = outage && now - outage.last < OUTAGE_GAP_MS ? outage.since : now;
  outages.set(broker, { since, last: now });
  return now - since;
}

function patienceMs({ sessionTimeout }: ConsumerGroup): number {
  return sessionTimeout + MAX_FAILOVER_MS;
}

/** Does not keep the process alive. */
async function pause(): Promise<void> {
  await delay(RETRY_MS, undefined, { ref: false });
}

/** True if a broker cannot be reached, or is no longer responsible (`moves`). */
function isFailover(error: unknown, moves: readonly string[]): boolean {
  const chain = [...causesOf(error)];
  if (chain.some(({ message }) => message.endsWith(CLIENT_CLOSED))) return false;
  return chain.some((one) => UNREACHABLE_NAMES.includes(one.name) || moves.includes(typeOf(one)));
}

/**
 * kafkajs would reset the commit and continue with the oldest record, or with the old offset in a topic that was created again, as if no
 * record were missing. This error ends the consumer. Its replacement looks up the offsets again and gets a new start id
 * (start-offsets.ts).
 */
function recordDeleted(cause: Error): Error {
  const partition =
    'topic' in cause && 'partition' in cause ? `${String(cause.topic)}/${String(cause.partition)}: ` : '';
  const error = new Error(`${partition}the next record to read was deleted (${cause.message})`, { cause });
  return Object.assign(error, { retriable: false });
}

function typeOf(error: unknown): string {
  return error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : '';
}
