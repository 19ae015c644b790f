import type { HeldBytes } from '../resume/replay-bytes.ts';
import { heldLength } from '../resume/held-events.ts';
import { NewestEvents } from './newest-events.ts';

/**
 * Lets through at most one event for each key and interval: the first at once, then at the end of each interval the newest that has come. One
 * timer for all keys.
 */
export class Pacer<Event> {
  readonly #ms: number;
  readonly #bytes: Pick<HeldBytes, 'reserve' | 'release'>;
  readonly #onDue: (events: Event[]) => void;
  readonly #now: () => number;
  /** When the interval of a key ends, in this order. */
  readonly #ends = new Map<string, number>();
  readonly #waiting = new NewestEvents<Event>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param bytes counts the keys
   * @param onDue called with the events whose intervals have ended, in this order
   */
  constructor(
    ms: number,
    bytes: Pick<HeldBytes, 'reserve' | 'release'>,
    onDue: (events: Event[]) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#ms = ms;
    this.#bytes = bytes;
    this.#onDue = onDue;
    this.#now = now;
  }

  /** True if an event of the key must wait. */
  isBusy(key: string): boolean {
    return this.#ends.has(key);
  }

  /** The waiting event that arrived first. */
  get oldest(): Event | undefined {
    return this.#waiting.oldest;
  }

  /** The events that wait, in the order of their arrival. */
  get waiting(): Iterable<Event> {
    return this.#waiting.values();
  }

  /** An event of the key is delivered now. Without room for the key its next event does not wait either. */
  begin(key: string): void {
    if (!this.#bytes.reserve(heldLength(key.length))) return;
    this.#ends.set(key, this.#now() + this.#ms);
    this.#schedule();
  }

  /** Keeps an event of a busy key. Returns the one that it replaces. */
  hold(key: string, event: Event): Event | undefined {
    return this.#waiting.put(key, event);
  }

  /** The events that wait, in the order of their arrival: they do not wait any longer. */
  takeAll(): Event[] {
    return this.#waiting.takeAll();
  }

  /** Returns the events that wait. Idempotent. */
  close(): Event[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const key of this.#ends.keys()) this.#bytes.release(heldLength(key.length));
    this.#ends.clear();
    return this.takeAll();
  }

  #schedule(): void {
    const [end] = this.#ends.values();
    if (this.#timer || end === undefined) return;
    this.#timer = setTimeout(this.#onTimer, Math.max(1, Math.ceil(end - this.#now()))).unref();
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    const now = this.#now();
    const due: Event[] = [];
    for (const [key, end] of this.#ends) {
      if (end > now) break;
      this.#ends.delete(key);
      const event = this.#waiting.take(key);
      if (event === undefined) this.#bytes.release(heldLength(key.length));
      else {
        due.push(event);
        this.#ends.set(key, now + this.#ms);
      }
    }
    this.#schedule();
    if (due.length > 0) this.#onDue(due);
  };
}
