/**
 * An open loop: `perSecond` events a second for `seconds`, each due at a moment that does not depend on how the system fares. What is late
 * stays due at its moment, so that a latency counted from there holds the wait, too (no coordinated omission).
 */
export class Schedule {
  readonly total: number;
  readonly #startsAt: number;
  readonly #intervalMs: number;
  #taken = 0;

  /** `startsAt`: ms, of any clock. */
  constructor(startsAt: number, perSecond: number, seconds: number) {
    this.total = Math.round(perSecond * seconds);
    this.#startsAt = startsAt;
    this.#intervalMs = 1000 / perSecond;
  }

  get taken(): number {
    return this.#taken;
  }

  get isDone(): boolean {
    return this.#taken >= this.total;
  }

  /** When the events are due that are so by `now` and were not taken yet, in order. */
  take(now: number): number[] {
    const due: number[] = [];
    while (this.#taken < this.total && this.#dueAt(this.#taken) <= now) due.push(this.#dueAt(this.#taken++));
    return due;
  }

  #dueAt(event: number): number {
    return this.#startsAt + event * this.#intervalMs;
  }
}
