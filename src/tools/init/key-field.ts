import { parseExactly } from '../../base/json/exact-numbers.ts';
import { snakeCaseName } from '../../base/json/key-naming.ts';
import { valueAt } from '../../base/json/value-at.ts';
import type { Place } from './place.ts';
import type { SeenRecord } from './seen-record.ts';

/** The field by which subscribers choose their events. */
export interface KeyField {
  /** Name of the argument. */
  readonly argument: string;
  /** Below the payload. */
  readonly path: readonly string[];
  /** True: it equals the key of each record. */
  readonly isRecordKey: boolean;
}

interface Candidate {
  readonly path: readonly string[];
  readonly place: Place;
}

/**
 * The field that equals the records' keys: of the payload, else of an object in it, such as `data.id`. Else the field of the payload that is
 * named like the id of the type. undefined: no field is in each record, or none is an id.
 */
export function keyFieldOf(
  records: readonly SeenRecord[],
  payload: readonly string[],
  place: Place,
  typeName: string,
): KeyField | undefined {
  const keyed = records.flatMap(({ key, payload: of }) => {
    const value = valueAt(of, payload);
    return key === undefined || value === null || value === undefined ? [] : [{ keys: textsOf(key), value }];
  });
  const isEqual = ({ path }: Candidate) =>
    keyed.length > 0 && keyed.every(({ keys, value }) => keys.includes(String(valueAt(value, path))));
  const levels = levelsOf(place);
  for (const candidates of levels) {
    const equal = candidates.filter(isEqual);
    const recordKey = equal.find(({ path }) => isIdName(path.at(-1)!)) ?? equal[0];
    if (recordKey) return { argument: argumentOf(recordKey.path), path: recordKey.path, isRecordKey: true };
  }
  const ids = [`${snakeCaseName(typeName)}_id`, 'id'];
  const id = ids.find((name) => levels[0]!.some(({ path }) => path[0] === name));
  return id === undefined ? undefined : { argument: id, path: [id], isRecordKey: false };
}

/** The scalars that are in each payload, by the number of objects around them. */
function levelsOf(root: Place): readonly (readonly Candidate[])[] {
  const levels: Candidate[][] = [];
  for (let objects: readonly Candidate[] = [{ path: [], place: root }]; objects.length > 0;) {
    const fields = objects.flatMap(({ path, place }) =>
      place.usableKeys
        .filter(([, at]) => at.values === root.values)
        .map(([key, at]) => ({ path: [...path, key], place: at })),
    );
    levels.push(fields.filter((field) => isComparable(field.place)));
    objects = fields.filter((field) => field.place.isObject);
  }
  return levels;
}

/** `data.id` is `data_id`: the payload may have an `id` of its own. */
function argumentOf(path: readonly string[]): string {
  return path.slice(path.at(-1) === 'id' ? -2 : -1).join('_');
}

/** True of `id`, `order_id` and `order_ids`. */
export function isIdName(name: string): boolean {
  return /(^|_)ids?$/.test(name);
}

function isComparable({ kinds }: Place): boolean {
  return [...kinds].every((kind) => ['string', 'int', 'long', 'big'].includes(kind));
}

/** The key, and the value in it if it is JSON: of a scalar, of an object of one key, or of Debezium's `payload`. */
function textsOf(key: string): readonly string[] {
  let json: unknown;
  try {
    json = parseExactly(key);
  } catch {
    return [key];
  }
  const object = valueAt(json, ['payload']) ?? json;
  const values = typeof object === 'object' && object !== null ? Object.values(object) : [object];
  return values.length === 1 ? [key, String(values[0])] : [key];
}
