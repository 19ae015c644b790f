import { snakeCaseName } from '../../json/key-naming.ts';
import { valueAt } from '../../json/value-at.ts';
import type { Place } from './place.ts';
import type { SeenRecord } from './seen-record.ts';

/** The field by which subscribers choose their events. */
export interface KeyField {
  readonly name: string;
  readonly place: Place;
  /** True: it equals the key of each record. */
  readonly isRecordKey: boolean;
}

/**
 * The field that equals the records' keys; else the one named like the id of the type. undefined: no field is in each record, or none is
 * an id.
 */
export function keyFieldOf(
  records: readonly SeenRecord[],
  payload: readonly string[],
  place: Place,
  typeName: string,
): KeyField | undefined {
  const candidates = place.usableKeys.filter(([, at]) => at.values === place.values && isComparable(at));
  const keyed = records.flatMap(({ key, payload: of }) => {
    const value = valueAt(of, payload);
    return key === undefined || value === null || value === undefined ? [] : [{ keys: textsOf(key), value }];
  });
  const equal = candidates.filter(
    ([name]) => keyed.length > 0 && keyed.every(({ keys, value }) => keys.includes(String(valueAt(value, [name])))),
  );
  const isId = ([name]: (typeof candidates)[number]) => isIdName(name);
  const recordKey = equal.find(isId) ?? equal[0];
  if (recordKey) return { name: recordKey[0], place: recordKey[1], isRecordKey: true };
  const ids = [`${snakeCaseName(typeName)}_id`, 'id'];
  const named = ids.flatMap((id) => candidates.filter(([name]) => name === id));
  return named[0] && { name: named[0][0], place: named[0][1], isRecordKey: false };
}

/** True of `id`, `order_id` and `order_ids`. */
export function isIdName(name: string): boolean {
  return /(^|_)ids?$/.test(name);
}

function isComparable({ kinds }: Place): boolean {
  return [...kinds].every((kind) => kind === 'string' || kind === 'int' || kind === 'long');
}

/** The key, and the value in it if it is JSON: of a scalar, of an object of one key, or of Debezium's `payload`. */
function textsOf(key: string): readonly string[] {
  let json: unknown;
  try {
    json = JSON.parse(key);
  } catch {
    return [key];
  }
  const object = valueAt(json, ['payload']) ?? json;
  const values = typeof object === 'object' && object !== null ? Object.values(object) : [object];
  return values.length === 1 ? [key, String(values[0])] : [key];
}
