/** A record from which a graph is inferred. */
export interface SeenRecord {
  /** As UTF-8 text; undefined: it has none, or its bytes are no text. */
  readonly key: string | undefined;
  /** As the producer wrote it; of a record with a schema, its payload. */
  readonly value: Readonly<Record<string, unknown>>;
  /** With keys in snake_case. */
  readonly payload: Readonly<Record<string, unknown>>;
}
