import type { RecordContent } from '../../batch.ts';
import type { JsonObject } from './envelope.ts';

/**
 * False if the only values of a row before are those of the record's key: the source knows nothing else of a deleted row, and columns without a
 * value are not null. A row whose columns are all in the key is whole.
 */
export function hasMoreThanKey(before: JsonObject, record: RecordContent): boolean {
  const others = Object.entries(before).filter(([name, value]) => !isOfKey(name, value, record));
  return others.length === 0 || others.some(([, value]) => value !== null);
}

/** True if the record's key, a struct, has all columns of the row before. */
export function isInKey(before: JsonObject, { keyValue }: RecordContent): boolean {
  return (
    typeof keyValue === 'object' &&
    keyValue !== null &&
    Object.keys(before).every((name) => Object.hasOwn(keyValue, name))
  );
}

/** True for a column of the record's key: of a struct a member, of another key the column with its value. */
function isOfKey(name: string, value: unknown, { key, keyValue = key?.toString() }: RecordContent): boolean {
  if (typeof keyValue === 'object' && keyValue !== null) return Object.hasOwn(keyValue, name);
  return (typeof value === 'string' || typeof value === 'number') && String(value) === String(keyValue);
}
