import type { HistoryEntry } from '../bus/history.ts';
import { Continuity } from './continuity.ts';
import type { ChannelEvent } from './live-channel.ts';
import type { Subscription } from './subscription.ts';

/** Events that may wait for the history; with more, they are dropped, the client is told, and there is no recovery. */
const MAX_HELD = 1_000;

/**
 * A subscription on its way into its group, behind the history that it begins with. Live events are held until the history
 * is there. What is in both comes once: events of a channel arrive in the order of its history, so the first that is not in it
 * ends the overlap, and from that one on the subscription is like any other.
 */
export class Joining {
  readonly subscription: Subscription;
  readonly sharingKey: string | undefined;
  #held: ChannelEvent[] | undefined = [];
  #hasOverflowed = false;
  readonly #shown = new Continuity();

  constructor(subscription: Subscription, sharingKey: string | undefined) {
    this.subscription = subscription;
    this.sharingKey = sharingKey;
  }

  /** More came than can be held: what is held now is to be shown, and no history. */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  /** Whether a live event is one for the group, with this subscription in it from now on. */
  takes(event: ChannelEvent): boolean {
    if (!this.#held) return !this.#isShown(event);
    if (this.#held.length === MAX_HELD) {
      this.#hasOverflowed = true;
      this.#held.length = 0;
      this.subscription.note('"gap":true');
    }
    this.#held.push(event);
    return false;
  }

  /** Ends the holding. What there is to show by itself: of the history first, then what was held and is not in it. */
  release(history: readonly HistoryEntry[]): ChannelEvent[] {
    for (const { coordinates } of history) this.#shown.observe(coordinates);
    const held = this.#held ?? [];
    this.#held = undefined;
    return held.filter((event) => !this.#isShown(event));
  }

  #isShown({ coordinates }: ChannelEvent): boolean {
    return coordinates !== undefined && this.#shown.observe(coordinates) === 'stale';
  }
}
