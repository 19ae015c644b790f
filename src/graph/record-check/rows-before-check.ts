import { isJsonObject } from '../../base/json/json-object.ts';
import { valueAt } from '../../base/json/value-at.ts';
import { textOf } from '../compared-text.ts';
import { isRecordPart, keyTextAt } from '../record-parts.ts';
import type { Binding } from '../schema/binding.ts';
import type { CheckedRecord } from './key-check.ts';

/**
 * Reports a field that depends on rows before a change, where the records have none, or where they do not count because nothing says that they are
 * whole; and `before: WHOLE` that is not true. Of connectors that write no whole rows of their own accord: see `Envelope`.
 * @param hasWholeRows true: a field of the topic has `before: WHOLE`
 */
export function rowsBeforeProblems(
  binding: Binding,
  records: readonly CheckedRecord[],
  hasWholeRows: boolean,
): string[] {
  switch (binding.envelope) {
    case 'DEBEZIUM':
      if (hasWholeRows) return binding.hasWholeRows && records.some(isLacking) ? [NOT_WHOLE] : [];
      return problems(
        usesOfBefore(
          binding,
          records.filter(({ change }) => change?.isFilled),
        ),
        NOT_COUNTED,
      );
    case 'MONGODB':
      return problems(usesOfBefore(binding, records.filter(isLacking)), NO_DOCUMENTS);
    case 'DEBEZIUM_FLAT': {
      const uses = usesOfBefore(binding, records);
      const ofUpdates = uses.filter((use) => use !== ROW);
      return hasWholeRows ? problems(ofUpdates, FLAT_UPDATES) : problems(uses, FLAT);
    }
    case 'CONNECT':
      return problems(usesOfBefore(binding, records), NO_ROWS);
    default:
      return [];
  }
}

function problems(uses: readonly string[], why: string): string[] {
  return uses.length === 0 ? [] : [`${uses.join(', ')}: this needs the row before a change, ${why}`];
}

const ROW = 'tombstone: ROW';
const UNTOLD = 'subscribers that a row leaves are not told';
const NOT_COUNTED =
  `which does not count, because a connector such as PostgreSQL's may not log whole rows: ${UNTOLD}, or not what it was; ` +
  'ALTER TABLE … REPLICA IDENTITY FULL (Flink writes whole rows as it is), and write before: WHOLE in @kafka';
const NO_DOCUMENTS =
  `which updates of this topic do not have: ${UNTOLD}, or not what it was; set capture.mode=change_streams_update_full_with_pre_image of the ` +
  'connector, and changeStreamPreAndPostImages of the collection, or add state: {} to fields that match a path';
const KEEP_CHANGES =
  'add state: {} to fields that match a path, or have the connector write whole changes (without ExtractNewRecordState) and use envelope: DEBEZIUM';
const FLAT_UPDATES = `which a flattened update does not have: ${UNTOLD} unless it is deleted; ${KEEP_CHANGES}`;
const FLAT =
  `which a flattened update does not have, and of a delete it counts only where the record names a connector of whole rows (connector in add.fields), or with ` +
  `before: WHOLE: else a change reaches the subscribers that its key names, and ${UNTOLD}, or not what it was; ${KEEP_CHANGES}`;
const NO_ROWS =
  `which rows of Kafka Connect do not have: a change reaches the subscribers that its key names, and ${UNTOLD}, or not what it was; ` +
  'add state: {} to fields that match a path, or match the key';

const NOT_WHOLE =
  'before: WHOLE is not true of the table: an update has no row before, so subscribers that a row leaves are not told, and a delete may reach those of ' +
  'values that Debezium made up; ALTER TABLE … REPLICA IDENTITY FULL, or remove before: WHOLE';

function isLacking({ change }: CheckedRecord): boolean {
  return change?.op === 'UPDATE' && !change.before;
}

function usesOfBefore(
  { envelope, match, where, filters = [], tombstone, state, change }: Binding,
  records: readonly CheckedRecord[],
): string[] {
  // The key of a document is its id.
  const isId = (path: string) => envelope === 'MONGODB' && (path === 'id' || path === '_id');
  const isMissed = (path: string) =>
    !isRecordPart(path) && !isId(path) && records.some((record) => !isInKey(record, path));
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
  if (tombstone === 'ROW') uses.push(ROW);
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
