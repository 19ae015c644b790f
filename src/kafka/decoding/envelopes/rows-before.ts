import { isJsonObject } from '../../../base/json/json-object.ts';
import type { ChangeDemand } from '../../../bus/change-text.ts';
import type { PathValues } from '../../../bus/channel.ts';
import type { RecordContent } from '../../batch.ts';
import type { Envelope, EnvelopeChange, JsonObject } from './envelope.ts';

export interface RowsBeforeOptions {
  readonly envelope: Envelope;
  readonly demand: ChangeDemand;
  readonly routes: { valuesIn(row: unknown): PathValues };
  /** True: the graph says that rows before are whole, also of databases that may log less. */
  readonly hasWholeRows?: boolean;
  /** Called once, for a row before that does not count because it may not be whole, though a channel or a subscriber would depend on it. */
  readonly onFilled?: () => void;
  /** Called once, for an update without a row before, though the graph says that rows before are whole. */
  readonly onLacking?: () => void;
}

/** A row before, as in payloads. */
export interface RowBefore {
  /** Of its columns. */
  readonly names: Iterable<string>;
  readonly values: PathValues;
}

/**
 * Says which rows before of a topic's changes count. Of databases that may log the columns of a key only, Debezium fills the others with null, zero,
 * an empty text, the epoch, or the column's DEFAULT: of JSON without a schema nothing tells them from values, and whoever is matched by them would
 * receive the delete of somebody else's row. So such a row counts where the graph says that rows are whole.
 * https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-replica-identity
 */
export class RowsBefore {
  readonly #options: RowsBeforeOptions;
  #hasReportedFilled = false;
  #hasReportedLacking = false;

  constructor(options: RowsBeforeOptions) {
    this.#options = options;
  }

  /** True if the row before of a change counts. @param before undefined: there is none */
  counts(
    record: RecordContent,
    { op, isFilled }: Pick<EnvelopeChange, 'op' | 'isFilled'>,
    before: (() => RowBefore) | undefined,
  ): boolean {
    const { hasWholeRows } = this.#options;
    if (!before) {
      if (hasWholeRows && op === 'UPDATE') this.#reportLacking();
      return false;
    }
    if (!isFilled || hasWholeRows) return true;
    const row = before();
    if (isInKey(row, record)) return true;
    if (!this.#hasReportedFilled) this.#reportFilled(row, record);
    return false;
  }

  #reportLacking(): void {
    const { envelope, onLacking } = this.#options;
    if (this.#hasReportedLacking || !envelope.rowMembers) return;
    this.#hasReportedLacking = true;
    onLacking?.();
  }

  /** Reports a row of which a channel or a subscriber depends on a column that the record's key has not. */
  #reportFilled({ values }: RowBefore, { key, keyValue = key?.toString() }: RecordContent): void {
    const { routes, demand, onFilled } = this.#options;
    const ofKey = routes.valuesIn(keyValue);
    const text = isJsonObject(keyValue) ? undefined : String(keyValue);
    if (!demand.before && !values.some((value, i) => value !== undefined && value !== (ofKey[i] ?? text))) return;
    this.#hasReportedFilled = true;
    onFilled?.();
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

/** True if the record's key, a struct, has all columns of the row before. */
function isInKey({ names }: RowBefore, { keyValue }: RecordContent): boolean {
  if (typeof keyValue !== 'object' || keyValue === null) return false;
  for (const name of names) if (!Object.hasOwn(keyValue, name)) return false;
  return true;
}

/** True for a column of the record's key: of a struct a member, of another key the column with its value. */
function isOfKey(name: string, value: unknown, { key, keyValue = key?.toString() }: RecordContent): boolean {
  if (typeof keyValue === 'object' && keyValue !== null) return Object.hasOwn(keyValue, name);
  return (typeof value === 'string' || typeof value === 'number') && String(value) === String(keyValue);
}
