/** One series of a histogram (`Buckets`), as those that observe see it. */
export interface Observations {
  /**
   * @param weight counts as so many observations of the value. Default: 1
   * @param traceId of a sampled trace, which becomes an exemplar
   */
  observe(value: number, weight?: number, traceId?: string): void;
}
