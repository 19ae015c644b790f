/** One `match` of an @kafka directive. */
export interface Match {
  readonly arg: string;
  /** Path in the converted payload, dot-separated. */
  readonly path: string;
  /** A nullable argument without a default may be left out, which means every value. */
  readonly isOptional: boolean;
}

/** How a Subscription field hangs on a topic: its @kafka directive, checked. */
export interface Binding {
  readonly field: string;
  readonly topic: string;
  readonly match: readonly Match[];
  /** Path of the field's value in the converted payload; [] is the whole payload. */
  readonly payload: readonly string[];
}
