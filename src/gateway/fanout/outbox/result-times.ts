import type { Timing } from '../../../graph/execution/timing.ts';

/** When an event passed its stages. Of events from the history, and of events that no worker published, nothing is known. */
export interface EventTimes {
  /** Time of its Kafka record, in ms since 1970, by the clock of the producer or the broker. */
  readonly recordedAt: number;
  /** Time at which its message was received, of performance.now(). */
  readonly receivedAt: number;
  /** Of an event with spans. */
  readonly traceId?: string;
}

/** When the results of an event that one timing executed passed their stages, and how many of their messages the kernel has accepted. */
export class ResultTimes {
  /** undefined: the messages count as deliveries, and none of their times is observed. */
  readonly event: EventTimes | undefined;
  readonly timing: Timing | undefined;
  /** Messages that the kernel has accepted and that are not observed yet. */
  accepted = 0;

  constructor(event?: EventTimes, timing?: Timing) {
    this.event = event;
    this.timing = timing;
  }
}
