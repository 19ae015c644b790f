/** Events that wait: the newest of each key. */
export class NewestEvents<Event> {
  /** In the order of arrival. */
  readonly #events = new Map<unknown, Event>();

  get size(): number {
    return this.#events.size;
  }

  /** In the order of arrival. */
  values(): Iterable<Event> {
    return this.#events.values();
  }

  /** The one that arrived first. */
  get oldest(): Event | undefined {
    return this.#events.values().next().value;
  }

  /** Returns the event that this one replaces. */
  put(key: unknown, event: Event): Event | undefined {
    const replaced = this.take(key);
    this.#events.set(key, event);
    return replaced;
  }

  take(key: unknown): Event | undefined {
    const event = this.#events.get(key);
    this.#events.delete(key);
    return event;
  }

  /** All of them, in the order of arrival. */
  takeAll(): Event[] {
    const events = [...this.#events.values()];
    this.#events.clear();
    return events;
  }
}
