import type { Subscription } from '../subscription.ts';
import { heldLength } from '../resume/held-events.ts';
import type { HeldBytes } from '../resume/replay-bytes.ts';
import type { Progress } from '../resume/replays.ts';
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
  onOver(member: Subscription): void;
}

/** The events of a group for a member that does not keep up: the newest of each key. A key keeps its place when its event is replaced. */
export class Backlog {
  readonly #member: Subscription;
  readonly #owner: BacklogOwner;
  readonly #waiting = new NewestEvents<Waiting>();
  /** Keys, in the order in which they are served. */
  readonly #keys = new Set<unknown>();
  #isOver = false;

  constructor(member: Subscription, owner: BacklogOwner) {
    this.#member = member;
    this.#owner = owner;
  }

  add(event: PacedEvent): void {
    const key = event.key ?? event;
    const { heldBytes } = this.#owner;
    if (!this.#keys.has(key) && !heldBytes.hasRoom(heldLength(0))) return this.#member.giveUp();
    event.retain();
    const replaced = this.#waiting.take(key);
    if (replaced) {
      replaced.event.release();
    } else {
      heldBytes.add(heldLength(0));
      this.#keys.add(key);
    }
    const skipped = replaced ? replaced.skipped + 1 + event.skipped : event.skipped;
    this.#waiting.put(key, { event, skipped });
  }

  /** A turn of the member (`Replays`). */
  readonly turn = (isSpent: () => boolean): Progress => {
    if (this.#isOver) return 'over';
    if (!this.#member.isEnded && this.#member.isBehind) return 'waiting';
    for (let events = 0; events < MAX_EVENTS && this.#serveNext(); events++) {
      if (this.#isOver) return 'over';
      if (isSpent() || this.#member.isBehind) return 'served';
    }
    return this.#isOver ? 'over' : 'served';
  };

  /** Delivers everything now. */
  finish(): void {
    while (this.#serveNext());
  }

  /** Drops everything. Idempotent. */
  close(): void {
    for (const { event } of this.#waiting.takeAll()) this.#release(event);
    this.#keys.clear();
    this.#end();
  }

  /** Returns false if it is over. */
  #serveNext(): boolean {
    if (this.#member.isEnded || this.#keys.size === 0) this.close();
    if (this.#isOver) return false;
    const [key] = this.#keys;
    this.#keys.delete(key);
    const { event, skipped } = this.#waiting.take(key)!;
    this.#note(event, skipped);
    event.serveNow(this.#member);
    this.#release(event);
    if (this.#keys.size === 0) this.#end();
    return true;
  }

  /** The cursor of an event is not one of the client while an earlier event waits. */
  #note(event: PacedEvent, skipped: number): void {
    const { oldest } = this.#waiting;
    const cursor = oldest && oldest.event.order < event.order ? oldest.event.cursorBefore : undefined;
    if (cursor !== undefined) this.#member.note(`"cursor":"${cursor}"`);
    if (skipped === event.skipped) return;
    this.#member.note(`"skipped":${skipped}`);
    this.#owner.onSkipped(skipped - event.skipped);
  }

  #release(event: PacedEvent): void {
    event.release();
    this.#owner.heldBytes.release(heldLength(0));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.onOver(this.#member);
  }
}
