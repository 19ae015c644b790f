import type { ChannelLoad } from '../../../bus/flow/channel-load.ts';
import type { Intake } from '../../../bus/flow/intake.ts';
import type { GroupBatch, GroupEvent, SharingGroup } from '../sharing/sharing-group.ts';
import type { Subscription } from '../subscription.ts';
import { MAX_BATCH_EVENTS, RESULTS_BETWEEN_CHECKS } from './bounds.ts';
import type { Job } from './turn-slices.ts';

/** Bytes of consecutive events of one intake. */
export interface IntakeBytes {
  /** undefined: outside of flow control. */
  readonly intake: Intake | undefined;
  length: number;
}

export interface EventBatchOwner {
  /**
   * The last members needed no execution. Writing their messages now, while they are in the CPU's caches, is cheaper than later. After
   * executions it is not: later writes in quick succession find the peer awake.
   * @param events number of events that each of them received
   */
  onShared(events: number): void;
  /** Every member has been served. */
  onServed(served: readonly IntakeBytes[]): void;
  /** Returns true if the batch must wait. The owner calls `serve` again when it need not. */
  isHeld(batch: EventBatch): boolean;
}

/**
 * The events of a group that arrived in one turn of the event loop, in order. A member receives all of them before the next member does, so
 * that the memory of a connection is touched once for all events.
 */
export class EventBatch implements GroupBatch {
  /** Executions of the channel; undefined: the batch is never held. */
  readonly load: ChannelLoad | undefined;
  readonly #group: SharingGroup;
  readonly #events: GroupEvent[] = [];
  /** The group's members at the batch's first turn; undefined before it. */
  #members: readonly Subscription[] | undefined;
  #servedMembers = 0;
  /** In the order of the events. */
  readonly #intakeBytes: IntakeBytes[] = [];
  readonly #owner: EventBatchOwner;
  #length = 0;
  #isHeld = false;

  constructor(group: SharingGroup, owner: EventBatchOwner, load?: ChannelLoad) {
    this.load = load;
    this.#group = group;
    this.#owner = owner;
  }

  /** Bytes of its events. */
  get length(): number {
    return this.#length;
  }

  /** True while it accepts one more event: its turn has not come, and it has room. */
  get isOpen(): boolean {
    return !this.#isHeld && this.#members === undefined && this.#events.length < MAX_BATCH_EVENTS;
  }

  add(event: GroupEvent, length: number, intake?: Intake): void {
    this.#events.push(event);
    this.#length += length;
    const last = this.#intakeBytes.at(-1);
    if (last && last.intake === intake) last.length += length;
    else this.#intakeBytes.push({ intake, length });
  }

  readonly serve: Job = (isSpent) => {
    if (!this.#members && (this.#isHeld = this.#owner.isHeld(this))) return true;
    const members = (this.#members ??= [...this.#group.members]);
    let results = 0;
    let hasExecuted = false;
    while (this.#servedMembers < members.length) {
      const member = members[this.#servedMembers++]!;
      for (const event of this.#events) if (event.serve(member)) hasExecuted = true;
      results += this.#events.length;
      if (results < RESULTS_BETWEEN_CHECKS) continue;
      if (!hasExecuted) this.#owner.onShared(this.#events.length);
      results = 0;
      hasExecuted = false;
      if (isSpent()) return false;
    }
    if (this.#group.batch === this) this.#group.batch = undefined;
    this.#owner.onServed(this.#intakeBytes);
    return true;
  };
}
