import { isJsonObject } from '../../../base/json/json-object.ts';
import type { RowChange } from '../../../bus/row-change.ts';
import { UNREAD, UndecodableError } from '../decoder.ts';
import type { PayloadPlace } from '../decoder.ts';

export interface EnvelopeChange extends RowChange {
  /** True: the row before may have only the columns that its database logs to identify a row, and made-up values in the others. */
  readonly isFilled?: boolean | undefined;
}

/** How the values of a topic's records carry rows. */
export interface Envelope {
  /** undefined: the record is of no row. @throws UndecodableError */
  readonly read: (value: unknown) => EnvelopeChange | undefined;
  /** Members of the value that have rows. undefined: the value is the row. */
  readonly rowMembers?: readonly string[] | undefined;
  /** The columns of a row that a record's decoded key has. Absent: the key has them as they are. */
  readonly rowOfKey?: (key: unknown) => unknown;
  /** Of JSON without a schema: may be read in the record's bytes. */
  readonly hasFastPath?: boolean;
}

export type JsonObject = Record<string, unknown>;

/** The value is none of the envelope's. */
export function notOfEnvelope(): never {
  throw new UndecodableError('not_envelope');
}

/** A row, or null. */
export function rowOf(value: unknown): JsonObject | null {
  if (value === null || value === undefined) return null;
  return isJsonObject(value) ? value : notOfEnvelope();
}

/** Connectors of Debezium whose databases log whole rows. Those of others, such as PostgreSQL, may log the columns of a key. */
const OF_WHOLE_ROWS: ReadonlySet<unknown> = new Set([
  'mysql',
  'mariadb',
  'sqlserver',
  'oracle',
  'db2',
  'informix',
  'mongodb',
]);

/** True if a row before may be filled with made-up values. @param connector as the record names it */
export function mayFill(connector: unknown): boolean {
  return !OF_WHOLE_ROWS.has(connector);
}

/** What fields read of a record's value, of what they read of its rows. */
export function valuePlace({ rowMembers }: Envelope, rows: PayloadPlace): PayloadPlace {
  if (!rowMembers) return rows;
  return { kinds: UNREAD.kinds, at: (key) => (rowMembers.includes(key) ? rows : UNREAD) };
}
