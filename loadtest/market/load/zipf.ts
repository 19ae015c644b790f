import type { Dice } from '../../../examples/auction/dice.ts';

const RESOLUTION = 2 ** 32;

/**
 * Draws ranks from 0 to `size` - 1, with rank r in proportion to 1 / (r + 1)^exponent. Equal random sources give equal ranks.
 */
export class Zipf {
  /** By rank: the probability of that rank or a more popular one. */
  readonly #cumulative: Float64Array;

  constructor(size: number, exponent: number) {
    if (size < 1) throw new RangeError(`Zipf: expected at least one rank, got ${size}`);
    this.#cumulative = new Float64Array(size);
    let sum = 0;
    for (let rank = 0; rank < size; rank++) this.#cumulative[rank] = sum += (rank + 1) ** -exponent;
    for (let rank = 0; rank < size; rank++) this.#cumulative[rank]! /= sum;
  }

  /** Probability of a rank, from 0 to 1. */
  share(rank: number): number {
    return this.#cumulative[rank]! - (rank === 0 ? 0 : this.#cumulative[rank - 1]!);
  }

  draw(dice: Dice): number {
    const point = dice.between(0, RESOLUTION - 1) / RESOLUTION;
    let low = 0;
    let high = this.#cumulative.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#cumulative[middle]! <= point) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
