/** What a gateway has taken of one partition and not done with. */
export class Intake {
  readonly topic: string;
  readonly partition: number;
  /** Bytes that have arrived and are not served yet. */
  waiting = 0;
  /** Events, and their bytes, that are executed for most or part of those who watch them: an event counts by that part. */
  executingEvents = 0;
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
    // A rounding, or a throw in the middle, must not stay.
    this.waiting = Math.max(0, this.waiting - bytes);
  }
}

/** One event that is executed for many; nobody who waits alone counts for much, so that no client slows a partition. */
export class Executing {
  readonly #intake: Intake;
  readonly #bytes: number;
  readonly #members: number;

  /** @param members who get the event on this gateway */
  constructor(intake: Intake, bytes: number, members: number) {
    this.#intake = intake;
    this.#bytes = bytes;
    this.#members = members;
  }

  /** So many members wait for an execution; a negative number: they wait no longer. */
  add(members: number): void {
    const part = members / this.#members;
    this.#intake.executingEvents += part;
    this.#intake.executingBytes += part * this.#bytes;
  }
}
