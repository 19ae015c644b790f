import { nullable, objectType } from '../value-type.ts';
import type { FieldType, ValueKind, ValueType } from '../value-type.ts';
import type { RecognisedEnvelope } from './recognised.ts';

/** Columns of these may be left out by the database, because a change left them as they were: then nobody may know the value. */
const MAY_BE_UNAVAILABLE: readonly ValueKind[] = ['text', 'json', 'list', 'object'];

/** The type of the rows in values of a type. undefined: their schema does not say it. */
export function rowType(value: ValueType, envelope: RecognisedEnvelope | undefined): ValueType | undefined {
  switch (envelope) {
    case 'DEBEZIUM': {
      const members = value.object?.fields ?? [];
      const member = (name: string) => members.find((field) => field.name === name)?.type;
      const row = [member('after'), member('before')].find((type) => type?.object);
      return row && withUnavailable(row);
    }
    case 'DEBEZIUM_FLAT':
      return value.object && withUnavailable(value);
    case 'MONGODB':
    case 'OUTBOX':
      return undefined;
    default:
      return value.object && value;
  }
}

/** Without the columns that Debezium adds. */
function withUnavailable(row: ValueType): ValueType {
  const { object } = row;
  const columns = () => object!.fields.filter(({ name }) => !name.startsWith('__')).map(columnOf);
  return { ...row, object: objectType(object!, columns) };
}

function columnOf(field: FieldType): FieldType {
  return MAY_BE_UNAVAILABLE.includes(field.type.kind) ? { ...field, type: nullable(field.type) } : field;
}
