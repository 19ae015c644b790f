/** One series of a histogram (`Buckets`), as those that observe see it. */
export interface Observations {
  /** @param weight counts as so many observations of the value. Default: 1 */
  observe(value: number, weight?: number): void;
}
