import type { EventFilter } from '../../../graph/filter/event-filter.ts';
import type { History, HistoryEntry } from '../../../bus/history.ts';
import type { ChannelEvent } from '../channel-event.ts';
import type { ChannelObserver, GapReason } from '../channel-services.ts';
import type { Delivery } from '../group-delivery.ts';
import { INITIAL } from '../initial-event.ts';
import { eventKey } from '../pace/event-key.ts';
import { NewestEvents } from '../pace/newest-events.ts';
import { HeldEvents, heldLength } from './held-events.ts';
import { HeldIntake } from './held-intake.ts';
import { HistoryReads } from './history-reads.ts';
import type { Missed } from './history-reads.ts';
import { Joining } from './joining.ts';
import type { NewestEvent } from './joining.ts';
import { MAX_REPLAYED_BYTES } from './recovery.ts';
import { ReplayedEvents } from './replayed-events.ts';
import type { ReplayedEventsServices } from './replayed-events.ts';
import type { Progress, Replays } from './replays.ts';
import { COMPLETION } from '../row-deliveries.ts';
import type { RowDeliveries } from '../row-deliveries.ts';
import type { IntakeBytes } from '../scheduling/event-batch.ts';
import type { Pace } from '../../../graph/pace.ts';
import { SharingGroup } from '../sharing/sharing-group.ts';
import type { GroupEvent } from '../sharing/sharing-group.ts';
import type { Subscription } from '../subscription.ts';

/** Events that one subscription gets before the next one has its turn: about one write of its socket. */
const MAX_EVENTS_PER_TURN = 32;
const MAX_BYTES_PER_TURN = 64 * 1024;
/** Results between two reads of the clock, so that these cost nothing beside the work. */
const RESULTS_BETWEEN_CHECKS = 8;
/** Events between two reads of the clock while they are only looked at. */
const EVENTS_BETWEEN_CHECKS = 64;
/** Interval in ms at which unused reads and results are dropped. */
const SWEEP_INTERVAL_MS = 5_000;
export interface ReplayServices extends ReplayedEventsServices {
  readonly replays: Replays;
  readonly rows: RowDeliveries;
  readonly observer: Pick<ChannelObserver, 'onSkipped'>;
}

export interface ReplayOwner {
  /** Reads the history from an entry on, or the last entry; undefined if the bus does not answer. Never rejects. */
  read(from: string | undefined): Promise<History | undefined>;
  eventOf(entry: HistoryEntry): ChannelEvent;
  /** The subscription has every event so far. */
  onReplayed(joining: Joining): void;
  /** Nothing is held any more. */
  onOver(): void;
}

/**
 * Serves the subscriptions of one channel that begin with its history, until they have every event so far. They share reads of the history,
 * held live events and, with an equal sharing key, executions of the events that they have in common. After the last of them it stays for a
 * while, for the next clients that resume, if the pod has room.
 */
export class Replay {
  readonly held: HeldEvents;
  readonly reads: HistoryReads;
  readonly intake = new HeldIntake();
  readonly #events: ReplayedEvents;
  readonly #services: ReplayServices;
  readonly #owner: ReplayOwner;
  readonly #joinings = new Map<Subscription, Joining>();
  /** By sharing key. A subscription that has caught up stays a member until the next sweep: results are found by the classes of members. */
  readonly #groups = new Map<string, SharingGroup>();
  /** Live events in `Joining.newest`, with the number of subscriptions that have not received them. Those of histories count with these. */
  readonly #taken = new Map<ChannelEvent, number>();
  /** Held bytes beyond which events that no subscription needs are searched for and dropped. */
  #trimAt = MAX_REPLAYED_BYTES;
  readonly #timer: NodeJS.Timeout;

  constructor(services: ReplayServices, owner: ReplayOwner) {
    this.#services = services;
    this.#owner = owner;
    this.held = new HeldEvents(services.heldBytes);
    this.reads = new HistoryReads((from) => owner.read(from), this.held, services.heldBytes);
    this.#events = new ReplayedEvents(services, this.reads);
    this.#timer = setInterval(this.#sweep, SWEEP_INTERVAL_MS).unref();
  }

