/**
 * How many copies each writer of a flood was given. Writer w of n has the numbers w, w + n, w + 2n ..., in this order: its lane.
 * A writer has one partition, so that the order of a lane is the partition's.
 */
export class Lanes {
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

/** Sum of the first `count` numbers of each lane. */
export function sumOfLanes(counts: readonly number[]): number {
  return counts.reduce((sum, count, lane) => sum + count * lane + (counts.length * count * (count - 1)) / 2, 0);
}
