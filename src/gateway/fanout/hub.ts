import { setTimeout as delay } from 'node:timers/promises';
import type { Feed, Unsubscribe } from '../../bus/feed.ts';
import type { History, HistoryEntry } from '../../bus/history.ts';
import { Executions } from '../../graph/execution/executions.ts';
import { BusUnavailableError } from '../../base/errors.ts';
import type { EventFilter } from '../../graph/filter/event-filter.ts';
import { LogWindow } from '../../base/log.ts';
import type { ChannelServices, GapReason, ResumeOutcome } from './channel-services.ts';
import { Concurrency } from './concurrency.ts';
import type { CursorPosition } from './resume/cursor.ts';
import { ExecutionDeadlines } from './execution-deadlines.ts';
import { GroupDelivery } from './group-delivery.ts';
import { HeldBytes } from './resume/replay-bytes.ts';
import type { Joining } from './resume/joining.ts';
import type { OnCaughtUp } from './resume/on-caught-up.ts';
import { GAP, LiveChannel } from './live-channel.ts';
import { MAX_REPLAYED, MAX_REPLAYED_BYTES, missedSince } from './resume/recovery.ts';
import { Replays } from './resume/replays.ts';
import { RowDeliveries } from './row-deliveries.ts';
import type { Missed } from './resume/history-reads.ts';
import type { ConnectingClients } from './scheduling/connecting-turns.ts';
import { EventScheduler } from './scheduling/event-scheduler.ts';
import type { SchedulerWriter } from './scheduling/event-scheduler.ts';
import { ExecutionBound } from './scheduling/execution-bound.ts';
import type { SharingAudit } from './sharing/sharing-audit.ts';
import type { Subscription } from './subscription.ts';

export interface HubOptions
  extends
    Pick<ChannelServices, 'executor' | 'secret' | 'log' | 'names' | 'observer'>,
    Partial<Pick<ChannelServices, 'flow' | 'traces'>> {
  readonly bus: Feed;
  /** Tests a sample of shared results; undefined: off. */
  readonly audit?: SharingAudit | undefined;
  /** Default: they are only counted. */
  readonly executions?: Executions;
  /** Writes the outboxes that have received results. */
  readonly writer: SchedulerWriter;
  /** Time after which an execution of an event ends its operation. */
  readonly executionTimeoutMs: number;
  /** Most executions of events in flight; it may change at any time. Default: no bound. */
  readonly maxExecutions?: (() => number) | undefined;
  /** Longest message of another program. Default: no bound. */
  readonly maxMessageBytes?: number | undefined;
  /** True if the state of a channel, read in an epoch, is what the topic has; false while it may be older, or absent. Default: true. */
  readonly isStateComplete?: ((channel: string, epoch: number) => boolean) | undefined;
  /** Clients that connect: events leave them turns of the event loop. Default: no client connects. */
  readonly connecting?: ConnectingClients | undefined;
  /** Bound of the events that wait for clients, over all channels. */
  readonly maxHeldBytes?: number | undefined;
  /** Resolves when a history that could not be read is to be read again. Default: after 200 ms. */
  readonly untilAttempt?: (() => Promise<unknown>) | undefined;
}

/** Where in the history a subscription begins. */
export interface Start {
  /** Cursor of the client's last event, unverified; undefined: it does not resume. */
  readonly cursor: unknown;
  /** True: it begins with the channel's last event if it does not resume. */
  readonly replaysLast: boolean;
  /** True: the channel keeps its last event as its state. After a gap that no history fills, its subscriptions receive that event. */
  readonly hasState?: boolean;
  /** True: the channel keeps a history. A gap before the subscription's first event is backfilled from it. */
  readonly hasHistory?: boolean;
  /** Called once it has every event so far, for a client that reads what it has missed, and no more. */
  readonly onCaughtUp?: OnCaughtUp | undefined;
}

/**
 * Ends a subscription; the last one of a channel ends the bus subscription. Idempotent.
 * @param isAboutTo true: it sends the events that wait for the subscription, and does not end it yet
 */
export type Leave = (isAboutTo?: boolean) => void;

/** Attempts to read a history for a backfill or for a first event, over about 2 s: the time within which a recovered Redis must be found. */
const MAX_ATTEMPTS = 10;
const ATTEMPT_INTERVAL_MS = 200;

/** Histories read at a time: after an outage every channel reads its history. Bounds memory: each read may bring 1 MiB. */
const MAX_READS = 8;
/**
 * Last events read at a time. Under load a read takes about 30 ms: with 8 at a time, 4,000 clients of as many states waited for 50 s.
 * Bounds memory: each may bring a record.
 */
const MAX_LAST_READS = 64;

