import type { HistoryEntry } from '../bus/history.ts';
import { Continuity } from './continuity.ts';
import type { CursorPlace } from './cursor.ts';
import type { ChannelEvent } from './live-channel.ts';
import type { Subscription } from './subscription.ts';

/** Events that may wait for the history; with more, they are dropped, the client is told, and there is no recovery. */
const MAX_HELD = 1_000;

/**
 * A subscription on its way into its group, behind the history that it begins with. Live events are held until the history
 * is there. What is in both comes once: events of a channel arrive in the order of its history, so the first that is behind its end
 * ends the overlap, and from that one on the subscription is like any other. Live events may be late: older than the history's first.
 */
export class Joining {
  readonly subscription: Subscription;
  readonly sharingKey: string | undefined;
  #held: ChannelEvent[] | undefined = [];
  #hasOverflowed = false;
  readonly #onGap: () => void;
  /** The event up to which the client has all; undefined: it has seen none. */
  #seen: Pick<CursorPlace, 'epoch' | 'entry'> | undefined;
  /** The same by place: where Redis failed in the middle of a script, a repeated chunk brings the same events as other entries. */
  readonly #shown = new Continuity();

  /** @param onGap called when events may be missing behind those that the client has */
  constructor(subscription: Subscription, sharingKey: string | undefined, onGap: () => void) {
    this.subscription = subscription;
    this.sharingKey = sharingKey;
    this.#onGap = onGap;
  }

  /** More came than can be held: what is held now is to be shown, and no history. */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  /** Whether a live event is one for the group, with this subscription in it from now on. */
  takes(event: ChannelEvent): boolean {
    if (!this.#held) return this.#follow(event);
    if (this.#held.length === MAX_HELD) {
      this.#hasOverflowed = true;
      this.#held.length = 0;
      this.#onGap();
    }
    this.#held.push(event);
    return false;
  }

  /** The client has seen everything up to this event. */
  goOnBehind(seen: CursorPlace): void {
    this.#seen = seen;
    this.#shown.observe(seen);
  }

  /** Ends the holding. What there is to show by itself: of the history first, then what was held and is not in it. */
  release(history: readonly HistoryEntry[]): ChannelEvent[] {
    for (const { coordinates } of history) this.#shown.observe(coordinates);
    const last = history.at(-1)?.coordinates;
    if (last?.entry !== undefined) this.#seen = { epoch: last.epoch, entry: last.entry };
    const held = this.#held ?? [];
    this.#held = undefined;
    return held.filter((event) => this.#follow(event));
  }

  /** Goes on with an event, if it comes after what the client has: next after it, where nothing is missing. Returns whether it does. */
  #follow({ coordinates }: ChannelEvent): boolean {
    const seen = this.#seen;
    if (!seen || !coordinates) return true;
    const { epoch, entry, previous } = coordinates;
    if (epoch < seen.epoch) return false;
    if (epoch === seen.epoch && entry !== undefined && !isBehind(entry, seen.entry)) return false;
    const isRepeated = this.#shown.observe(coordinates) === 'stale';
    const isNext = epoch === seen.epoch && (previous === undefined || previous === seen.entry);
    if (!isRepeated && !isNext) this.#onGap();
    this.#seen = entry === undefined ? undefined : { epoch, entry };
    return !isRepeated;
  }
}

/** Ids of entries are two numbers with a hyphen between them. */
function isBehind(entry: string, other: string): boolean {
  const [time = 0, count = 0] = entry.split('-').map(Number);
  const [otherTime = 0, otherCount = 0] = other.split('-').map(Number);
  return time > otherTime || (time === otherTime && count > otherCount);
}
