interface Period {
  readonly readyAt: number;
  /** Time from which every published event must arrive. */
  confirmedAt: number | undefined;
  endedAt: number;
}

/** The connections of one client. All times in ms of one clock. */
export class Presence {
  readonly #periods: Period[] = [];
  #connection = 0;

  /** Number of the current connection, or of the last one. */
  get connection(): number {
    return this.#connection;
  }

  get isReady(): boolean {
    return this.#periods.at(-1)?.endedAt === Infinity;
  }

  connecting(): void {
    this.#connection++;
  }

  /** The connection has received the pong after its subscribe messages. */
  ready(now: number): void {
    this.#periods.push({ readyAt: now, confirmedAt: undefined, endedAt: Infinity });
  }

  /** The subscriptions have received events, so they are live. */
  confirm(now: number): void {
    const period = this.#periods.at(-1);
    if (period) period.confirmedAt ??= now;
  }

  closed(now: number): void {
    const period = this.#periods.at(-1);
    if (period?.endedAt === Infinity) period.endedAt = now;
  }

  /**
   * Classifies an event published at `time`: due, between two connections, or before the first one. `graceMs` is the longest time of an
   * event in flight. A subscription counts as live that long after its pong, because the protocol does not acknowledge a subscribe. An
   * event published within it before a close is not due, because the close may have overtaken it.
   */
  at(time: number, graceMs: number): 'due' | 'away' | 'before' {
    const liveFrom = ({ confirmedAt, readyAt }: Period) => confirmedAt ?? readyAt + graceMs;
    const first = this.#periods[0];
    if (!first || time < liveFrom(first)) return 'before';
    const isDue = this.#periods.some((period) => liveFrom(period) <= time && time <= period.endedAt - graceMs);
    return isDue ? 'due' : 'away';
  }
}
