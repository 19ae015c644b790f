import type { ChangeOperation } from './change-text.ts';

/** What a record says of one row of a table. Keys are as the producer wrote them. */
export interface RowChange {
  /** The row as it is now. null: it was deleted. */
  readonly row: Record<string, unknown> | null;
  /** undefined: the record says nothing of what happened. */
  readonly op?: ChangeOperation | undefined;
  /** The row before, or what the source knows of it, such as its key. */
  readonly before?: Record<string, unknown> | null | undefined;
  /** Of the database, in ms since 1970. */
  readonly sourceTimestamp?: number | undefined;
  /** Id of the transaction. */
  readonly transaction?: string | undefined;
  /** True: the row was read from the table, and did not change now. */
  readonly isSnapshot?: boolean | undefined;
}

/**
 * Reads the change that a record's value, as JSON, is. undefined: the record is of no single row, and reaches nobody.
 * @throws Error if the value is none of the envelope's; the record is then poison
 */
export type ReadChange = (value: unknown) => RowChange | undefined;
