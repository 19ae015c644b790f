import type { Listener, Unsubscribe } from './bus.ts';
import type { Coordinates } from './coordinates.ts';

/** The listeners of one channel. The same function may listen twice and then counts twice. */
export class Listeners {
  readonly #entries = new Set<{ readonly listener: Listener }>();
  readonly #onThrow: (error: unknown) => void;

  /** @param onThrow called with what a listener threw; must not throw itself */
  constructor(onThrow: (error: unknown) => void) {
    this.#onThrow = onThrow;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param onRemove called once, by the first call of the returned function */
  add(listener: Listener, onRemove: () => void): Unsubscribe {
    const entry = { listener };
    this.#entries.add(entry);
    return () => {
      if (this.#entries.delete(entry)) onRemove();
    };
  }

  /** Calls every listener, in the order in which they came. */
  deliver(payload: string, coordinates?: Coordinates): void {
    for (const { listener } of this.#entries) {
      try {
        listener(payload, coordinates);
      } catch (error) {
        this.#onThrow(error);
      }
    }
  }

  /** Forgets all; their unsubscribe functions do nothing from now on. */
  clear(): void {
    this.#entries.clear();
  }
}
