import { sumOfLanes } from '../flood/lanes.ts';

/**
 * Counts the copies of a flood that each socket received (`Lanes` numbers them). It keeps a count and a sum of numbers per socket, so
 * that a duplicate cannot hide a loss, and the last number per lane to check the order.
 */
export class Ledger {
  readonly #lanes: number;
  readonly #counts: Int32Array;
  readonly #sums: Float64Array;
  /** Last number, by socket and lane. */
  readonly #last: Int32Array;
  #delivered = 0;
  #outOfOrder = 0;

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
    if (copy <= this.#last[lane]!) this.#outOfOrder++;
    else this.#last[lane] = copy;
  }

  /** Copies that each of these sockets has received; undefined without sockets. */
  least(sockets: Iterable<number>): number | undefined {
    let least: number | undefined;
    for (const socket of sockets) {
      const count = this.#counts[socket]!;
      if (least === undefined || count < least) least = count;
    }
    return least;
  }

  /**
   * Compares the received copies with the number written per lane. `unequalSockets` did not get each copy exactly once, as `example`;
   * `outOfOrder`: messages whose number is not above the last one of their lane.
   */
  reconcile(lanes: readonly number[]) {
    const due = lanes.reduce((sum, count) => sum + count, 0);
    const sum = sumOfLanes(lanes);
    let unequalSockets = 0;
    let example: { readonly socket: number; readonly delivered: number } | undefined;
    for (const [socket, delivered] of this.#counts.entries()) {
      if (delivered === due && this.#sums[socket] === sum) continue;
      unequalSockets++;
      example ??= { socket, delivered };
    }
    const [expected, delivered, outOfOrder] = [due * this.#counts.length, this.#delivered, this.#outOfOrder];
    return { expected, delivered, unequalSockets, example, outOfOrder };
  }
}
