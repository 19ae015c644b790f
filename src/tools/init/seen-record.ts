/** A record as a graph is inferred from it. */
export interface SeenRecord {
  /** Its text; undefined: it has none. */
  readonly key: string | undefined;
  /** The decoded key, with names as in the payload; undefined: it is what its text is. */
  readonly keyValue?: unknown;
  /** Its texts, with the last value of each name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** With the producer's keys, and without a schema. */
  readonly value: Readonly<Record<string, unknown>>;
  /** With keys in snake_case; of a change, the row. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A record as `samples.ts` has it. */
export interface Sample {
  readonly key: string | undefined;
  /** null: a tombstone. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** True: the topic has no such record. */
  readonly isMade?: boolean;
}
