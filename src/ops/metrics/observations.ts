/** One series of a histogram (`Buckets`), as those that observe see it. */
export interface Observations {
  /**
   * @param weight number of observations of the value that this one stands for. Default: 1
   * @param traceId of a sampled trace, which becomes an exemplar
   */
  observe(value: number, weight?: number, traceId?: string): void;
}
