export interface Imbalance {
  /** Messages that were due: each copy once at each socket. */
  readonly expected: number;
  readonly delivered: number;
  /** Sockets that did not get each copy exactly once. */
  readonly unequalSockets: number;
  /** One of them, for a message: its index, and how many copies it got. */
  readonly example: { readonly socket: number; readonly delivered: number } | undefined;
}

/**
 * Which socket got how many copies of the flood, which are numbered from 0. Per socket a count and a sum of the numbers, so that a copy
 * that came twice does not make up for another that did not come.
 */
export class Ledger {
  readonly #counts: Int32Array;
  readonly #sums: Float64Array;
  #delivered = 0;

  constructor(sockets: number) {
    this.#counts = new Int32Array(sockets);
    this.#sums = new Float64Array(sockets);
  }

  get delivered(): number {
    return this.#delivered;
  }

  deliver(socket: number, copy: number): void {
    this.#counts[socket]!++;
    this.#sums[socket]! += copy;
    this.#delivered++;
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

  /** Held against a flood of `produced` copies. */
  imbalance(produced: number): Imbalance {
    const sum = (produced * (produced - 1)) / 2;
    let unequalSockets = 0;
    let example: Imbalance['example'];
    for (const [socket, delivered] of this.#counts.entries()) {
      if (delivered === produced && this.#sums[socket] === sum) continue;
      unequalSockets++;
      example ??= { socket, delivered };
    }
    return { expected: produced * this.#counts.length, delivered: this.#delivered, unequalSockets, example };
  }
}
