import type { GroupEvent } from './sharing/sharing-group.ts';
import type { Subscription } from './subscription.ts';

/** In the `extensions` of an event that a subscription begins with, or receives in place of those that it missed: its client may have seen it. */
export const INITIAL = '"initial":true';

/** The state of a channel after a gap, for the members of one group. */
export class InitialEvent implements GroupEvent {
  readonly #delivery: GroupEvent;

  constructor(delivery: GroupEvent) {
    this.#delivery = delivery;
  }

  serve(member: Subscription): boolean {
    member.note(INITIAL);
    return this.#delivery.serve(member);
  }
}
