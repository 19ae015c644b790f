import type { ChannelServices } from '../channel-services.ts';
import type { HeldBytes } from '../resume/replay-bytes.ts';
import type { Subscription } from '../subscription.ts';
import { Backlog } from './backlog.ts';
import type { BacklogOwner } from './backlog.ts';

/** What waits for the members of one channel that do not keep up. A member keeps it when it moves to another group. */
export class Backlogs implements BacklogOwner {
  readonly heldBytes: HeldBytes;
  readonly #services: Pick<ChannelServices, 'replays' | 'observer'>;
  readonly #byMember = new Map<Subscription, Backlog>();
  #delivered = 0;

  constructor(services: Pick<ChannelServices, 'heldBytes' | 'replays' | 'observer'>) {
    this.heldBytes = services.heldBytes;
    this.#services = services;
  }

  get isEmpty(): boolean {
    return this.#byMember.size === 0;
  }

  /** Counts the events of all groups in the order in which they are delivered. */
  nextOrder(): number {
    return ++this.#delivered;
  }

  of(member: Subscription): Backlog | undefined {
    return this.#byMember.get(member);
  }

  open(member: Subscription): Backlog {
    const backlog = new Backlog(member, this);
    this.#byMember.set(member, backlog);
    this.#services.replays.add(backlog);
    return backlog;
  }

  onSkipped(events: number): void {
    this.#services.observer.onSkipped(events, 'slow');
  }

  onOver(backlog: Backlog): void {
    this.#byMember.delete(backlog.member);
    this.#services.replays.delete(backlog);
  }
}
