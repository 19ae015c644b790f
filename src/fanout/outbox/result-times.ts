/** When an event passed its stages. Of events from the history, and of events that no worker published, nothing is known. */
export interface EventTimes {
  /** Time of its Kafka record, in ms since 1970, by the clock of the producer or the broker. */
  readonly recordedAt: number;
  /** Time at which its message was received, of performance.now(). */
  readonly receivedAt: number;
}

/** When a result passed its stages, and how many of its messages the kernel has accepted. Times are of performance.now(). */
export class ResultTimes {
  /** undefined: its messages count as deliveries, and none of their times is observed. */
  readonly event: EventTimes | undefined;
  /** Start and end of the execution. */
  readonly startedAt: number;
  readonly settledAt: number;
  /** Messages that the kernel has accepted and that are not observed yet. */
  accepted = 0;

  constructor(event?: EventTimes, startedAt = 0, settledAt = 0) {
    this.event = event;
    this.startedAt = startedAt;
    this.settledAt = settledAt;
  }
}
