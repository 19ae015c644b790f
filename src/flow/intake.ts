/** What a gateway has taken of one partition and not done with. */
export class Intake {
  readonly topic: string;
  readonly partition: number;
  /** Bytes that have arrived and are not served yet. */
  waiting = 0;
  /** Bytes of events that are executed; an event counts by the part of those who watch it that waits. */
  executing = 0;
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
    // A rounding, or a throw in the middle, must not stay.
    this.waiting = Math.max(0, this.waiting - bytes);
  }
}
