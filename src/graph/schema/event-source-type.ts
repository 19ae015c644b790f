/** Where the events of a Subscription field come from. The page reads it, too: this file must import nothing. */
export type EventSource =
  /** `payload`: path of the field's value. `values`: what matches the arguments; undefined: `crier publish` cannot write such a record. */
  | { readonly topic: string; readonly payload: readonly string[]; readonly values?: readonly MatchedValue[] }
  /** A Redis channel, with {arguments}. */
  | { readonly channel: string }
  /** `subscribe` in the graph's resolvers. */
  | { readonly resolver: true };

export interface MatchedValue {
  readonly arg: string;
  readonly path: readonly string[];
  /** Fits the argument's type. */
  readonly example: unknown;
}

export interface EventSources {
  readonly fields: Readonly<Record<string, EventSource>>;
  /** Who writes records: programs; the graph's samples, one in so many ms; or nobody, without servers and samples. */
  readonly records: 'programs' | { readonly sampleIntervalMs: number } | 'nobody';
}
