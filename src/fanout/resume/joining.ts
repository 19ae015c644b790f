import type { HistoryEntry } from '../../bus/history.ts';
import { Continuity } from '../continuity.ts';
import type { CursorPlace } from './cursor.ts';
import type { HeldEvents } from './held-events.ts';
import type { HistoryRead, Missed } from './history-reads.ts';
import type { ChannelEvent } from '../live-channel.ts';
import { isBehind } from './recovery.ts';
import type { Subscription } from '../subscription.ts';

const NONE: readonly HistoryEntry[] = [];

/**
 * A subscription on its way into its group, behind the history that it begins with. Live events are held until the history
 * is there. What is in both comes once: events of a channel arrive in the order of its history, so the first that is behind its end
 * ends the overlap, and from that one on the subscription is like any other. Live events may be late: older than the history's first.
 */
export class Joining {
  readonly subscription: Subscription;
  readonly sharingKey: string | undefined;
  readonly #held: HeldEvents;
  /** Of the next held event. */
  #position: number;
  #missed = NONE;
  #nextMissed = 0;
  #read: HistoryRead | undefined;
  #hasOverflowed = false;
  /** Whether the client was told of a gap before the next event. */
  #isBroken = false;
  readonly #onGap: () => void;
  /** The event up to which the client has all; undefined: it has seen none. */
  #seen: (Pick<CursorPlace, 'epoch'> & { readonly entry?: string | undefined }) | undefined;
  /** The same by place: where Redis failed in the middle of a script, a repeated chunk brings the same events as other entries. */
  readonly #shown = new Continuity();

  /**
   * @param held from its end on, the live events are for this subscription
   * @param onGap called when events may be missing behind those that the client has
   */
  constructor(subscription: Subscription, sharingKey: string | undefined, held: HeldEvents, onGap: () => void) {
    this.subscription = subscription;
    this.sharingKey = sharingKey;
    this.#held = held;
    this.#position = held.end;
    this.#onGap = onGap;
  }

  /** Position of the first held event that is still needed. */
  get position(): number {
    return this.#position;
  }

  /** More came before the history than can be held: the history cannot be shown. */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  /** The client has seen everything up to this event. */
  goOnBehind(seen: CursorPlace): void {
    this.#seen = seen;
    this.#shown.observe(seen);
  }

  /** Begins with a history, then comes what was held since it was read. */
  begin({ entries, read }: Missed): void {
    this.#missed = entries;
    this.#position = read.position;
    this.#read = read;
    read.users++;
    this.subscription.expectReplay(entries.length);
  }

  /** Needs no history any more. */
  end(): void {
    if (this.#read) this.#read.users--;
    this.#read = undefined;
    this.#missed = NONE;
  }

  /** Held events up to this position were dropped before this subscription had them. */
  skipTo(position: number): void {
    if (this.#position >= position) return;
    this.#position = position;
    if (!this.#read) this.#hasOverflowed = true;
    this.#isBroken = true;
    this.#onGap();
  }

  /**
   * The next event that there is to show by itself: of the history first, then of what was held and is not in it.
   * @param eventOf the event of an entry
   */
  next(eventOf: (entry: HistoryEntry) => ChannelEvent): ChannelEvent | undefined {
    const entry = this.#missed[this.#nextMissed];
    if (entry) {
      this.#nextMissed++;
      this.#shown.observe(entry.coordinates);
      this.#seen = entry.coordinates;
      return eventOf(entry);
    }
    for (let event = this.#held.at(this.#position); event; event = this.#held.at(this.#position)) {
      this.#position++;
      if (this.follows(event)) return event;
    }
    return undefined;
  }

  /** Goes on with an event, if it comes after what the client has: next after it, where nothing is missing. Returns whether it does. */
  follows({ coordinates }: ChannelEvent): boolean {
    const seen = this.#seen;
    if (!seen || !coordinates) return true;
    const { epoch, entry, previous } = coordinates;
    if (epoch < seen.epoch) return false;
    if (epoch === seen.epoch && entry !== undefined && seen.entry !== undefined && !isBehind(entry, seen.entry))
      return false;
    const isRepeated = this.#shown.observe(coordinates) === 'stale';
    const isNext = epoch === seen.epoch && (previous === undefined || previous === seen.entry);
    if (!isRepeated) {
      if (!isNext && !this.#isBroken) this.#onGap();
      this.#isBroken = false;
    }
    this.#seen = entry === undefined ? undefined : coordinates;
    return !isRepeated;
  }
}
