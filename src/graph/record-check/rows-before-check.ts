import { isJsonObject } from '../../base/json/json-object.ts';
import { valueAt } from '../../base/json/value-at.ts';
import { textOf } from '../compared-text.ts';
import { isRecordPart, keyTextAt } from '../record-parts.ts';
import type { Binding } from '../schema/binding.ts';
import type { CheckedRecord } from './key-check.ts';

/**
 * Reports a field that depends on rows before a change, which do not count because nothing says that they are whole; and `before: WHOLE` that is not
 * true. Of connectors that write no whole rows of their own accord: see `Envelope`.
 * @param hasWholeRows true: a field of the topic has `before: WHOLE`
 */
export function rowsBeforeProblems(
  binding: Binding,
  records: readonly CheckedRecord[],
  hasWholeRows: boolean,
): string[] {
  if (binding.envelope !== 'DEBEZIUM') return [];
  if (hasWholeRows) return binding.hasWholeRows && records.some(isLacking) ? [NOT_WHOLE] : [];
  const uses = usesOfBefore(
    binding,
    records.filter(({ change }) => change?.isFilled),
  );
  if (uses.length === 0) return [];
  return [
    `${uses.join(', ')}: this needs the row before a change, which does not count, because a connector such as PostgreSQL's may not log whole rows: ` +
      'subscribers that a row leaves are not told, or not what it was; ALTER TABLE … REPLICA IDENTITY FULL, and write before: WHOLE in @kafka',
  ];
}

const NOT_WHOLE =
  'before: WHOLE is not true of the table: an update has no row before, so subscribers that a row leaves are not told, and a delete may reach those of ' +
  'values that Debezium made up; ALTER TABLE … REPLICA IDENTITY FULL, or remove before: WHOLE';

function isLacking({ change }: CheckedRecord): boolean {
  return change?.op === 'UPDATE' && !change.before;
}

function usesOfBefore(
  { match, where, filters = [], tombstone, state, change }: Binding,
  records: readonly CheckedRecord[],
): string[] {
  const isMissed = (path: string) => !isRecordPart(path) && records.some((record) => !isInKey(record, path));
  // A state knows the channels that a row was in. Fields that skip deletes tell nobody that a row has left.
  const rules = [
    ...(tombstone && !state ? match.map(({ arg, path }) => ({ label: `match of "${arg}"`, path })) : []),
    ...(tombstone && !state ? where.map(({ claim, path }) => ({ label: `where of the claim "${claim}"`, path })) : []),
    ...(tombstone ? filters.map(({ arg, path }) => ({ label: `where of "${arg}"`, path })) : []),
  ];
  const uses = rules
    .filter(({ path }) => isMissed(path))
    .map(({ label, path }) => `${label} on "${path}", which the key does not have`);
  if (!records.some(hasMoreThanKey)) return uses;
  if (tombstone === 'ROW') uses.push('tombstone: ROW');
  if (change?.before) uses.push('@change(field: BEFORE)');
  return uses;
}

/** True if the key has the value at the path, or there is none. */
function isInKey(record: CheckedRecord, text: string): boolean {
  const path = text.split('.');
  const value = textOf(valueAt(record.payload, path));
  return value === undefined || value === keyTextAt(record, path);
}

function hasMoreThanKey({ keyValue, payload }: CheckedRecord): boolean {
  return !isJsonObject(keyValue) || Object.keys(payload).some((column) => !Object.hasOwn(keyValue, column));
}
