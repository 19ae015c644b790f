/** Events and bytes that are kept to recognise an event on other sockets. */
const MAX_EVENTS = 4096;
const MAX_BYTES = 64 * 1024 * 1024;

/** Newest events with which a new one is compared. */
const COMPARED_EVENTS = 64;

/** One event, recognised by the bytes of its message. */
export interface KnownEvent {
  /** Counts from 0, in the order of first deliveries. */
  readonly number: number;
  readonly bytes: Buffer;
  readonly sentAt: number | undefined;
  readonly hasErrors: boolean;
  readonly firstAt: number;
  lastAt: number;
  /** Sockets that have received it. */
  received: number;
}

/** The newest events. Older ones are settled, and forgotten. */
export class KnownEvents {
  readonly #settle: (event: KnownEvent) => void;
  readonly #events: KnownEvent[] = [];
  #bytes = 0;
  #next = 0;
  #hasAlike = false;
  #received = 0;

  constructor(settle: (event: KnownEvent) => void) {
    this.#settle = settle;
  }

  /** Number of the next event. */
  get next(): number {
    return this.#next;
  }

  /** Two events had equal bytes, so that their deliveries cannot be told apart. */
  get hasAlike(): boolean {
    return this.#hasAlike;
  }

  /** The event with these bytes, of those from this number. */
  find(bytes: Buffer, from: number): KnownEvent | undefined {
    const events = this.#events;
    for (let index = Math.max(0, from - (this.#next - events.length)); index < events.length; index++) {
      if (events[index]!.bytes.equals(bytes)) return events[index];
    }
    return undefined;
  }

  add(facts: Pick<KnownEvent, 'bytes' | 'firstAt' | 'sentAt' | 'hasErrors'>): KnownEvent {
    this.#hasAlike ||= this.#events.slice(-COMPARED_EVENTS).some(({ bytes }) => bytes.equals(facts.bytes));
    // A copy: the message may be part of a larger chunk.
    const event = {
      ...facts,
      bytes: Buffer.from(facts.bytes),
      number: this.#next++,
      lastAt: facts.firstAt,
      received: 0,
    };
    this.#events.push(event);
    this.#bytes += event.bytes.length;
    while (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#forgetOldest();
    return event;
  }

  settleAll(): void {
    while (this.#events.length > 0) this.#forgetOldest();
  }

  /** True if each event so far has come once: the server sends every socket bytes of its own. */
  get areOwn(): boolean {
    return this.#next > 1 && this.#received === this.#next;
  }

  delivered(event: KnownEvent, at: number): void {
    this.#received++;
    event.received++;
    event.lastAt = at;
  }

  #forgetOldest(): void {
    const event = this.#events.shift()!;
    this.#bytes -= event.bytes.length;
    this.#settle(event);
  }
}
