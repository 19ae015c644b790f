import type { History, HistoryEntry } from '../../bus/history.ts';
import type { Payload } from '../../graph/payload.ts';
import type { Backlog } from '../backlog.ts';
import type { ExecutionDeadlines } from '../execution-deadlines.ts';
import type { HeldBytes } from './held-bytes.ts';
import { HeldEvents, heldLength } from './held-events.ts';
import { HistoryReads } from './history-reads.ts';
import type { Missed } from './history-reads.ts';
import { Joining } from './joining.ts';
import type { ChannelEvent } from '../live-channel.ts';
import { MAX_REPLAYED_BYTES } from './recovery.ts';
import type { Progress, Replays } from './replays.ts';
import { SharedEvent, SharingGroup } from '../sharing/sharing.ts';
import type { ExecuteEvent } from '../sharing/sharing.ts';
import type { Job } from '../slices.ts';
import type { Subscription } from '../subscription.ts';

/** What one subscription gets before the next one has its turn: about one write of its socket. */
const MAX_EVENTS_PER_TURN = 32;
const MAX_BYTES_PER_TURN = 64 * 1024;
/** So that the clock costs nothing beside the work. */
const RESULTS_BETWEEN_CHECKS = 8;
/** How often reads and results that nobody asked for since are dropped, in ms. */
const SWEEP_INTERVAL_MS = 5_000;
/** Sweeps after which an event is executed again: about 30 s. What a resolver asked a backend is not shown for longer. */
const MAX_SWEEPS = 6;
/** Memory of an event whose payload was parsed, per byte of its text. */
const PARSED_FACTOR = 4;

export interface ReplayServices {
  /** Starts an event for a group. */
  readonly startEvent: (payload: Payload) => ExecuteEvent;
  readonly backlog: Backlog;
  /** Of executions. */
  readonly deadlines: ExecutionDeadlines;
  readonly heldBytes: HeldBytes;
  readonly replays: Replays;
}

export interface ReplayOwner {
  /** Reads the history from an entry on, or the last entry; undefined where the bus does not answer. Never rejects. */
  read(from: string | undefined): Promise<History | undefined>;
  eventOf(entry: HistoryEntry): ChannelEvent;
  /** The subscription has all that came so far. */
  onReplayed(joining: Joining): void;
  /** Nothing is held any more. */
  onOver(): void;
}

/** An event with its results, for each group that gets it. */
interface ReplayedEvent {
  /** In `#events`. */
  readonly key: string | ChannelEvent;
  readonly event: ChannelEvent;
  readonly results: Map<SharingGroup, SharedEvent>;
  /** As it counts in `HeldBytes`, its results included. */
  bytes: number;
  /** Since the last sweep. */
  wasUsed: boolean;
  /** Sweeps since it was made. */
  sweeps: number;
}

/**
 * The subscriptions of one channel that begin with its history, from their `hold` until they have all that came before now. They share
 * reads of the history, held live events and, with an equal sharing key, executions of the events that they have in common. It outlives
 * them for a while, for those who come next, where the pod has room.
 */
export class Replay {
  readonly held: HeldEvents;
  readonly reads: HistoryReads;
  readonly #services: ReplayServices;
  readonly #owner: ReplayOwner;
  readonly #joinings = new Map<Subscription, Joining>();
  /** By sharing key. Who has all stays a member for a while: what it shared is found by what its members answer. */
  readonly #groups = new Map<string, SharingGroup>();
  /** By the id of their entry, where they have one. */
  readonly #events = new Map<string | ChannelEvent, ReplayedEvent>();
  /** Held bytes past which those that nobody needs are looked for. */
  #trimAt = MAX_REPLAYED_BYTES;
  readonly #timer: NodeJS.Timeout;