  /** Holds the live events for this subscription, too, from now on. */
  add(
    subscription: Subscription,
    sharingKey: string | undefined,
    filter: EventFilter | undefined,
    onGap: (reason: GapReason) => void,
  ): Joining {
    const joining = new Joining(subscription, sharingKey, filter, this.held, onGap);
    this.#joinings.set(subscription, joining);
    this.intake.open(joining, joining.sequence);
    return joining;
  }

  /** Delivers the missed events, if any, then the events held since. */
  start(joining: Joining, missed: Missed | undefined): void {
    if (missed) joining.startWith(missed);
    this.#groupOf(joining);
    joining.turn = { member: joining.subscription, serve: (isSpent) => this.#serve(joining, isSpent) };
    this.#services.replays.add(joining.turn);
  }

  delete(subscription: Subscription): void {
    const joining = this.#joinings.get(subscription);
    if (joining) this.#remove(joining);
  }

  /**
   * Holds a live event. If the pod has no room for it, all held events are dropped, and the joining clients receive `gap: true`.
   * @param share of the event in its intake; undefined: no subscription is waited for
   */
  addLive(event: ChannelEvent, share: IntakeBytes | undefined): void {
    if (share) this.intake.add(share);
    if (this.held.bytes > this.#trimAt) this.#trim();
    const wasUrgent = this.#isUrgent;
    if (this.held.add(event)) {
      if (!wasUrgent && this.#isUrgent) this.#wake();
      return;
    }
    this.#events.makeRoom(heldLength(event.length));
    this.#trim();
    if (this.held.add(event)) return;
    this.held.dropBefore(this.held.end);
    if (!this.held.add(event)) this.held.dropBefore(this.held.end + 1);
    for (const joining of this.#joinings.values()) {
      joining.skipTo(this.held.first);
      this.intake.advance(joining, joining.sequence);
    }
    this.#wake();
  }

  /** Those that wait for lagging sockets may not have to. */
  #wake(): void {
    for (const { turn } of this.#joinings.values()) if (turn) this.#services.replays.wake(turn);
  }

  /** Releases everything. */
  close(): void {
    clearInterval(this.#timer);
    for (const joining of this.#joinings.values()) this.#end(joining);
    this.#joinings.clear();
    this.#events.makeRoom(Infinity);
    this.held.dropBefore(this.held.end);
  }

  /** The group of which it is a member from now on. */
  #groupOf(joining: Joining): SharingGroup {
    if (!joining.group) {
      joining.group = this.#openGroup(joining);
      joining.group.members.add(joining.subscription);
    }
    return joining.group;
  }

  #openGroup({ subscription, sharingKey }: Joining): SharingGroup {
    if (sharingKey === undefined) return new SharingGroup(subscription, false, undefined, subscription.operation);
    let group = this.#groups.get(sharingKey);
    if (!group)
      this.#groups.set(sharingKey, (group = new SharingGroup(sharingKey, true, undefined, subscription.operation)));
    return group;
  }

  /** One turn of a subscription. The error boundary: a throw ends its operation, and nothing else. */
  #serve(joining: Joining, isSpent: () => boolean): Progress {
    try {
      const progress = this.#attempt(joining, this.#groupOf(joining), isSpent);
      const isWaiting = progress === 'lagging' || progress === 'behind';
      // It was closed for that.
      if (isWaiting && !this.#joinings.has(joining.subscription)) return 'over';
      // Flow control does not wait for a client that does not read.
      if (isWaiting) this.intake.close(joining);
      else this.intake.advance(joining, joining.sequence);
      return progress;
    } catch (error) {
      joining.subscription.fail(error);
      return 'over';
    }
  }

  #attempt(joining: Joining, group: SharingGroup, isSpent: () => boolean): Progress {
    const { subscription } = joining;
    if (this.#takesNewest(joining)) return this.#attemptNewest(joining, group, isSpent);
    if (!subscription.isEnded && subscription.isLagging && !this.#isUrgent) return 'lagging';
    let bytes = 0;
    for (let events = 1; ; events++) {
      // It left before its turn, failed by the last result, or its connection was closed as a slow consumer.
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
      const delivery = this.#deliveryOf(event, joining, group);
      if (delivery && joining.isState && this.#isShown(event, subscription)) subscription.note(INITIAL);
      const hasExecuted = delivery?.serve(subscription) === true;
      bytes += event.length;
      if (events === MAX_EVENTS_PER_TURN || bytes >= MAX_BYTES_PER_TURN) return 'served';
      if ((hasExecuted || events % RESULTS_BETWEEN_CHECKS === 0) && isSpent()) return 'served';
    }
  }

  /** Without a pace, a client receives each event while it keeps up. What was taken for one is delivered, also if it has no pace any more. */
  #takesNewest({ subscription, newest, isGathering }: Joining): boolean {
    const { pace } = subscription;
    if (newest && newest.size > 0) return true;
    return pace !== undefined && (isGathering || pace.ms > 0 || subscription.isBehind);
  }

  /** As `#attempt`, with the newest event of each key alone. */
  #attemptNewest(joining: Joining, group: SharingGroup, isSpent: () => boolean): Progress {
    const { subscription } = joining;
    const { pace } = subscription;
    const newest = (joining.newest ??= new NewestEvents());
    const isUrgent = this.#isUrgent;
    if (pace && this.#joinings.has(subscription) && !joining.isCompleting) {
      joining.isGathering ||= newest.size === 0 || isUrgent;
      if (joining.isGathering && !this.#gather(joining, pace, newest, isSpent)) return 'served';
    }
    const mustWait = pace?.keepsSlow ? subscription.isBehind : subscription.isLagging && !isUrgent;
    if (!subscription.isEnded && mustWait) {
      if (!this.#services.heldBytes.hasRoom(0)) subscription.giveUp();
      return pace?.keepsSlow ? 'behind' : 'lagging';
    }
    for (let events = 1; ; events++) {
      if (subscription.isEnded || !this.#joinings.has(subscription)) {
        this.#remove(joining);
        return 'over';
      }
      const next = newest.oldest;
      if (!next) {
        // Further events may have come since.
        if (events > 1) return 'served';
        this.#owner.onReplayed(joining);
        this.#remove(joining);
        return 'over';
      }
      newest.take(next.key);
      this.#dropTaken(next);
      if (newest.size === 0) joining.isCompleting = false;
      const { event, isState, skipped } = next;
      // Its operation may have been replaced since.
      const delivery = this.#deliveryOf(event, joining, group, isState);
      if (delivery && isState && this.#isShown(event, subscription)) subscription.note(INITIAL);
      if (delivery && skipped > 0) {
        subscription.note(`"skipped":${skipped}`);
        this.#services.observer.onSkipped(skipped, pace?.ms === 0 ? 'slow' : 'pace');
      }
      delivery?.serve(subscription);
      if (events === MAX_EVENTS_PER_TURN || isSpent()) return 'served';
    }
  }

  /** Takes all events that the subscription has not received, and keeps the newest of each key. Returns false if there may be more. */
  #gather(joining: Joining, pace: Pace, newest: NewestEvents<NewestEvent>, isSpent: () => boolean): boolean {
    for (let events = 1; !joining.isCompleting; events++) {
      const { sequence } = joining;
      const event = joining.next(this.#eventOf);
      if (!event) break;
      const { isState } = joining;
      const delivery = this.#isSkipped(event, joining.subscription)
        ? undefined
        : this.#contentOf(event, joining, isState);
      if (delivery) {
        joining.isCompleting = delivery === 'COMPLETE' || this.#isCompletion(event, joining.subscription);
        // A completion replaces nothing: it comes after all events before it.
        const key = joining.isCompleting ? event : (eventKey(event.coordinates, pace) ?? event);
        const replaced = newest.take(key);
        if (replaced) this.#dropTaken(replaced);
        const isLive = joining.sequence !== sequence;
        if (isLive) this.#keepTaken(event);
        newest.put(key, { key, event, isState, isLive, skipped: replaced ? replaced.skipped + 1 : 0 });
      }
      if (events % EVENTS_BETWEEN_CHECKS === 0 && isSpent()) return false;
    }
    joining.isGathering = false;
    return true;
  }

  #keepTaken(event: ChannelEvent): void {
    const users = this.#taken.get(event) ?? 0;
    if (users === 0) this.#services.heldBytes.add(heldLength(event.length));
    this.#taken.set(event, users + 1);
  }

  #dropTaken({ event, isLive }: NewestEvent): void {
    if (!isLive) return;
    const users = this.#taken.get(event)!;
    if (users > 1) return void this.#taken.set(event, users - 1);
    this.#taken.delete(event);
    this.#services.heldBytes.release(heldLength(event.length));
  }

  /** True for a tombstone that is no event of the field. */
  #isSkipped({ isTombstone }: ChannelEvent, { operation }: Subscription): boolean {
    if (!isTombstone) return false;
    const { onDelete } = this.#services.executor.rulesOf(operation);
    return onDelete === undefined || onDelete === 'ROW';
  }

  #isCompletion({ isTombstone }: ChannelEvent, { operation }: Subscription): boolean {
    return isTombstone && this.#services.executor.rulesOf(operation).onDelete === 'COMPLETE';
  }

  /** False: a tombstone that the field skips, or that completes it. */
  #isShown({ isTombstone }: ChannelEvent, { operation }: Subscription): boolean {
    return !isTombstone || this.#services.executor.rulesOf(operation).onDelete === 'NULL';
  }

  /** True if the held events exceed the bound up to which replays wait for lagging sockets. Beyond it the socket's queue bounds decide. */
  get #isUrgent(): boolean {
    return this.held.bytes > MAX_REPLAYED_BYTES || this.#services.heldBytes.isShort;
  }

