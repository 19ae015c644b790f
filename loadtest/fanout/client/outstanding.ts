export interface Losses {
  readonly expected: number;
  readonly delivered: number;
  /** Sockets that received fewer or more events than published for them. */
  readonly unequalSockets: number;
}

/**
 * Tracks the outstanding deliveries of a closed loop. Sockets receive their events in order, so counting identifies each event.
 */
export class Outstanding {
  readonly #sockets: number;
  /** By slot: outstanding deliveries, and the publish time of the slot's oldest event. */
  readonly #waiting: Int32Array;
  readonly #publishedAt: Float64Array;
  readonly #expected: Int32Array;
  readonly #delivered: Int32Array;
  readonly #isForAll: boolean;
  #published = 0;
  #done = 0;
  readonly latenciesMs: number[] = [];

  /** `maxOutstanding`: limit of events in flight. `isForAll`: each event goes to all sockets, not to one. */
  constructor(sockets: number, maxOutstanding: number, isForAll: boolean) {
    if (!isForAll && maxOutstanding > sockets) throw new RangeError(`at most ${sockets} outstanding events`);
    // Events for all sockets complete in order, so their slots form a ring. Events for one socket do not (a topic has several
    // partitions), so each socket has its own slot.
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

  /** `socket`: the receiver; undefined for events to all sockets. */
  publish(now: number, socket?: number): void {
    const event = this.#published++;
    const slot = socket ?? event % this.#waiting.length;
    if (this.#waiting[slot] === 0) this.#publishedAt[slot] = now;
    this.#waiting[slot]! += socket === undefined ? this.#sockets : 1;
    if (socket !== undefined) this.#expected[socket]!++;
  }

  /** Counts a message. Returns true if it completed an event. */
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