  constructor(services: ReplayServices, owner: ReplayOwner) {
    this.#services = services;
    this.#owner = owner;
    this.held = new HeldEvents(services.heldBytes);
    this.reads = new HistoryReads((from) => owner.read(from), this.held, services.heldBytes);
    this.#timer = setInterval(this.#sweep, SWEEP_INTERVAL_MS).unref();
  }

  /** Subscriptions that are not there yet. */
  get size(): number {
    return this.#joinings.size;
  }

  get subscriptions(): Iterable<Subscription> {
    return this.#joinings.keys();
  }

  /** From now on the live events are for this subscription, too. */
  hold(subscription: Subscription, sharingKey: string | undefined, onGap: () => void): Joining {
    const joining = new Joining(subscription, sharingKey, this.held, onGap);
    this.#joinings.set(subscription, joining);
    return joining;
  }

  /** Shows a subscription a history, if any, then what was held for it. */
  begin(joining: Joining, missed: Missed | undefined): void {
    if (missed) joining.begin(missed);
    const group = this.#groupOf(joining);
    group.members.add(joining.subscription);
    this.#services.replays.add((isSpent) => this.#serve(joining, group, isSpent));
  }

  /** Returns false for a subscription that is not here. */
  delete(subscription: Subscription): boolean {
    const joining = this.#joinings.get(subscription);
    if (joining) this.#remove(joining);
    return joining !== undefined;
  }

  /** A live event of the channel. Where the pod has no room for it, the events that are held are dropped, and the clients are told. */
  hear(event: ChannelEvent): void {
    if (this.held.bytes > this.#trimAt) this.#trim();
    if (this.held.add(event)) return;
    this.#makeRoom(heldLength(event.length));
    this.#trim();
    if (this.held.add(event)) return;
    this.held.dropBefore(this.held.end);
    if (!this.held.add(event)) this.held.dropBefore(this.held.end + 1);
    for (const joining of this.#joinings.values()) joining.skipTo(this.held.first);
  }

  /** Gives everything back. */
  close(): void {
    clearInterval(this.#timer);
    for (const joining of this.#joinings.values()) joining.end();
    this.#joinings.clear();
    this.#makeRoom(Infinity);
    this.held.dropBefore(this.held.end);
  }

  #groupOf({ subscription, sharingKey }: Joining): SharingGroup {
    if (sharingKey === undefined) return new SharingGroup(subscription);
    let group = this.#groups.get(sharingKey);
    if (!group) this.#groups.set(sharingKey, (group = new SharingGroup(sharingKey, true)));
    return group;
  }

  /** One turn of a subscription. The error boundary: a throw ends this operation, and nothing else. */
  #serve(joining: Joining, group: SharingGroup, isSpent: () => boolean): Progress {
    try {
      return this.#attempt(joining, group, isSpent);
    } catch (error) {
      joining.subscription.fail(error);
      return 'over';
    }
  }

  #attempt(joining: Joining, group: SharingGroup, isSpent: () => boolean): Progress {
    const { subscription } = joining;
    if (!subscription.isEnded && subscription.isBehind && !this.#isUrgent) return 'waiting';
    let bytes = 0;
    for (let events = 1; ; events++) {
      // Before its turn, or by the last result: it could not be served, or its connection was closed as a slow consumer.
      if (subscription.isEnded || !this.#joinings.has(subscription)) {
        this.#remove(joining);
        return 'over';
      }
      const event = joining.next(this.#eventOf);
      if (!event) {
        this.#owner.onReplayed(joining);
        this.#remove(joining);
        return 'over';
      }
      const hasExecuted = this.#resultsOf(event, group).serve(subscription);
      bytes += event.length;
      if (events === MAX_EVENTS_PER_TURN || bytes >= MAX_BYTES_PER_TURN) return 'served';
      if ((hasExecuted || events % RESULTS_BETWEEN_CHECKS === 0) && isSpent()) return 'served';
    }
  }

  /** Events have come for so long that a socket that lags is not waited for; then the bounds of its queue decide. */
  get #isUrgent(): boolean {
    return this.held.bytes > MAX_REPLAYED_BYTES || this.#services.heldBytes.isShort;
  }

  readonly #eventOf = (entry: HistoryEntry): ChannelEvent =>
    this.#events.get(entry.coordinates.entry!)?.event ?? this.#owner.eventOf(entry);

  #resultsOf(event: ChannelEvent, group: SharingGroup): SharedEvent {
    if (!group.isReplay) return this.#share(event, group);
    const key = event.coordinates?.entry ?? event;
    let replayed = this.#events.get(key);
    if (!replayed) {
      const bytes = heldLength(PARSED_FACTOR * event.length);
      this.#makeRoom(bytes);
      this.#services.heldBytes.add(bytes);
      this.#events.set(key, (replayed = { key, event, results: new Map(), bytes, wasUsed: true, sweeps: 0 }));
    }
    replayed.wasUsed = true;
    return replayed.results.get(group) ?? this.#keep(replayed, group);
  }

  #keep(replayed: ReplayedEvent, group: SharingGroup): SharedEvent {
    const results = this.#share(replayed.event, group, (bytes) => this.#onKeep(replayed, bytes));
    replayed.results.set(group, results);
    return results;
  }

