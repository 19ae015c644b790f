import type { Coordinates } from '../../../bus/coordinates.ts';
import type { EventExecutor } from '../../../graph/execution/event-executor.ts';
import type { Pace } from '../../../graph/pace.ts';
import { GroupDelivery } from '../group-delivery.ts';
import type { Delivery, DeliveredEvent } from '../group-delivery.ts';
import type { ChannelServices } from '../channel-services.ts';
import type { CursorSource } from '../channel-event.ts';
import type { EventShare } from '../scheduling/event-scheduler.ts';
import type { SharingGroup } from '../sharing/sharing-group.ts';
import type { Subscription } from '../subscription.ts';
import { Backlogs } from './backlogs.ts';
import { eventKey } from './event-key.ts';
import { PacedEvents } from './paced-events.ts';
import type { PacedEventsServices } from './paced-events.ts';

/** Delivers the events of a channel of which some groups have a pace. */
export class PacedDelivery extends GroupDelivery {
  readonly #executor: Pick<EventExecutor, 'rulesOf'>;
  readonly #services: PacedEventsServices;
  readonly #backlogs: Backlogs;
  readonly #events = new WeakMap<SharingGroup, PacedEvents>();
  /** Of the latest event with coordinates, and of the one before it. */
  #latest: Coordinates | undefined;
  #previous: Coordinates | undefined;

  constructor(services: ChannelServices, source: CursorSource) {
    super(services);
    const { delivery: atOnce, scheduler, heldBytes, observer } = services;
    this.#executor = services.executor;
    this.#backlogs = new Backlogs(services);
    this.#services = { atOnce, scheduler, heldBytes, observer, source, backlogs: this.#backlogs };
  }

  override deliver(group: SharingGroup, delivery: Delivery, event: DeliveredEvent, share: EventShare): void {
    const { pace } = group;
    const { coordinates } = event.channelEvent;
    if (coordinates && coordinates !== this.#latest) {
      this.#previous = this.#latest;
      this.#latest = coordinates;
    }
    if (!pace) return super.deliver(group, delivery, event, share);
    const onDelete = event.isTombstone ? this.#executor.rulesOf(group.operation!).onDelete : 'NULL';
    // It is no event of the field, so it replaces none. No row says what it was.
    if (onDelete === undefined || onDelete === 'ROW') return share.intake?.serve(share.length);
    this.#eventsOf(group, pace).add({
      key: eventKey(coordinates, pace),
      previous: this.#previous,
      delivery: onDelete === 'COMPLETE' ? onDelete : delivery,
      event,
      share,
    });
  }

  override leave(member: Subscription): void {
    this.#backlogs.of(member)?.close();
  }

  #eventsOf(group: SharingGroup, pace: Pace): PacedEvents {
    let events = this.#events.get(group);
    if (!events) {
      events = new PacedEvents(group, pace, this.#services);
      this.#events.set(group, events);
      group.waiting = events;
    }
    return events;
  }
}
