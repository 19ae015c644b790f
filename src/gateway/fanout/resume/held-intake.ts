import type { IntakeBytes } from '../scheduling/event-batch.ts';

/** Time in ms for which an event waits for joining subscriptions, at most twice: a fifth of FLOW_PATIENCE_MS. */
const MAX_WAIT_MS = 1_000;

/**
 * Keeps the held events of one channel in the intakes of their partitions, until each subscription that joins has had them. So flow control
 * slows the workers while clients join, instead of events overflowing. A subscription that lags, or that is too late, is not waited for.
 * Events have the numbers of `HeldEvents`.
 */
export class HeldIntake {
  /** Number of the next event for each subscription that is waited for. */
  readonly #positions = new Map<object, number>();
  /** Subscriptions by their next event. */
  readonly #waiting = new Map<number, number>();
  /** Events that count, in their order. */
  readonly #events: IntakeBytes[] = [];
  /** Number of the first of them. */
  #first = 0;
  /** Number of the first event that arrived in the present interval. */
  #recent = 0;
  #timer: NodeJS.Timeout | undefined;

  /** True if an event that arrives now is to be added. */
  get isAwaited(): boolean {
    return this.#positions.size > 0;
  }

  /** Waits for a subscription from its next event on, which is the next event of the channel. */
  open(subscription: object, next: number): void {
    if (!this.isAwaited) this.#first = next;
    this.#set(subscription, next);
  }

  /** Counts an event, which has arrived in its intake already. */
  add(event: IntakeBytes): void {
    this.#events.push(event);
    if (this.#timer) return;
    this.#recent = this.#first;
    this.#timer = setInterval(this.#onInterval, MAX_WAIT_MS).unref();
  }

  /** The subscription has had all events before this one. */
  advance(subscription: object, next: number): void {
    const position = this.#positions.get(subscription);
    if (position === undefined || next <= position) return;
    this.#unset(subscription, position);
    this.#set(subscription, next);
    this.#serve();
  }

  /** No longer waits for a subscription. Idempotent. */
  close(subscription: object): void {
    const position = this.#positions.get(subscription);
    if (position === undefined) return;
    this.#unset(subscription, position);
    this.#serve();
  }

  #set(subscription: object, next: number): void {
    this.#positions.set(subscription, next);
    this.#waiting.set(next, (this.#waiting.get(next) ?? 0) + 1);
  }

  #unset(subscription: object, position: number): void {
    this.#positions.delete(subscription);
    const others = this.#waiting.get(position)! - 1;
    if (others > 0) this.#waiting.set(position, others);
    else this.#waiting.delete(position);
  }

  /** Serves the events that no subscription needs. */
  #serve(): void {
    let served = 0;
    while (served < this.#events.length && !this.#waiting.has(this.#first + served)) served++;
    for (const { intake, length } of this.#events.splice(0, served)) intake?.serve(length);
    this.#first += served;
    if (this.#events.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Gives up the subscriptions that need events of the interval before the last one. */
  readonly #onInterval = (): void => {
    for (const [subscription, next] of this.#positions) if (next < this.#recent) this.#unset(subscription, next);
    this.#recent = this.#first + this.#events.length;
    this.#serve();
  };
}
