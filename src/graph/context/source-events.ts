import type { SourceEvent } from './event-record.ts';

/** The events of states that queries read. A query may read several states, so its context has no event. */
export class SourceEvents {
  /** By the objects in a state's payload. */
  static readonly #events = new WeakMap<object, SourceEvent>();

  /** @param value of a payload, parsed for one execution; at most MAX_RECORD_DEPTH deep */
  static set(value: unknown, event: SourceEvent): void {
    if (typeof value !== 'object' || value === null) return;
    SourceEvents.#events.set(value, event);
    for (const each of Object.values(value)) SourceEvents.set(each, event);
  }

  /** undefined: the source of a field is not in the payload of a state. */
  static of(source: unknown): SourceEvent | undefined {
    return typeof source === 'object' && source !== null ? SourceEvents.#events.get(source) : undefined;
  }
}
