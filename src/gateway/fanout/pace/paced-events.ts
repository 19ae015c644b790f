import type { Coordinates } from '../../../bus/coordinates.ts';
import type { Pace } from '../../../graph/pace.ts';
import type { CursorSource } from '../channel-event.ts';
import type { ChannelServices } from '../channel-services.ts';
import type { Delivery, DeliveredEvent, GroupDelivery } from '../group-delivery.ts';
import type { HeldBytes } from '../resume/replay-bytes.ts';
import type { SharingGroup, WaitingEvents } from '../sharing/sharing-group.ts';
import type { EventShare } from '../scheduling/event-scheduler.ts';
import type { Subscription } from '../subscription.ts';
import { Backlog } from './backlog.ts';
import { PacedEvent } from './paced-event.ts';
import type { PacedEventOwner } from './paced-event.ts';
import { Pacer } from './pacer.ts';

export interface PacedEventsServices extends Pick<ChannelServices, 'scheduler' | 'heldBytes' | 'replays' | 'observer'> {
  readonly atOnce: GroupDelivery;
  readonly source: CursorSource;
}

/** An event on its way to a group. */
export interface Arrival {
  /** undefined: not known. */
  readonly key: string | undefined;
  readonly previous: Coordinates | undefined;
  readonly delivery: Delivery;
  readonly event: DeliveredEvent;
  readonly share: EventShare;
}

/**
 * The events of one group with a pace: those that wait for their interval, once for all members, and those that wait for members that do not
 * keep up.
 */
export class PacedEvents implements PacedEventOwner, WaitingEvents {
  readonly group: SharingGroup;
  readonly heldBytes: HeldBytes;
  readonly source: CursorSource;
  readonly atOnce: GroupDelivery;
  readonly #services: PacedEventsServices;
  readonly #keepsSlow: boolean;
  /** undefined: events wait for no interval. */
  readonly #pacer: Pacer<PacedEvent> | undefined;
  readonly #backlogs = new Map<Subscription, Backlog>();
  /** For members that joined while events waited: the sequence of their first event. */
  readonly #joined = new Map<Subscription, number>();
  #sequence = 0;
  #delivered = 0;

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
    if (this.#keepsSlow) channelEvent.payload.detach();
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

  leave(member: Subscription): void {
    this.#joined.delete(member);
    const backlog = this.#backlogs.get(member);
    if (member.isEnded) backlog?.close();
    else backlog?.finish();
  }

  close(): void {
    for (const event of this.#pacer?.close() ?? []) event.release();
  }

  holds(member: Subscription, event: PacedEvent): boolean {
    if (!this.#keepsSlow || member.isEnded) return false;
    const backlog = this.#backlogs.get(member) ?? (member.isBehind ? this.#openBacklog(member) : undefined);
    backlog?.add(event);
    return backlog !== undefined;
  }

  onSkipped(events: number): void {
    this.#services.observer.onSkipped(events, 'slow');
  }

  onOver(member: Subscription): void {
    this.#backlogs.delete(member);
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

  #openBacklog(member: Subscription): Backlog {
    const backlog = new Backlog(member, this);
    this.#backlogs.set(member, backlog);
    this.#services.replays.add(backlog.turn);
    return backlog;
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
    event.begin(++this.#delivered, this.#pacer?.oldest);
    this.#services.scheduler.add(this.group, event, share);
  }
}
