import type { Subscription } from '../subscription.ts';
import { heldLength } from '../resume/held-events.ts';
import type { HeldBytes } from '../resume/replay-bytes.ts';
import type { Progress, Turn } from '../resume/replays.ts';
import { NewestEvents } from './newest-events.ts';
import type { PacedEvent } from './paced-event.ts';

/** Events of one turn. */
const MAX_EVENTS = 32;

interface Waiting {
  readonly event: PacedEvent;
  /** Events of the key that it replaces. */
  readonly skipped: number;
}

export interface BacklogOwner {
  readonly heldBytes: HeldBytes;
  /** An event is delivered instead of `events` (a count) older ones. */
  onSkipped(events: number): void;
  /** It has nothing more. */
  onOver(backlog: Backlog): void;
}

/**
 * The events of a group for a member that does not keep up: the newest of each key. A key keeps its place when its event is replaced. An event
 * of an unknown key may be newer than any that waits: none of these is replaced any more.
 */
export class Backlog implements Turn {
  readonly member: Subscription;
  readonly #owner: BacklogOwner;
  /** By their places. */
  readonly #waiting = new NewestEvents<Waiting>();
  /** In the order in which they are served. A place is named by its first event. */
  readonly #places = new Set<PacedEvent>();
  /** The place whose event a newer one of the key replaces. */
  readonly #placeOf = new Map<string, PacedEvent>();
  /** Its last event completes the member. */
  #isComplete = false;
  #isOver = false;

  constructor(member: Subscription, owner: BacklogOwner) {
    this.member = member;
    this.#owner = owner;
  }

  /** Without room for the event its member gives up. */
  add(event: PacedEvent): void {
    if (this.#isComplete) return;
    this.#isComplete = event.isCompletion;
    const place = this.#takePlace(event);
    const replaced = this.#waiting.take(place);
    if (replaced) this.#release(replaced.event);
    if (!this.#retain(event)) {
      this.member.giveUp();
      return this.close();
    }
    this.#places.add(place);
    const skipped = replaced ? replaced.skipped + 1 + event.skipped : event.skipped;
    this.#waiting.put(place, { event, skipped });
  }

  /** A turn of the member (`Replays`). */
  serve(isSpent: () => boolean): Progress {
    const isBehind = !this.member.isEnded && this.member.isBehind;
    // A client that has read nothing for long is closed.
    if (this.#isOver) return 'over';
    if (isBehind) return 'behind';
    for (let events = 0; events < MAX_EVENTS && this.#serveNext() > 0; events++) {
      if (this.#isOver) return 'over';
      if (isSpent() || this.member.isBehind) return 'served';
    }
    return this.#isOver ? 'over' : 'served';
  }

  /** Delivers everything now, or events of `maxBytes`. */
  finish(maxBytes = Infinity): void {
    let bytes = 0;
    let served: number;
    do bytes += served = this.#serveNext();
    while (served > 0 && bytes < maxBytes);
  }

  /** Drops everything. Idempotent. */
  close(): void {
    for (const { event } of this.#waiting.takeAll()) this.#release(event);
    this.#places.clear();
    this.#placeOf.clear();
    this.#end();
  }

  /** Returns the bytes of the event; 0: it is over. */
  #serveNext(): number {
    if (this.member.isEnded || this.#places.size === 0) this.close();
    if (this.#isOver) return 0;
    const [place] = this.#places;
    this.#places.delete(place!);
    const { event, skipped } = this.#waiting.take(place)!;
    if (event.key !== undefined && this.#placeOf.get(event.key) === place) this.#placeOf.delete(event.key);
    this.#note(event, skipped);
    event.serveNow(this.member);
    this.#release(event);
    if (this.#places.size === 0) this.#end();
    return heldLength(event.channelEvent.length);
  }

  /** The cursor of an event is not one of the client while an earlier event waits. */
  #note(event: PacedEvent, skipped: number): void {
    const { oldest } = this.#waiting;
    const cursor = oldest && oldest.event.order < event.order ? oldest.event.cursorBefore : undefined;
    if (cursor !== undefined) this.member.note(`"cursor":"${cursor}"`);
    if (skipped === event.skipped) return;
    this.member.note(`"skipped":${skipped}`);
    this.#owner.onSkipped(skipped - event.skipped);
  }

  #takePlace(event: PacedEvent): PacedEvent {
    const { key } = event;
    if (key === undefined) this.#placeOf.clear();
    // A completion ends the member, so it comes after all that waits.
    if (key === undefined || event.isCompletion) return event;
    const place = this.#placeOf.get(key) ?? event;
    this.#placeOf.set(key, place);
    return place;
  }

  #retain(event: PacedEvent): boolean {
    const { heldBytes } = this.#owner;
    if (!heldBytes.reserve(heldLength(0))) return false;
    if (event.retain()) return true;
    heldBytes.release(heldLength(0));
    return false;
  }

  #release(event: PacedEvent): void {
    event.release();
    this.#owner.heldBytes.release(heldLength(0));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.onOver(this);
  }
}
