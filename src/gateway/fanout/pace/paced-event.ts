import type { Coordinates } from '../../../bus/coordinates.ts';
import type { ChannelEvent, CursorSource } from '../channel-event.ts';
import type { Delivery, DeliveredEvent, GroupDelivery } from '../group-delivery.ts';
import { resultSuffix } from '../outbox/frame.ts';
import { heldLength } from '../resume/held-events.ts';
import type { HeldBytes } from '../resume/replay-bytes.ts';
import type { EventShare } from '../scheduling/event-scheduler.ts';
import type { SharedEventOptions } from '../sharing/sharing.ts';
import type { GroupEvent, SharingGroup } from '../sharing/sharing-group.ts';
import type { Subscription } from '../subscription.ts';

/** The events of its group. */
export interface PacedEventOwner {
  readonly group: SharingGroup;
  readonly heldBytes: HeldBytes;
  readonly source: CursorSource;
  readonly atOnce: GroupDelivery;
  /** Returns true if the member receives it later, or a newer one instead. */
  holds(member: Subscription, event: PacedEvent): boolean;
}

export interface PacedEventOptions {
  /** undefined: not known. */
  readonly key: string | undefined;
  /** Counts the events of the group. */
  readonly sequence: number;
  /** The event of the channel before it; undefined: not known. */
  readonly previous: Coordinates | undefined;
  readonly delivery: Delivery;
  readonly event: DeliveredEvent;
  readonly share: EventShare;
}

/** One event of a group with a pace. */
export class PacedEvent implements GroupEvent {
  readonly key: string | undefined;
  readonly sequence: number;
  readonly share: EventShare;
  /** Older events of its key that it replaces, for all members. */
  skipped = 0;
  /** Counts the events of the channel's groups in the order in which they are delivered. */
  order = 0;
  readonly #owner: PacedEventOwner;
  readonly #previous: Coordinates | undefined;
  readonly #delivery: Delivery;
  readonly #options: DeliveredEvent;
  /** True: it has waited for its interval. */
  #isLate = false;
  /** The sequence of the first event of members that joined while it waited. */
  #joined: ReadonlyMap<Subscription, number> | undefined;
  /** The client has everything up to here when it has this event; undefined: up to the event itself. */
  #covered: Coordinates | undefined;
  #event: GroupEvent | undefined;
  #early: PacedEvent | undefined;
  #holders = 0;
  /** Bytes of its results that are kept. */
  #keptBytes = 0;

  constructor(owner: PacedEventOwner, { key, sequence, previous, delivery, event, share }: PacedEventOptions) {
    this.#owner = owner;
    this.key = key;
    this.sequence = sequence;
    this.share = share;
    this.#previous = previous;
    this.#delivery = delivery;
    this.#options = event;
  }

  /** It is delivered now. @param oldest the event of the group that has waited longest, and still does */
  begin(order: number, oldest: PacedEvent | undefined): void {
    this.order = order;
    if (oldest && oldest.sequence < this.sequence) this.#covered = oldest.#previous;
  }

  /** It has waited. @param joined the sequence of the first event of each member that has joined since the first event began to wait */
  beLate(joined: ReadonlyMap<Subscription, number> | undefined): void {
    this.#isLate = true;
    this.#joined = joined;
  }

  /**
   * The same event for members that leave before its interval ends, and have all events before it. Its results are others, for their cursors
   * are.
   */
  get early(): PacedEvent {
    if (this.#early) return this.#early;
    const { key, sequence, share } = this;
    const options = { key, sequence, share, previous: this.#previous, delivery: this.#delivery, event: this.#options };
    this.#early = new PacedEvent(this.#owner, options);
    this.#early.skipped = this.skipped;
    this.#early.beLate(undefined);
    return this.#early;
  }

  /** Cursor that a client may have before it has this event; undefined: not known. */
  get cursorBefore(): string | undefined {
    const position = this.#covered ?? this.#previous;
    return position && this.#owner.source.cursorOf(position);
  }

  /** The end of its results; see `ChannelEvent`. */
  get suffix(): Buffer | undefined {
    const { suffix, coordinates } = this.channelEvent;
    if (this.skipped === 0 && !this.#covered) return suffix;
    const position = this.#covered ?? coordinates;
    return resultSuffix(position && this.#owner.source.cursorOf(position), this.skipped);
  }

  /** True: members that receive it complete. */
  get isCompletion(): boolean {
    return this.#delivery === 'COMPLETE';
  }

  get channelEvent(): ChannelEvent {
    return this.#options.channelEvent;
  }

  serve(member: Subscription): boolean {
    const first = this.#joined?.get(member);
    if (first !== undefined && first > this.sequence) return false;
    return !this.#owner.holds(member, this) && this.serveNow(member);
  }

  /** As `serve`, also to a member that does not keep up. The error boundary: a throw ends its operation, and nothing else. */
  serveNow(member: Subscription): boolean {
    try {
      this.#event ??= this.#open();
      return this.#event.serve(member);
    } catch (error) {
      member.fail(error);
      return false;
    }
  }

  /** Counts its bytes while somebody keeps it. Returns false, and counts nothing, if the pod has no room for them. */
  retain(): boolean {
    if (this.#holders === 0 && !this.#owner.heldBytes.reserve(this.#bytes)) return false;
    this.#holders++;
    return true;
  }

  release(): void {
    if (--this.#holders === 0) this.#owner.heldBytes.release(this.#bytes);
  }

  get #bytes(): number {
    return heldLength(this.channelEvent.length) + this.#keptBytes;
  }

  #open(): GroupEvent {
    const { group, atOnce } = this.#owner;
    const options: SharedEventOptions = {
      executing: this.#options.executing,
      // What has waited on purpose is not observed.
      ...(!this.#isLate && { times: this.#options.times, trace: this.#options.trace }),
      channelEvent: this,
      onKeep: this.#onKeep,
    };
    return atOnce.eventOf(group, this.#delivery, options, this.#options);
  }

  readonly #onKeep = (bytes: number): void => {
    this.#keptBytes += bytes;
    if (this.#holders > 0) this.#owner.heldBytes.add(bytes);
  };
}
