import type { Coordinates } from '../../../bus/coordinates.ts';
import type { Pace } from '../../../graph/pace.ts';
import type { CursorSource } from '../channel-event.ts';
import type { ChannelServices } from '../channel-services.ts';
import type { Delivery, DeliveredEvent, GroupDelivery } from '../group-delivery.ts';
import type { HeldBytes } from '../resume/replay-bytes.ts';
import type { SharingGroup, WaitingEvents } from '../sharing/sharing-group.ts';
import type { EventShare } from '../scheduling/event-scheduler.ts';
import type { Subscription } from '../subscription.ts';
import type { Backlogs } from './backlogs.ts';
import { PacedEvent } from './paced-event.ts';
import type { PacedEventOwner } from './paced-event.ts';
import { Pacer } from './pacer.ts';

export interface PacedEventsServices extends Pick<ChannelServices, 'scheduler' | 'heldBytes' | 'observer'> {
  /** Of the channel. */
  readonly backlogs: Backlogs;
  readonly atOnce: GroupDelivery;
  readonly source: CursorSource;
}

/** Bytes of events that a client which does not keep up is sent before its connection closes: less than its queue may have. */
const MAX_LAST_BYTES = 256 * 1024;

/** An event on its way to a group. */
export interface Arrival {
  /** undefined: not known. */
  readonly key: string | undefined;
  readonly previous: Coordinates | undefined;
  readonly delivery: Delivery;
  readonly event: DeliveredEvent;
  readonly share: EventShare;
}

/** The events of one group with a pace: they wait for their interval, once for all members, or for members that do not keep up. */
export class PacedEvents implements PacedEventOwner, WaitingEvents {
  readonly group: SharingGroup;
  readonly heldBytes: HeldBytes;
  readonly source: CursorSource;
  readonly atOnce: GroupDelivery;
  readonly #services: PacedEventsServices;
  readonly #keepsSlow: boolean;
  /** undefined: events wait for no interval. */
  readonly #pacer: Pacer<PacedEvent> | undefined;
  /** For members that joined while events waited, or were sent those that wait: the sequence of their first event. */
  readonly #joined = new Map<Subscription, number>();
  #sequence = 0;

  constructor(group: SharingGroup, { ms, keepsSlow }: Pace, services: PacedEventsServices) {
    this.group = group;
    this.heldBytes = services.heldBytes;
    this.source = services.source;
    this.atOnce = services.atOnce;
    this.#services = services;
    this.#keepsSlow = keepsSlow;
    this.#pacer = ms > 0 ? new Pacer(ms, services.heldBytes, (events) => this.#deliverLate(events)) : undefined;
  }

  add(arrival: Arrival): void {
    const { key, share } = arrival;
    const { channelEvent } = arrival.event;
    const event = new PacedEvent(this, { ...arrival, sequence: ++this.#sequence });
    // Kept by others while it waits for a member.
    if (this.#keepsSlow || !this.#services.backlogs.isEmpty) channelEvent.payload.detach();
    if (this.#pacer && key !== undefined && arrival.delivery !== 'COMPLETE') {
      if (this.#hold(this.#pacer, key, event)) return share.intake?.serve(share.length);
    } else {
      // What has an unknown key may be newer than an event that waits.
      this.flush();
    }
    this.#deliver(event, share);
  }

  admit(member: Subscription): void {
    if (this.#pacer?.oldest) this.#joined.set(member, this.#sequence + 1);
  }

  flush(): void {
    const events = this.#pacer?.takeAll() ?? [];
    if (events.length > 0) this.#deliverLate(events);
  }

  leave(member: Subscription, next: SharingGroup | undefined): void {
    this.#joined.delete(member);
    // Events of a group without a pace do not look at what waits.
    if (next && !next.pace) this.#services.backlogs.of(member)?.finish();
  }

  sendWaiting(member: Subscription): void {
    const { backlogs } = this.#services;
    const backlog = backlogs.of(member);
    const first = this.#joined.get(member) ?? 0;
    for (const event of this.#pacer?.waiting ?? []) {
      if (event.sequence < first) continue;
      const { early } = event;
      early.begin(backlogs.nextOrder(), undefined);
      if (backlog) backlog.add(early);
      else early.serveNow(member);
    }
    // It may stay until the interval of an event ends.
    if (this.#pacer?.oldest) this.#joined.set(member, this.#sequence + 1);
    backlog?.finish(MAX_LAST_BYTES);
  }

  close(): void {
    for (const event of this.#pacer?.close() ?? []) event.release();
  }

  holds(member: Subscription, event: PacedEvent): boolean {
    if (member.isEnded) return false;
    const { backlogs } = this.#services;
    const backlog = backlogs.of(member) ?? (this.#keepsSlow && member.isBehind ? backlogs.open(member) : undefined);
    backlog?.add(event);
    return backlog !== undefined;
  }

  /** Returns false if the event is to be delivered now. */
  #hold(pacer: Pacer<PacedEvent>, key: string, event: PacedEvent): boolean {
    if (!pacer.isBusy(key)) {
      pacer.begin(key);
      return false;
    }
    if (!event.retain()) {
      this.flush();
      return false;
    }
    event.channelEvent.payload.detach();
    const replaced = pacer.hold(key, event);
    if (!replaced) return true;
    replaced.release();
    event.skipped = replaced.skipped + 1;
    return true;
  }

  /** They have waited. Their partitions were not held up for them. In the order of arrival: the cursor of one covers those before it. */
  #deliverLate(events: readonly PacedEvent[]): void {
    const inOrder = events.toSorted((one, other) => one.sequence - other.sequence);
    const joined = this.#joinedAfter(inOrder[0]!.sequence);
    for (const event of inOrder) {
      event.beLate(joined);
      event.release();
      if (event.skipped > 0) this.#services.observer.onSkipped(event.skipped, 'pace');
      this.#deliver(event, { ...event.share, intake: undefined });
    }
    this.#services.scheduler.keepBound();
  }

  /** The members that joined after an event, which no longer waits; undefined: none. Those that joined before all that still wait are forgotten. */
  #joinedAfter(sequence: number): ReadonlyMap<Subscription, number> | undefined {
    let joined: Map<Subscription, number> | undefined;
    const oldest = this.#pacer?.oldest?.sequence ?? Infinity;
    for (const [member, first] of this.#joined) {
      if (first > sequence) (joined ??= new Map()).set(member, first);
      if (first <= oldest) this.#joined.delete(member);
    }
    return joined;
  }

  #deliver(event: PacedEvent, share: EventShare): void {
    event.begin(this.#services.backlogs.nextOrder(), this.#pacer?.oldest);
    this.#services.scheduler.add(this.group, event, share);
  }
}
