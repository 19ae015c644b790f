import type { EventExecutor } from '../../graph/execution/event-executor.ts';
import type { Payload } from '../../graph/payload.ts';
import type { ChannelEvent } from './channel-event.ts';
import { InitialEvent } from './initial-event.ts';
import { COMPLETION } from './row-deliveries.ts';
import type { EventScheduler, EventShare } from './scheduling/event-scheduler.ts';
import { SharedEvent } from './sharing/sharing.ts';
import type { SharedEventOptions, SharingServices } from './sharing/sharing.ts';
import type { GroupEvent, SharingGroup } from './sharing/sharing-group.ts';
import { TombstoneEvent } from './sharing/tombstone-event.ts';
import type { Subscription } from './subscription.ts';

export interface GroupDeliveryServices {
  readonly executor: EventExecutor;
  readonly sharing: SharingServices;
  readonly scheduler: Pick<EventScheduler, 'add'>;
}

export interface DeliveredEvent extends SharedEventOptions {
  readonly channelEvent: ChannelEvent;
  /** See `ChannelEvent`. */
  readonly isTombstone: boolean;
  /** See `ArrivedMessage`. */
  readonly isState: boolean;
}

type EventKind = Pick<DeliveredEvent, 'isTombstone' | 'isState'>;

/** What the members of a group receive: the result of this payload, or their completion. */
export type Delivery = Payload | 'COMPLETE';

/** Delivers the events of a channel to one group after another. */
export class GroupDelivery {
  readonly #services: GroupDeliveryServices;

  constructor(services: GroupDeliveryServices) {
    this.#services = services;
  }

  /** Schedules an event for the members that the group has when its turn comes. */
  deliver(group: SharingGroup, delivery: Delivery, event: DeliveredEvent, share: EventShare): void {
    this.#services.scheduler.add(group, this.eventOf(group, delivery, event, event), share);
  }

  /** A subscription of the channel has ended. */
  leave?(member: Subscription): void;

  eventOf(group: SharingGroup, delivery: Delivery, options: SharedEventOptions, kind: EventKind): GroupEvent {
    if (delivery === 'COMPLETE') return COMPLETION;
    const { executor, sharing } = this.#services;
    const shared = new SharedEvent(group, executor.startEvent(delivery, group.operation), sharing, options);
    const event = kind.isState ? new InitialEvent(shared) : shared;
    return kind.isTombstone ? new TombstoneEvent(executor, event) : event;
  }
}
