import type { ChannelLoad } from '../flow/executing.ts';
import type { Intake } from '../flow/intake.ts';
import type { SharedEvent, SharingGroup } from './sharing/sharing.ts';
import type { Job } from './slices.ts';
import type { Subscription } from './subscription.ts';

/** What a group stands for of some events, in bytes. */
export interface Taken {
  /** undefined: they are outside of flow control. */
  readonly intake: Intake | undefined;
  length: number;
}

/** Events of one batch; so that one member is not served for long. */
const MAX_EVENTS = 32;
/** Results between two looks at the clock, so that it costs nothing beside the work. */
const RESULTS_BETWEEN_CHECKS = 16;

export interface EventBatchOwner {
  /**
   * A few members got what others had got before. To write that now, while what it needs is at hand, is cheaper than later. After
   * executions it is not: writes that follow each other closely find the peer awake.
   * @param events that each of them got
   */
  onShared(events: number): void;
  /** Every member has been served. */
  onServed(taken: readonly Taken[]): void;
  /** Whether the batch must wait now. It is served again when it need not. */
  isHeld(batch: EventBatch): boolean;
}

/**
 * The events that one turn of the event loop brought to a group, in their order. A member gets all of them before the next
 * one has its turn, so that what one connection needs is touched once for all events and not once for each.
 */
export class EventBatch {
  /** Of the channel; undefined: the batch is never held. */
  readonly load: ChannelLoad | undefined;
  readonly #group: SharingGroup;
  readonly #events: SharedEvent[] = [];
  /** Those who were members when it began. */
  #members: readonly Subscription[] | undefined;
  #served = 0;
  /** In the order of the events; consecutive events of one intake are one entry. */
  readonly #taken: Taken[] = [];
  readonly #owner: EventBatchOwner;
  #length = 0;
  #isHeld = false;

  constructor(group: SharingGroup, owner: EventBatchOwner, load?: ChannelLoad) {
    this.load = load;
    this.#group = group;
    this.#owner = owner;
  }

  /** Of its events, in bytes. */
  get length(): number {
    return this.#length;
  }

  /** Whether it takes one more event: its turn has not come, and there is room. */
  get isOpen(): boolean {
    return !this.#isHeld && this.#members === undefined && this.#events.length < MAX_EVENTS;
  }

  add(event: SharedEvent, length: number, intake?: Intake): void {
    this.#events.push(event);
    this.#length += length;
    const last = this.#taken.at(-1);
    if (last && last.intake === intake) last.length += length;
    else this.#taken.push({ intake, length });
  }

  readonly serve: Job = (isSpent) => {
    if (!this.#members && (this.#isHeld = this.#owner.isHeld(this))) return true;
    const members = (this.#members ??= [...this.#group.members]);
    let results = 0;
    let hasExecuted = false;
    while (this.#served < members.length) {
      const member = members[this.#served++]!;
      for (const event of this.#events) if (event.serve(member)) hasExecuted = true;
      results += this.#events.length;
      if (results < RESULTS_BETWEEN_CHECKS) continue;
      if (!hasExecuted) this.#owner.onShared(this.#events.length);
      results = 0;
      hasExecuted = false;
      if (isSpent()) return false;
    }
    if (this.#group.batch === this) this.#group.batch = undefined;
    this.#owner.onServed(this.#taken);
    return true;
  };
}
