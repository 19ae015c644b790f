/** Where the events of a Subscription field come from. The page reads it, too: this file must import nothing. */
export type EventSource =
  | TopicSource
  /** A Redis channel, with {arguments}. */
  | { readonly channel: string }
  /** `subscribe` in the graph's resolvers. */
  | { readonly resolver: true };

export interface TopicSource {
  /** The first one of several. */
  readonly topic: string;
  /** The argument that chooses the topic, and the topics by its values. */
  readonly chosen?: { readonly arg: string; readonly topics: Readonly<Record<string, string>> };
  /** undefined: `crier publish` cannot write a record of the topic. */
  readonly record?: ExampleRecord;
}

/** A record that a subscriber of the field receives, as a producer writes it. */
export interface ExampleRecord {
  /** Its value, with what the types require. */
  readonly value: Readonly<Record<string, unknown>>;
  /** What depends on the subscriber, by the places that are part of the channel first. */
  readonly parts: readonly RecordPart[];
}

export interface RecordPart {
  readonly of: 'value' | 'key' | 'header';
  /** Of a header its name; [] is the whole key. */
  readonly path: readonly string[];
  readonly compared: ComparedClaim | ComparedValue;
}

/** The part equals a claim of the connection. */
export interface ComparedClaim {
  readonly claim: string;
}

/** The part passes the comparison with an argument. */
export interface ComparedValue {
  readonly arg: string;
  /** Of a `where`; undefined: a `match`, by which the part equals the argument. */
  readonly op?: string;
  /** True if the part is a list, which must contain the argument. */
  readonly isList?: boolean;
  /** Different values that fit the argument's type. */
  readonly examples: readonly unknown[];
}

export interface EventSources {
  readonly fields: Readonly<Record<string, EventSource>>;
  /**
   * Who writes records: programs, to brokers whose addresses are named where they are those of this machine; the graph's samples, one in so many
   * ms; or nobody, without servers and samples.
   */
  readonly records: { readonly brokers: readonly string[] } | { readonly sampleIntervalMs: number } | 'nobody';
}
