import { sumOfLanes } from '../flood/lanes.ts';

export interface Imbalance {
  /** Messages that were due: each copy once at each socket. */
  readonly expected: number;
  readonly delivered: number;
  /** Sockets that did not get each copy exactly once. */
  readonly unequalSockets: number;
  /** One of them, for a message: its index, and how many copies it got. */
  readonly example: { readonly socket: number; readonly delivered: number } | undefined;
  /** Messages that came after one of a higher number of their lane, or the same again. */
  readonly disordered: number;
}

/**
 * Which socket got how many copies of the flood (see `Lanes` for their numbers). Per socket a count and a sum of the numbers, so that a
 * copy that came twice does not make up for another that did not come; and the last number of each lane, for their order.
 */
export class Ledger {
  readonly #lanes: number;
  readonly #counts: Int32Array;
  readonly #sums: Float64Array;
  /** By socket and lane. */
  readonly #last: Int32Array;
  #delivered = 0;
  #disordered = 0;

  constructor(sockets: number, lanes: number) {
    this.#lanes = lanes;
    this.#counts = new Int32Array(sockets);
    this.#sums = new Float64Array(sockets);
    this.#last = new Int32Array(sockets * lanes).fill(-1);
  }

  get delivered(): number {
    return this.#delivered;
  }

  deliver(socket: number, copy: number): void {
    this.#counts[socket]!++;
    this.#sums[socket]! += copy;
    this.#delivered++;
    const lane = socket * this.#lanes + (copy % this.#lanes);
    if (copy <= this.#last[lane]!) this.#disordered++;
    else this.#last[lane] = copy;
  }

  /** Copies that every one of these sockets has; undefined where there is none of them. */
  least(sockets: Iterable<number>): number | undefined {
    let least: number | undefined;
    for (const socket of sockets) {
      const count = this.#counts[socket]!;
      if (least === undefined || count < least) least = count;
    }
    return least;
  }

  /** Compares what arrived with a flood of so many copies in each lane. */
  imbalance(lanes: readonly number[]): Imbalance {
    const due = lanes.reduce((sum, count) => sum + count, 0);
    const sum = sumOfLanes(lanes);
    let unequalSockets = 0;
    let example: Imbalance['example'];
    for (const [socket, delivered] of this.#counts.entries()) {
      if (delivered === due && this.#sums[socket] === sum) continue;
      unequalSockets++;
      example ??= { socket, delivered };
    }
    return {
      expected: due * this.#counts.length,
      delivered: this.#delivered,
      unequalSockets,
      example,
      disordered: this.#disordered,
    };
  }
}
