/** A record from which a graph is inferred. */
export interface SeenRecord {
  /** Its text; undefined: it has none. */
  readonly key: string | undefined;
  /** Of a key that is a struct, in JSON or with a schema, with names as in the payload. */
  readonly keyMembers?: readonly string[];
  /** As the producer wrote it; of a record with a schema, its payload. */
  readonly value: Readonly<Record<string, unknown>>;
  /** With keys in snake_case. */
  readonly payload: Readonly<Record<string, unknown>>;
}
