import { setTimeout as delay } from 'node:timers/promises';
import type { Bus } from '../bus/bus.ts';
import type { History, HistoryEntry } from '../bus/history.ts';
import type { Payload } from '../graph/payload.ts';
import type { Logger } from '../log.ts';
import { LogWindow } from '../log.ts';
import { Backlog } from './backlog.ts';
import type { BacklogWriter } from './backlog.ts';
import { Concurrency } from './concurrency.ts';
import type { CursorPlace, Cursors } from './resume/cursor.ts';
import { ExecutionDeadlines } from './execution-deadlines.ts';
import { HeldBytes } from './resume/held-bytes.ts';
import type { Joining } from './resume/joining.ts';
import { LiveChannel } from './live-channel.ts';
import type { ChannelObserver, ChannelServices } from './live-channel.ts';
import { MAX_REPLAYED, MAX_REPLAYED_BYTES, missedSince } from './resume/recovery.ts';
import { Replays } from './resume/replays.ts';
import type { Missed } from './resume/history-reads.ts';
import type { ExecuteEvent } from './sharing/sharing.ts';
import type { Subscription } from './subscription.ts';

export interface HubOptions {
  readonly bus: Bus;
  /** Starts an event for a group. */
  readonly startEvent: (payload: Payload) => ExecuteEvent;
  /** Signs events; undefined while there is no secret: they have no cursor then. */
  readonly cursors: () => Cursors | undefined;
  readonly log: Logger;
  readonly observer: ChannelObserver;
  /** Writes what results have put into outboxes. */
  readonly writer: BacklogWriter;
  /** For which an execution of an event may keep others waiting; then its operation ends. */
  readonly executionTimeoutMs: number;
  /** undefined: flow control is off. */
  readonly flow?: ChannelServices['flow'];
  /** Of events that wait for clients, over all channels. */
  readonly maxHeldBytes?: number | undefined;
}

/** What a subscription begins with. */
export interface Start {
  /** What a client says it has seen last, unchecked; undefined: it is no resume. */
  readonly cursor: unknown;
  /** Whether it begins with the channel's last event where it does not resume. */
  readonly replaysLast: boolean;
}

/** Of a read that heals a gap: about the 2 s within which a Redis that is back must be found. */
const MAX_ATTEMPTS = 10;
const ATTEMPT_INTERVAL_MS = 200;

/** Histories that are read at a time: when Redis is back every channel wants its own at once. */
const MAX_READS = 8;

/** Who listens to what on this pod: one bus subscription per channel, however many operations want it. */
export class Hub {
  readonly #bus: Bus;
  readonly #services: ChannelServices;
  readonly #channels = new Map<string, LiveChannel>();
  readonly #reads = new Concurrency(MAX_READS);

  constructor(options: HubOptions) {
    const { bus, startEvent, cursors, log, observer, writer, executionTimeoutMs, flow, maxHeldBytes } = options;
    this.#bus = bus;
    const deadlines = new ExecutionDeadlines(executionTimeoutMs);
    const backlog = new Backlog(writer, deadlines);
    this.#services = {
      startEvent,
      cursors,
      log,
      observer,
      missed: (name, seen) => this.#missed(name, seen),
      read: (name, from) => this.#read(name, from),
      backlog,
      flow,
      deadlines,
      replays: new Replays(backlog, writer.flush),
      heldBytes: new HeldBytes(maxHeldBytes),
      logWindow: new LogWindow(10_000),
    };
  }

  get channelCount(): number {
    return this.#channels.size;
  }

  /** Bytes of events that wait for replays and backfills, and of what these share. */
  get heldBytes(): number {
    return this.#services.heldBytes.used;
  }

  /**
   * Resolves once the subscription is live: every message published after that moment reaches it. It shares executions
   * with those of the channel that have its sharing key, with nobody where that is undefined.
   * @param start what it begins with from the channel's history; undefined: nothing
   * @returns ends the subscription; the last one to leave gives the channel back to the bus. Idempotent.
   * @throws BusUnavailableError; the subscription is not in the hub then.
   */
  async join(
    name: string,
    sharingKey: string | undefined,
    subscription: Subscription,
    start?: Start,
  ): Promise<() => void> {
    const channel = this.#channels.get(name) ?? this.#open(name);
    const joining = start && channel.hold(subscription, sharingKey);
    if (!joining) channel.add(subscription, sharingKey);
    // Before the wait: all that wait for one acknowledgement go on in one turn of the event loop.
    const seen = start && this.#services.cursors()?.read(name, start.cursor);
    try {
      await channel.acknowledged;
    } catch (error) {
      if (this.#channels.get(name) === channel) this.#channels.delete(name);
      channel.close();
      throw error;
    }
    const leave = () => {
      subscription.end();
      if (channel.delete(subscription) && channel.isEmpty) this.#close(channel);
    };
    try {
      if (joining) channel.begin(joining, await this.#missedBy(joining, channel, start, seen));
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  /** What a subscription begins with, all of it or nothing; it is told whether it was resumed. */
  async #missedBy(
    joining: Joining,
    channel: LiveChannel,
    { cursor, replaysLast }: Start,
    seen: CursorPlace | undefined,
  ): Promise<Missed | undefined> {
    const missed = seen?.entry ? await channel.missedSince(seen) : undefined;
    const hasMissed = missed !== undefined && !joining.hasOverflowed;
    if (cursor !== undefined) {
      joining.subscription.note(`"resumed":${hasMissed}`);
      this.#services.observer.onResume(hasMissed);
    }
    if (hasMissed) {
      joining.goOnBehind(seen!);
      return missed;
    }
    const last = replaysLast ? await channel.lastEvent() : undefined;
    return joining.hasOverflowed ? undefined : last;
  }

  /** The link to read on may be back a little later than the one that messages come on. */
  async #missed(name: string, seen: CursorPlace): Promise<readonly HistoryEntry[] | undefined> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const history = await this.#read(name, seen.entry);
      if (history) return missedSince(seen, history);
      await delay(ATTEMPT_INTERVAL_MS, undefined, { ref: false });
    }
    return undefined;
  }

  async #read(name: string, from: string | undefined): Promise<History | undefined> {
    const query = { from, maxEntries: MAX_REPLAYED + 1, maxBytes: MAX_REPLAYED_BYTES };
    try {
      return await this.#reads.run(() => this.#bus.history(name, query));
    } catch {
      return undefined; // The bus is away, and says so itself.
    }
  }

  #open(name: string): LiveChannel {
    const channel = new LiveChannel(name, this.#services);
    channel.acknowledged = this.#bus.subscribe(name, channel.onMessage, channel.onGap);
    this.#channels.set(name, channel);
    return channel;
  }

  #close(channel: LiveChannel): void {
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name);
    channel.close();
    channel.acknowledged?.then(
      (unsubscribe) => unsubscribe(),
      () => undefined, // never subscribed: join() has told its callers
    );
  }
}
