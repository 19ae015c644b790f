import { isDeepStrictEqual } from 'node:util';
import type { RecordContent } from '../../batch.ts';
import type { JsonObject } from './envelope.ts';

/** A change whose row before may be filled. `row`: null: deleted. Names are those of payloads. */
interface FilledChange {
  readonly row: JsonObject | null;
  readonly before: JsonObject;
}

/**
 * Whether the rows before of a topic's changes are whole. PostgreSQL logs whole rows with `REPLICA IDENTITY FULL` only, else the columns of a key
 * or of an index. Debezium fills the other columns of a delete with null, zero, an empty text, the epoch, or the column's DEFAULT: of JSON without
 * a schema nothing tells them from values, and whoever is matched by them would receive the delete of somebody else's row.
 * https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-replica-identity
 */
export class RowsBefore {
  readonly #isDeclared: boolean;
  /** Shown by the topic's last update. undefined: this worker has read none. */
  #isShown: boolean | undefined;

  /** @param isDeclared true: the graph says that they are whole */
  constructor(isDeclared: boolean) {
    this.#isDeclared = isDeclared;
  }

  /** An update had no row before: the database logs none. */
  lack(): void {
    this.#isShown = false;
  }

  /** True: the row before of the next change is whole, whatever it is. */
  get areWhole(): boolean {
    return this.#isShown ?? this.#isDeclared;
  }

  /** True if the row before is whole. Called for each change in which it may be filled, unless `areWhole`. */
  isWhole({ row, before }: FilledChange, record: RecordContent): boolean {
    if (row && showsWhole(row, before, record)) this.#isShown = true;
    return this.areWhole || Object.keys(before).every((name) => isOfKey(name, before[name], record));
  }
}

/**
 * False if the only values of a row before are those of the record's key: the source knows nothing else of a deleted row, and columns without a
 * value are not null. A row whose columns are all in the key is whole.
 */
export function hasMoreThanKey(before: JsonObject, record: RecordContent): boolean {
  const others = Object.entries(before).filter(([name, value]) => !isOfKey(name, value, record));
  return others.length === 0 || others.some(([, value]) => value !== null);
}

/**
 * True if an update proves that its row before was logged as a whole. Of an update that changes columns of an index, PostgreSQL may log those alone
 * (`REPLICA IDENTITY USING INDEX`): then each column beside them seems to change from what fills it.
 */
function showsWhole(row: JsonObject, before: JsonObject, record: RecordContent): boolean {
  let isShown = false;
  for (const [name, value] of Object.entries(before)) {
    if (isOfKey(name, value, record)) continue;
    const isSame = isDeepStrictEqual(value, row[name]);
    if (!mayFillColumn(value)) isShown ||= isSame;
    else if (!isSame) return false;
  }
  return isShown;
}

/** True for null and for what Debezium writes for a column that may not be null: zeros, an empty text, list or object, the epoch. */
function mayFillColumn(value: unknown): boolean {
  if (typeof value === 'string') return /^(?:[^1-9a-z]*|AA==|1970-01-01.*)$/i.test(value);
  if (typeof value === 'object') return Object.values(value ?? {}).every(mayFillColumn);
  return !value;
}

/** True for a column of the record's key: of a struct a member, of another key the column with its value. */
function isOfKey(name: string, value: unknown, { key, keyValue = key?.toString() }: RecordContent): boolean {
  if (typeof keyValue === 'object' && keyValue !== null) return Object.hasOwn(keyValue, name);
  return (typeof value === 'string' || typeof value === 'number') && String(value) === String(keyValue);
}
