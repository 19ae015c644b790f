import type { HeldBytes } from './replay-bytes.ts';
import type { ChannelEvent } from '../channel-event.ts';

/** Bytes of an event beside its payload. */
const EVENT_OVERHEAD = 256;

/** Bytes that an event of this payload counts for while it is held. */
export function heldLength(payloadBytes: number): number {
  return payloadBytes + EVENT_OVERHEAD;
}

/**
 * The latest live events of one channel, one copy for all subscriptions that are not live yet. Events are numbered in sequence, so a
 * subscription needs to remember one number.
 */
export class HeldEvents {
  #events: ChannelEvent[] = [];
  #first = 0;
  #bytes = 0;
  readonly #heldBytes: HeldBytes;

  constructor(heldBytes: HeldBytes) {
    this.#heldBytes = heldBytes;
  }

  /** Bytes that all events count for in `HeldBytes`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sequence number of the oldest held event. */
  get first(): number {
    return this.#first;
  }

  /** Sequence number of the next event. */
  get end(): number {
    return this.#first + this.#events.length;
  }

  at(sequence: number): ChannelEvent | undefined {
    return this.#events[sequence - this.#first];
  }

  /** Returns false if the pod has no room; the event is not held then. */
  add(event: ChannelEvent): boolean {
    const bytes = heldLength(event.length);
    if (!this.#heldBytes.reserve(bytes)) return false;
    this.#bytes += bytes;
    this.#events.push(event);
    return true;
  }

  /** Drops the events before a sequence number, which may be beyond the end. */
  dropBefore(sequence: number): void {
    if (sequence <= this.#first) return;
    let bytes = 0;
    for (const { length } of this.#events.splice(0, sequence - this.#first)) bytes += heldLength(length);
    this.#first = sequence;
    this.#bytes -= bytes;
    this.#heldBytes.release(bytes);
  }
}
