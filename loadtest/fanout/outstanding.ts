export interface Losses {
  readonly expected: number;
  readonly delivered: number;
  /** Sockets that got less, or more, than was published for them. */
  readonly unequalSockets: number;
}

/**
 * Who must get which event, and who has it: the accounts of a closed loop. Sockets get their events in order, so counting
 * says which one came.
 */
export class Outstanding {
  readonly #sockets: number;
  /** By event modulo the ring: sockets that have not got it, and when it was published. */
  readonly #waiting: Int32Array;
  readonly #publishedAt: Float64Array;
  readonly #expected: Int32Array;
  readonly #delivered: Int32Array;
  /** Of each socket: the event that it gets next; with events for all that is its count. */
  readonly #nextEvent: Int32Array;
  readonly #isForAll: boolean;
  #published = 0;
  #done = 0;
  readonly latenciesMs: number[] = [];

  /** `maxOutstanding`: events published and not done. `isForAll`: each event goes to all sockets, not to one. */
  constructor(sockets: number, maxOutstanding: number, isForAll: boolean) {
    if (!isForAll && maxOutstanding > sockets) throw new RangeError(`at most ${sockets} outstanding events`);
    this.#sockets = sockets;
    this.#waiting = new Int32Array(maxOutstanding);
    this.#publishedAt = new Float64Array(maxOutstanding);
    this.#expected = new Int32Array(sockets);
    this.#delivered = new Int32Array(sockets);
    this.#nextEvent = new Int32Array(sockets);
    this.#isForAll = isForAll;
  }

  get published(): number {
    return this.#published;
  }

  get outstanding(): number {
    return this.#published - this.#done;
  }

  /** `socket`: whom it is for; left out with events for all. */
  publish(now: number, socket?: number): void {
    const event = this.#published++;
    const slot = event % this.#waiting.length;
    this.#publishedAt[slot] = now;
    if (socket === undefined) {
      this.#waiting[slot] = this.#sockets;
      return;
    }
    this.#waiting[slot] = 1;
    this.#expected[socket]!++;
    this.#nextEvent[socket] = event;
  }

  /** A socket got a message. Returns whether that made an event done: all have it. */
  deliver(socket: number, clock: () => number): boolean {
    this.#delivered[socket]!++;
    const event = this.#isForAll ? this.#nextEvent[socket]!++ : this.#nextEvent[socket]!;
    const slot = event % this.#waiting.length;
    if (event >= this.#published || --this.#waiting[slot]! !== 0) return false;
    this.#done++;
    this.latenciesMs.push(clock() - this.#publishedAt[slot]!);
    return true;
  }

  losses(): Losses {
    let expected = 0;
    let delivered = 0;
    let unequalSockets = 0;
    for (let i = 0; i < this.#sockets; i++) {
      const due = this.#isForAll ? this.#published : this.#expected[i]!;
      expected += due;
      delivered += this.#delivered[i]!;
      if (due !== this.#delivered[i]) unequalSockets++;
    }
    return { expected, delivered, unequalSockets };
  }
}
