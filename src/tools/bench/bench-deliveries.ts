import { valueAt } from '../../base/json/value-at.ts';
import { Durations } from './durations.ts';
import { KnownEvents } from './known-events.ts';
import type { KnownEvent } from './known-events.ts';
import type { Subscriber, SubscriberListener } from './subscriber.ts';

interface Payload {
  readonly data?: unknown;
  readonly errors?: unknown;
}

/** Counts what arrives at the sockets. */
export class Deliveries implements SubscriberListener {
  /** Sockets that are subscribed. */
  live = 0;
  /** Deliveries, and those of results with errors, in the time that is measured. */
  count = 0;
  withErrors = 0;
  /** Deliveries that did not come, of events that other sockets received. */
  missing = 0;
  /** Deliveries since the trigger. */
  sinceTrigger = 0;
  readonly spread = new Durations();
  readonly latency = new Durations();
  /** Reasons for which the server ended subscriptions, with their number. */
  readonly endings = new Map<string, number>();
  readonly known = new KnownEvents((event) => this.#settle(event));
  readonly #sentAtPath: readonly string[] | undefined;
  #measured: { readonly from: number; to: number } = { from: Infinity, to: Infinity };
  #isCounting = false;
  #triggeredAt: number | undefined;

  /** @param sentAtPath the field of the data with the time at which an event was sent */
  constructor(sentAtPath: readonly string[] | undefined) {
    this.#sentAtPath = sentAtPath;
  }

  /** Events in the time that is measured. */
  get events(): number {
    const { from, to } = this.#measured;
    return Math.max(0, Math.min(to, this.known.next) - from);
  }

  start(): void {
    this.#isCounting = true;
    this.#measured = { from: this.known.next, to: Infinity };
  }

  stop(): void {
    this.#isCounting = false;
    this.#measured.to = this.known.next;
  }

  /** Deliveries from now on are those of one event that is caused now. */
  trigger(): void {
    this.sinceTrigger = 0;
    this.#triggeredAt = performance.now();
  }

  repeated(subscriber: Subscriber, bytes: Buffer): boolean {
    const event = this.known.find(bytes, subscriber.position);
    if (event) this.#deliver(subscriber, event);
    return event !== undefined;
  }

  event(subscriber: Subscriber, bytes: Buffer, payload: unknown): void {
    const { data, errors } = (payload ?? {}) as Payload;
    const sentAt = this.#sentAtPath ? timeOf(valueAt(data, this.#sentAtPath)) : undefined;
    const hasErrors = errors !== undefined;
    this.#deliver(subscriber, this.known.add({ bytes, firstAt: performance.now(), sentAt, hasErrors }));
  }

  ended(_subscriber: Subscriber, reason: string): void {
    this.live--;
    this.endings.set(reason, (this.endings.get(reason) ?? 0) + 1);
  }

  #deliver(subscriber: Subscriber, event: KnownEvent): void {
    const now = performance.now();
    subscriber.position = event.number + 1;
    subscriber.received++;
    this.known.delivered(event, now);
    this.sinceTrigger++;
    if (!this.#isCounting) return;
    this.count++;
    if (event.hasErrors) this.withErrors++;
    const sentAt = event.sentAt ?? this.#triggeredAt;
    if (sentAt !== undefined) this.latency.record(now - sentAt);
  }

  #settle(event: KnownEvent): void {
    const { from, to } = this.#measured;
    if (event.number < from || event.number >= to) return;
    this.missing += Math.max(0, this.live - event.received);
    if (event.received >= this.live) this.spread.record(event.lastAt - event.firstAt);
  }
}

/** A time as `performance.now()` counts, from ms since 1970 or a date. */
function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : time - performance.timeOrigin;
}
