/** The events of one partition that a gateway has received and not finished. */
export class Intake {
  readonly topic: string;
  readonly partition: number;
  /** Bytes that have arrived and are not served yet. */
  waiting = 0;
  /** Bytes of events whose executions are in flight; an event counts by the fraction of its members that wait for their execution. */
  executingBytes = 0;
  /** Messages that have arrived. */
  arrivals = 0;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  arrive(bytes: number): void {
    this.arrivals++;
    this.waiting += bytes;
  }

  serve(bytes: number): void {
    // Rounding may serve slightly more than an event's bytes, and after a throw some bytes are served twice.
    this.waiting = Math.max(0, this.waiting - bytes);
  }
}
