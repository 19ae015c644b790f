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
  /** By slot: deliveries that are due, and when the oldest event of the slot was published. */
  readonly #waiting: Int32Array;
  readonly #publishedAt: Float64Array;
  readonly #expected: Int32Array;
  readonly #delivered: Int32Array;
  readonly #isForAll: boolean;
  #published = 0;
  #done = 0;
  readonly latenciesMs: number[] = [];

  /** `maxOutstanding`: events published and not done. `isForAll`: each event goes to all sockets, not to one. */
  constructor(sockets: number, maxOutstanding: number, isForAll: boolean) {
    if (!isForAll && maxOutstanding > sockets) throw new RangeError(`at most ${sockets} outstanding events`);
    // Events for all are done in their order, and so use a ring in turn; those for one are not (a topic has several
    // partitions), and each socket has a slot of its own.
    const slots = isForAll ? maxOutstanding : sockets;
    this.#sockets = sockets;
    this.#waiting = new Int32Array(slots);
    this.#publishedAt = new Float64Array(slots);
    this.#expected = new Int32Array(sockets);
    this.#delivered = new Int32Array(sockets);
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
    const slot = socket ?? event % this.#waiting.length;
    if (this.#waiting[slot] === 0) this.#publishedAt[slot] = now;
    this.#waiting[slot]! += socket === undefined ? this.#sockets : 1;
    if (socket !== undefined) this.#expected[socket]!++;
  }

  /** A socket got a message. Returns whether that made an event done: all have it. */
  deliver(socket: number, clock: () => number): boolean {
    const event = this.#delivered[socket]!++;
    if (this.#isForAll && event >= this.#published) return false;
    const slot = this.#isForAll ? event % this.#waiting.length : socket;
    if (this.#waiting[slot] === 0) return false;
    if (--this.#waiting[slot]! > 0 && this.#isForAll) return false;
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
