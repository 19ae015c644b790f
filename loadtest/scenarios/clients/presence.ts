interface Period {
  readonly readyAt: number;
  /** From when on it is known that everything published must come. */
  confirmedAt: number | undefined;
  endedAt: number;
}

/** When one client was connected. All times in ms of one clock. */
export class Presence {
  readonly #periods: Period[] = [];
  #connection = 0;

  /** Number of the present connection, or of the last one. */
  get connection(): number {
    return this.#connection;
  }

  get isReady(): boolean {
    return this.#periods.at(-1)?.endedAt === Infinity;
  }

  connecting(): void {
    this.#connection++;
  }

  /** The connection has subscribed and got an answer to a ping after that. */
  ready(now: number): void {
    this.#periods.push({ readyAt: now, confirmedAt: undefined, endedAt: Infinity });
  }

  /** Events have shown that the subscriptions are live by now. */
  confirm(now: number): void {
    const period = this.#periods.at(-1);
    if (period) period.confirmedAt ??= now;
  }

  closed(now: number): void {
    const period = this.#periods.at(-1);
    if (period?.endedAt === Infinity) period.endedAt = now;
  }

  /**
   * What an event published at `time` is to this client: due; or, between connections, not; or before it was there at all. `graceMs`: how
   * long an event may be on its way. The protocol answers no subscribe: it counts as live only so long after the pong that
   * follows it. And of what was published so shortly before a close, nobody can say whether the close overtook it.
   */
  at(time: number, graceMs: number): 'due' | 'away' | 'before' {
    const liveFrom = ({ confirmedAt, readyAt }: Period) => confirmedAt ?? readyAt + graceMs;
    const first = this.#periods[0];
    if (!first || time < liveFrom(first)) return 'before';
    const isDue = this.#periods.some((period) => liveFrom(period) <= time && time <= period.endedAt - graceMs);
    return isDue ? 'due' : 'away';
  }
}
