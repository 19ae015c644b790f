import { compareEntryIds } from '../../../bus/entry-id.ts';
import type { HistoryEntry } from '../../../bus/history.ts';
import type { EventFilter } from '../../../graph/filter/event-filter.ts';
import type { ChannelEvent } from '../channel-event.ts';
import type { GapReason } from '../channel-services.ts';
import { Continuity } from '../continuity.ts';
import type { CursorPosition, EventPosition } from './cursor.ts';
import type { HeldEvents } from './held-events.ts';
import type { HistoryRead, Missed } from './history-reads.ts';
import type { NewestEvents } from '../pace/newest-events.ts';
import type { SharingGroup } from '../sharing/sharing-group.ts';
import type { OnCaughtUp } from './on-caught-up.ts';
import type { Turn } from './replays.ts';
import type { Subscription } from '../subscription.ts';

/** An event that waits for its subscription, which has a pace. */
export interface NewestEvent {
  readonly key: unknown;
  readonly event: ChannelEvent;
  /** See `Joining.isState`. */
  readonly isState: boolean;
  /** False: it is one of the history. */
  readonly isLive: boolean;
  /** Events that it replaces. */
  readonly skipped: number;
}

const NONE: readonly HistoryEntry[] = [];

/**
 * A subscription that begins with the history, until it joins its group. Live events are held until the history is read. Removes duplicates
 * where the history and the live events overlap: events of a channel arrive in the order of its history, so the first live event after the
 * history's end ends the overlap. Live events may be late: older than the history's first.
 */
export class Joining {
  readonly subscription: Subscription;
  /** In the replay; undefined: it has none yet. */
  group: SharingGroup | undefined;
  /** In the replay; undefined: it has not begun. */
  turn: Turn | undefined;
  /** Of a subscription with a pace: what it has not received of the events that were taken for it. */
  newest: NewestEvents<NewestEvent> | undefined;
  /** True: more events are to be taken before these are delivered. */
  isGathering = false;
  /** True: the last of these completes the subscription. */
  isCompleting = false;
  /** undefined: its client stays. */
  onCaughtUp: OnCaughtUp | undefined;
  #sharingKey: string | undefined;
  #filter: EventFilter | undefined;
  readonly #held: HeldEvents;
  /** Of the next held event. */
  #sequence: number;
  #missed = NONE;
  #nextMissed = 0;
  #isState = false;
  #read: HistoryRead | undefined;
  #hasOverflowed = false;
  /** True if the client receives `gap: true` with the next event. */
  #isBroken = false;
  readonly #onGap: (reason: GapReason) => void;
  /** The client has every event up to this one; undefined: it has none. */
  #seen: EventPosition | undefined;
  /** The same by offset: if Redis failed in the middle of a script, a repeated chunk brings the same events as other entries. */
  readonly #shown = new Continuity();

  /**
   * @param held from its present end on, the live events are for this subscription
   * @param onGap called when events may be missing after the client's last one
   */
  constructor(
    subscription: Subscription,
    sharingKey: string | undefined,
    filter: EventFilter | undefined,
    held: HeldEvents,
    onGap: (reason: GapReason) => void,
  ) {
    this.subscription = subscription;
    this.#sharingKey = sharingKey;
    this.#filter = filter;
    this.#held = held;
    this.#sequence = held.end;
    this.#onGap = onGap;
  }

  /** Of the group that it joins. */
  get sharingKey(): string | undefined {
    return this.#sharingKey;
  }

  /** See `SharingGroup.filter`. */
  get filter(): EventFilter | undefined {
    return this.#filter;
  }

  /** Its operation was replaced, because the pod serves another graph: what it has not received yet, it receives with this one. */
  move(sharingKey: string | undefined, filter: EventFilter | undefined): void {
    this.group?.delete(this.subscription);
    this.group = undefined;
    this.#sharingKey = sharingKey;
    this.#filter = filter;
  }

  /** True if the event that `next` has returned is the last one of the channel, with which the subscription begins. */
  get isState(): boolean {
    return this.#isState;
  }

  /** Of the last event that the client has; undefined: it began without one. */
  get seen(): EventPosition | undefined {
    return this.#seen;
  }

  /** Position of the first held event that is still needed. */
  get sequence(): number {
    return this.#sequence;
  }

  /** More events arrived before the history was read than can be held: the history cannot be delivered. */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  /** The client has every event up to this one. */
  resumeAfter(seen: CursorPosition): void {
    this.#seen = seen;
    this.#shown.observe(seen);
  }

  /** Begins with missed events, then the events held since they were read. */
  startWith({ entries, read }: Missed): void {
    this.#missed = entries;
    this.#sequence = read.sequence;
    this.#read = read;
    read.users++;
    this.subscription.expectReplay(entries.length);
  }

  /** Releases the history. */
  end(): void {
    if (this.#read) this.#read.users--;
    this.#read = undefined;
    this.#missed = NONE;
  }

  /** Held events before this sequence number were dropped before this subscription had them. */
  skipTo(sequence: number): void {
    if (this.#sequence >= sequence) return;
    this.#sequence = sequence;
    if (!this.#read) this.#hasOverflowed = true;
    this.#isBroken = true;
    this.#onGap('room');
  }

  /**
   * The next event for this subscription alone: of the history first, then of the held events that are not in it.
   * @param eventOf makes the event of an entry
   */
  next(eventOf: (entry: HistoryEntry) => ChannelEvent): ChannelEvent | undefined {
    const entry = this.#missed[this.#nextMissed];
    if (entry) {
      this.#nextMissed++;
      this.#isState = this.#read!.isOfLast;
      this.#shown.observe(entry.coordinates);
      this.#seen = entry.coordinates;
      return eventOf(entry);
    }
    this.#isState = false;
    for (let event = this.#held.at(this.#sequence); event; event = this.#held.at(this.#sequence)) {
      this.#sequence++;
      if (this.advanceTo(event)) return event;
    }
    return undefined;
  }

  /** Returns true if the event is newer than what the client has, which it then has, too. Calls `onGap` if events between may be missing. */
  advanceTo({ coordinates }: ChannelEvent): boolean {
    const seen = this.#seen;
    if (!seen || !coordinates) return true;
    const { epoch, entry, previous } = coordinates;
    if (epoch < seen.epoch) return false;
    if (
      epoch === seen.epoch &&
      entry !== undefined &&
      seen.entry !== undefined &&
      compareEntryIds(entry, seen.entry) <= 0
    )
      return false;
    const isRepeated = this.#shown.observe(coordinates) === 'stale';
    const isNext = epoch === seen.epoch && (previous === undefined || previous === seen.entry);
    if (!isRepeated) {
      if (!isNext && !this.#isBroken) this.#onGap(epoch === seen.epoch ? 'bus' : 'epoch');
      this.#isBroken = false;
    }
    this.#seen = entry === undefined ? undefined : coordinates;
    return !isRepeated;
  }
}
