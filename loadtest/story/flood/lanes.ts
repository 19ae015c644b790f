/**
 * Numbers the copies of a flood. Writer w of n has the lane w, w + n, w + 2n ..., and writes its numbers in this order to one
 * partition.
 */
export class Lanes {
  /** Number of copies taken, by lane. */
  readonly counts: number[];

  constructor(lanes: number) {
    this.counts = Array.from({ length: lanes }, () => 0);
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** The next number of a lane. */
  take(lane: number): number {
    return this.counts[lane]!++ * this.counts.length + lane;
  }
}

/** Sum of the first `counts[lane]` numbers of each lane. */
export function sumOfLanes(counts: readonly number[]): number {
  return counts.reduce((sum, count, lane) => sum + count * lane + (counts.length * count * (count - 1)) / 2, 0);
}