/** The channels of this pod: one bus subscription per channel, shared by all of its operations. */
export class Hub {
  readonly #bus: Feed;
  readonly #services: ChannelServices;
  readonly #channels = new Map<string, LiveChannel>();
  readonly #reads = new Concurrency(MAX_READS);
  readonly #lastReads = new Concurrency(MAX_LAST_READS);
  readonly #bound: ExecutionBound;
  readonly #isStateComplete: (channel: string, epoch: number) => boolean;
  readonly #untilAttempt: () => Promise<unknown>;

  constructor(options: HubOptions) {
    const { bus, executor, audit, secret, log, observer, writer, executionTimeoutMs, flow, traces, maxHeldBytes } =
      options;
    this.#bus = bus;
    this.#isStateComplete = options.isStateComplete ?? (() => true);
    this.#untilAttempt = options.untilAttempt ?? (() => delay(ATTEMPT_INTERVAL_MS, undefined, { ref: false }));
    const deadlines = new ExecutionDeadlines(executionTimeoutMs);
    const executions = options.executions ?? new Executions();
    const results = timed(executions, writer);
    const scheduler = new EventScheduler(results, options.connecting);
    const { schedule } = scheduler;
    const logWindow = new LogWindow(10_000);
    const heldBytes = new HeldBytes(maxHeldBytes);
    const replays = new Replays(scheduler, results.flush);
    heldBytes.onShort = replays.wakeAll;
    this.#bound = new ExecutionBound(options.maxExecutions ?? (() => Infinity), schedule);
    const sharing = { schedule, executions, bound: this.#bound, deadlines, audit };
    this.#services = {
      executor,
      sharing,
      scheduler,
      delivery: new GroupDelivery({ executor, sharing, scheduler }),
      secret,
      log,
      names: options.names,
      observer,
      missed: (name, seen) => this.#missed(name, seen),
      read: (name, from) => (from === undefined ? this.#readLast(name) : this.#read(name, from)),
      flow,
      traces,
      maxMessageBytes: options.maxMessageBytes ?? Infinity,
      rows: new RowDeliveries(executor, log, logWindow),
      replays,
      heldBytes,
      logWindow,
    };
  }

  /** Executions of events in flight, and those that wait because of `maxExecutions`. */
  get executions(): Pick<ExecutionBound, 'inFlight' | 'waiting'> {
    return this.#bound;
  }

  get channels(): Iterable<Pick<LiveChannel, 'name' | 'operations'>> {
    return this.#channels.values();
  }

  get channelCount(): number {
    return this.#channels.size;
  }

  /** Bytes of events held for replays and backfills, and of the reads and results that replays share. */
  get heldBytes(): number {
    return this.#services.heldBytes.used;
  }

  /**
   * Resolves once the bus acknowledged the channel: every message published after that moment reaches the subscription. It shares executions
   * with the subscriptions of the channel that have its sharing key; undefined: with none.
   * @param start undefined: it begins with the next event
   * @param filter of the events that it receives; equal for equal sharing keys. undefined: it receives all of them
   * @throws BusUnavailableError, also if the event that it begins with cannot be read; the subscription is not in the hub then.
   */
  async join(
    name: string,
    sharingKey: string | undefined,
    subscription: Subscription,
    start?: Start,
    filter?: EventFilter,
  ): Promise<Leave> {
    const channel = this.#channels.get(name) ?? this.#open(name, start?.hasHistory === true);
    if (start?.hasState) channel.hasState = true;
    const isJoining = start !== undefined && (start.cursor !== undefined || start.replaysLast || !!start.onCaughtUp);
    const joining = isJoining ? channel.addJoining(subscription, sharingKey, filter) : undefined;
    if (joining) joining.onCaughtUp = start!.onCaughtUp;
    else channel.add(subscription, sharingKey, filter);
    // Before the wait: all joins that wait for one acknowledgement resume in the same turn of the event loop.
    const seen = start && this.#services.secret.cursors?.read(name, start.cursor);
    try {
      await channel.acknowledged;
    } catch (error) {
      if (this.#channels.get(name) === channel) this.#channels.delete(name);
      channel.close();
      throw error;
    }
    const leave: Leave = (isAboutTo = false) => {
      if (isAboutTo) return channel.sendWaiting(subscription);
      subscription.end();
      if (channel.delete(subscription) && channel.isEmpty) this.#close(channel);
    };
    try {
      if (joining) {
        const missed = await this.#missedBy(joining, channel, start!, seen);
        const isComplete = missed !== undefined && this.#isStateComplete(name, missed.read.epoch);
        if (channel.hasState && !isComplete) subscription.note('"stateComplete":false');
        channel.startReplay(joining, missed);
      }
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  /** True if the subscription is in this channel, or joins it. */
  has(name: string, subscription: Subscription): boolean {
    return this.#channels.get(name)?.has(subscription) === true;
  }

  /**
   * Moves a subscription whose operation was replaced within the channel. It receives each event once: those that have arrived as before, later
   * ones with the subscriptions that have this sharing key.
   */
  move(name: string, sharingKey: string | undefined, subscription: Subscription, filter?: EventFilter): void {
    this.#channels.get(name)?.move(subscription, sharingKey, filter);
  }

  /** Events may be missing before the subscription's next one. */
  notifyGap(subscription: Subscription, reason: GapReason): void {
    if (subscription.note(GAP)) this.#services.observer.onGap(1, reason);
  }

  /** All events that a subscription begins with, or none. A resuming client receives `resumed: true` or `resumed: false`. */
  async #missedBy(
    joining: Joining,
    channel: LiveChannel,
    { cursor, replaysLast }: Start,
    seen: CursorPosition | undefined,
  ): Promise<Missed | undefined> {
    const missed = seen?.entry ? await channel.missedSince(seen) : undefined;
    const hasMissed = missed !== undefined && !joining.hasOverflowed;
    if (cursor !== undefined) {
      const { hasOverflowed } = joining;
      this.notifyResume(joining.subscription, hasMissed ? 'resumed' : refusalOf(seen, hasOverflowed));
    }
    if (hasMissed) {
      joining.resumeAfter(seen!);
      return missed;
    }
    if (!replaysLast) return undefined;
    const last = await channel.lastEvent();
    if (!last) throw new BusUnavailableError('the last event of a channel cannot be read');
    return joining.hasOverflowed ? undefined : last;
  }

  /** Tells a client that resumes whether it receives every event since its cursor. */
  notifyResume(subscription: Subscription, outcome: ResumeOutcome): void {
    if (subscription.note(`"resumed":${outcome === 'resumed'}`)) this.#services.observer.onResume(outcome);
  }

  /** Retries, because the link for reads may recover later than the link for messages. */
  async #missed(name: string, seen: CursorPosition): Promise<readonly HistoryEntry[] | undefined> {
    const history = await this.#readPatiently(name, seen.entry);
    return history && missedSince(seen, history);
  }

  /** Retries, because nothing can tell a client that it misses the event that it should begin with. */
  #readLast(name: string): Promise<History | undefined> {
    return this.#readPatiently(name, undefined);
  }

  async #readPatiently(name: string, from: string | undefined): Promise<History | undefined> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const history = await this.#read(name, from);
      if (history) return history;
      await this.#untilAttempt();
    }
    return undefined;
  }

  async #read(name: string, from: string | undefined): Promise<History | undefined> {
    const query = { from, maxEntries: MAX_REPLAYED + 1, maxBytes: MAX_REPLAYED_BYTES };
    const reads = from === undefined ? this.#lastReads : this.#reads;
    try {
      return await reads.run(() => this.#bus.history(name, query));
    } catch {
      return undefined; // The bus logs its own outage.
    }
  }

  #open(name: string, hasHistory: boolean): LiveChannel {
    const channel = new LiveChannel(name, this.#services);
    const subscribed = this.#bus.subscribe(name, channel.onMessage, channel.onGap);
    channel.acknowledged = hasHistory ? this.#begin(channel, subscribed) : subscribed;
    this.#channels.set(name, channel);
    return channel;
  }

  /**
   * Reads the position at which the channel begins, before it counts as acknowledged: after that, its last entry could be an event that the
   * link has lost. Without an answer, a gap before the first live event is reported, not backfilled.
   */
  async #begin(channel: LiveChannel, subscribed: Promise<Unsubscribe>): Promise<Unsubscribe> {
    const [unsubscribe, history] = await Promise.all([subscribed, this.#read(channel.name, undefined)]);
    const last = history?.entries.at(-1);
    if (last) channel.beginAfter(last.coordinates);
    return unsubscribe;
  }

  #close(channel: LiveChannel): void {
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name);
    channel.close();
    channel.acknowledged?.then(
      (unsubscribe) => unsubscribe(),
      () => undefined, // never subscribed: join() has thrown
    );
  }
}

/** The writer, which ends the timing of the executions before it writes their results. */
function timed(executions: Executions, writer: SchedulerWriter): SchedulerWriter {
  return {
    flush: () => {
      executions.endTiming();
      writer.flush();
    },
    get isFull() {
      return writer.isFull;
    },
  };
}

/** Why a subscription does not resume. */
function refusalOf(seen: CursorPosition | undefined, hasOverflowed: boolean): ResumeOutcome {
  if (!seen) return 'cursor_invalid';
  if (!seen.entry) return 'no_history';
  return hasOverflowed ? 'overflow' : 'incomplete';
}
