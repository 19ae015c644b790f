/** A record as a graph is inferred from it. */
export interface SeenRecord {
  /** Its text; undefined: it has none. */
  readonly key: string | undefined;
  /** The decoded key, with names as in the payload; undefined: it is what its text is. */
  readonly keyValue?: unknown;
  /** A sample of it, with the producer's keys, and without a schema. */
  readonly value: Readonly<Record<string, unknown>>;
  /** With keys in snake_case; of a change, the row. */
  readonly payload: Readonly<Record<string, unknown>>;
}