  #share({ payload, cursor }: ChannelEvent, group: SharingGroup, onKeep?: (bytes: number) => void): SharedEvent {
    const { startEvent, backlog, deadlines } = this.#services;
    const onMore = (serve: Job) => backlog.enqueue(serve);
    return new SharedEvent(group, startEvent(payload), onMore, { cursor, onKeep, deadlines });
  }

  #onKeep(replayed: ReplayedEvent, bytes: number): void {
    if (this.#events.get(replayed.key) !== replayed) return;
    this.#makeRoom(bytes);
    if (this.#events.get(replayed.key) !== replayed) return;
    this.#services.heldBytes.add(bytes);
    replayed.bytes += bytes;
  }

  /**
   * Forgets what can be read or executed again, until there is room or nothing is left. What was executed first goes first: the clients
   * advance together, so the latest events are those that the next ones need.
   */
  #makeRoom(bytes: number): void {
    const { heldBytes } = this.#services;
    if (heldBytes.hasRoom(bytes)) return;
    this.reads.drop(false);
    for (const replayed of this.#events.values()) {
      if (heldBytes.hasRoom(bytes)) return;
      this.#forgetEvent(replayed);
    }
  }

  #forgetEvent({ key, bytes }: ReplayedEvent): void {
    this.#events.delete(key);
    this.#services.heldBytes.give(bytes);
  }

  #remove(joining: Joining): void {
    if (!this.#joinings.delete(joining.subscription)) return;
    joining.end();
    if (this.#joinings.size === 0 && !this.#services.heldBytes.isAmple) this.#owner.onOver();
  }

  /** Drops the held events that nobody needs. */
  #trim(): void {
    let position = Math.min(this.held.end, this.reads.position);
    for (const joining of this.#joinings.values()) position = Math.min(position, joining.position);
    this.held.dropBefore(position);
    this.#trimAt = Math.max(MAX_REPLAYED_BYTES, 2 * this.held.bytes);
  }

  /** Drops what nobody asked for since the last time, and what is too old. */
  readonly #sweep = (): void => {
    this.reads.drop(true);
    if (this.#joinings.size === 0 && this.reads.isEmpty) return this.#owner.onOver();
    this.#trim();
    for (const [key, group] of this.#groups) {
      for (const member of group.members) if (!this.#joinings.has(member)) group.delete(member);
      if (group.members.size === 0) this.#groups.delete(key);
    }
    for (const replayed of this.#events.values()) {
      if (!replayed.wasUsed || ++replayed.sweeps === MAX_SWEEPS) this.#forgetEvent(replayed);
      replayed.wasUsed = false;
      for (const group of replayed.results.keys()) if (group.members.size === 0) replayed.results.delete(group);
    }
  };
}
