import type { Listener, Unsubscribe } from './feed.ts';
import type { Coordinates } from './coordinates.ts';

interface Entry {
  readonly listener: Listener;
  readonly onGap: (() => void) | undefined;
}

/** The listeners of one channel. A function that is added twice is called twice. */
export class Listeners {
  readonly #entries = new Set<Entry>();
  readonly #onThrow: (error: unknown) => void;

  /** @param onThrow called with the value that a listener threw; must not throw */
  constructor(onThrow: (error: unknown) => void) {
    this.#onThrow = onThrow;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param onRemove called once, by the first call of the returned function */
  add({ listener, onGap }: Entry, onRemove: () => void): Unsubscribe {
    const entry = { listener, onGap };
    this.#entries.add(entry);
    return () => {
      if (this.#entries.delete(entry)) onRemove();
    };
  }

  /** Calls every listener, in the order of subscription. */
  deliver(payload: Buffer, coordinates?: Coordinates): void {
    for (const { listener } of this.#entries) {
      try {
        listener(payload, coordinates);
      } catch (error) {
        this.#onThrow(error);
      }
    }
  }

  /** Reports to every listener that messages may have been missed. */
  reportGap(): void {
    for (const { onGap } of this.#entries) onGap?.();
  }

  /** Removes all listeners. Their unsubscribe functions do nothing afterwards. */
  clear(): void {
    this.#entries.clear();
  }
}
