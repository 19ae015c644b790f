import type { EventRecord } from './event-record.ts';

/** The records of states that queries read. A query may read several states, so its context has no record. */
export class SourceRecords {
  /** By the objects in a state's payload. */
  static readonly #records = new WeakMap<object, EventRecord>();

  /** @param value of a payload, parsed for one execution; at most MAX_RECORD_DEPTH deep */
  static set(value: unknown, record: EventRecord): void {
    if (typeof value !== 'object' || value === null) return;
    SourceRecords.#records.set(value, record);
    for (const each of Object.values(value)) SourceRecords.set(each, record);
  }

  /** undefined: the source of a field is not in the payload of a state. */
  static of(source: unknown): EventRecord | undefined {
    return typeof source === 'object' && source !== null ? SourceRecords.#records.get(source) : undefined;
  }
}
