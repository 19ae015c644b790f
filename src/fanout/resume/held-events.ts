import type { HeldBytes } from './held-bytes.ts';
import type { ChannelEvent } from '../live-channel.ts';

/** Of an event beside its payload, in bytes. */
const EVENT_OVERHEAD = 256;

/** Bytes that an event of this payload counts for while it is held. */
export function heldLength(payloadBytes: number): number {
  return payloadBytes + EVENT_OVERHEAD;
}

/**
 * The latest live events of one channel, one copy for all subscriptions that are not live yet. Each event has a position; positions
 * only grow, so a subscription needs to remember one number.
 */
export class HeldEvents {
  #events: ChannelEvent[] = [];
  #first = 0;
  #bytes = 0;
  readonly #heldBytes: HeldBytes;

  constructor(heldBytes: HeldBytes) {
    this.#heldBytes = heldBytes;
  }

  /** Of all events, as they count in `HeldBytes`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Position of the oldest event that is held. */
  get first(): number {
    return this.#first;
  }

  /** Position of the next event. */
  get end(): number {
    return this.#first + this.#events.length;
  }

  at(position: number): ChannelEvent | undefined {
    return this.#events[position - this.#first];
  }

  /** Returns false where the pod has no room; the event is not held then. */
  add(event: ChannelEvent): boolean {
    const bytes = heldLength(event.length);
    if (!this.#heldBytes.take(bytes)) return false;
    this.#bytes += bytes;
    this.#events.push(event);
    return true;
  }

  /** Drops the events before a position, which may be behind the end. */
  dropBefore(position: number): void {
    if (position <= this.#first) return;
    let bytes = 0;
    for (const { length } of this.#events.splice(0, position - this.#first)) bytes += heldLength(length);
    this.#first = position;
    this.#bytes -= bytes;
    this.#heldBytes.give(bytes);
  }
}