  readonly #eventOf = (entry: HistoryEntry): ChannelEvent => this.#events.find(entry) ?? this.#owner.eventOf(entry);

  /** What the subscription receives of an event; undefined: nothing. */
  #deliveryOf(
    event: ChannelEvent,
    joining: Joining,
    group: SharingGroup,
    isState = joining.isState,
  ): GroupEvent | undefined {
    const delivery = this.#contentOf(event, joining, isState);
    if (!delivery) return undefined;
    return delivery === 'COMPLETE' ? COMPLETION : this.#events.resultsOf(event, group, event.row && delivery);
  }

  /** undefined: it is no event for the subscription. */
  #contentOf(event: ChannelEvent, { filter, subscription }: Joining, isState: boolean): Delivery | undefined {
    // With a filter the event is parsed, once for all subscriptions.
    const own = filter ? this.#events.keep(event) : event;
    const { row } = own;
    if (!row) return filter?.accepts(own.payload) === false ? undefined : own.payload;
    const outcome = row.outcomeFor(filter);
    // A subscription that begins has no row that could be gone, unless the delete is the last event of the channel.
    if (!outcome || (isState && outcome === 'deleted' && !row.isDeleted)) return undefined;
    return this.#services.rows.of(row, outcome, subscription.operation, isState);
  }

  #remove(joining: Joining): void {
    if (!this.#joinings.delete(joining.subscription)) return;
    this.#end(joining);
    if (this.#joinings.size === 0 && !this.#services.heldBytes.isAmple) this.#owner.onOver();
  }

  #end(joining: Joining): void {
    joining.end();
    if (joining.turn) this.#services.replays.delete(joining.turn);
    for (const taken of joining.newest?.takeAll() ?? []) this.#dropTaken(taken);
    this.intake.close(joining);
  }

  /** Drops the held events that no subscription needs. */
  #trim(): void {
    let sequence = Math.min(this.held.end, this.reads.sequence);
    for (const joining of this.#joinings.values()) sequence = Math.min(sequence, joining.sequence);
    this.held.dropBefore(sequence);
    this.#trimAt = Math.max(MAX_REPLAYED_BYTES, 2 * this.held.bytes);
  }

  /** Drops reads and results that were not used since the last sweep or are too old. */
  readonly #sweep = (): void => {
    this.reads.drop(true);
    if (this.#joinings.size === 0 && this.reads.isEmpty) return this.#owner.onOver();
    this.#trim();
    for (const [key, group] of this.#groups) {
      for (const member of group.members) if (!this.#joinings.has(member)) group.delete(member);
      if (group.members.size === 0) this.#groups.delete(key);
    }
    this.#events.sweep();
  };
}
