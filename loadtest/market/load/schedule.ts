/**
 * An open loop: `perSecond` events a second for `seconds`, scheduled independently of the system. A late event keeps its scheduled time,
 * so a latency counted from there includes the wait (no coordinated omission).
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

  /** Takes the scheduled times up to `now`, in order. Each is returned once. */
  take(now: number): number[] {
    const due: number[] = [];
    while (this.#taken < this.total && this.#dueAt(this.#taken) <= now) due.push(this.#dueAt(this.#taken++));
    return due;
  }

  #dueAt(event: number): number {
    return this.#startsAt + event * this.#intervalMs;
  }
}
