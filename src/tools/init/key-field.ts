import { isJsonObject } from '../../base/json/json-object.ts';
import { snakeCaseName } from '../../base/json/key-naming.ts';
import { valueAt } from '../../base/json/value-at.ts';
import { textOf } from '../../graph/compared-text.ts';
import type { Place } from './place.ts';
import type { SeenRecord } from './seen-record.ts';

/** A field by which subscribers choose their events. */
export interface KeyField {
  /** Name of the argument. */
  readonly argument: string;
  /** Below the payload. */
  readonly path: readonly string[];
  /** True: it equals the key of each record, or the member of its name. */
  readonly isRecordKey: boolean;
}

interface Candidate {
  readonly path: readonly string[];
  readonly place: Place;
}

interface Keyed {
  /** undefined: the key is no struct of several members. */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  /** Texts of a key that is one value. */
  readonly texts: readonly string[];
  readonly value: unknown;
}

/**
 * The fields that equal the members of the records' keys, or the one that equals the key: of the payload, else of an object in it, such as
 * `data.id`. Else the field of the payload that is named like the id of the type. Empty: no field is in each record, or none is an id.
 */
export function keyFieldsOf(
  records: readonly SeenRecord[],
  payload: readonly string[],
  place: Place,
  typeName: string,
): readonly KeyField[] {
  const keyed = records.flatMap((record): Keyed[] => {
    const value = valueAt(record.payload, payload);
    return record.key === undefined || value === null || value === undefined ? [] : [{ ...keyOf(record), value }];
  });
  const levels = levelsOf(place);
  const members = keyed.length > 0 ? membersOf(keyed, levels[0]!) : [];
  if (members.length > 0) return members;
  const isEqual = ({ path }: Candidate) =>
    keyed.length > 0 && keyed.every(({ texts, value }) => texts.includes(textOf(valueAt(value, path)) ?? ''));
  for (const candidates of levels) {
    const equal = candidates.filter(isEqual);
    const recordKey = equal.find(({ path }) => isIdName(path.at(-1)!)) ?? equal[0];
    if (recordKey) return [{ argument: argumentOf(recordKey.path), path: recordKey.path, isRecordKey: true }];
  }
  const ids = [`${snakeCaseName(typeName)}_id`, 'id'];
  const id = ids.find((name) => levels[0]!.some(({ path }) => path[0] === name));
  return id === undefined ? [] : [{ argument: id, path: [id], isRecordKey: false }];
}

/** Fields of the payload that have the names and the values of all members of each key. */
function membersOf(keyed: readonly Keyed[], fields: readonly Candidate[]): readonly KeyField[] {
  const names = Object.keys(keyed[0]!.members ?? {});
  const isMember = (name: string) =>
    fields.some(({ path }) => path[0] === name) &&
    keyed.every(({ members, value }) => members && textOf(members[name]) === textOf(valueAt(value, [name])));
  const isSame = keyed.every(({ members }) => members && Object.keys(members).length === names.length);
  if (!isSame || !names.every(isMember)) return [];
  return names.map((name) => ({ argument: name, path: [name], isRecordKey: true }));
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

/** What a key is compared by: its text, the value that it is in JSON or by its schema, and the only member of a struct. */
function keyOf({ key, keyValue }: SeenRecord): Omit<Keyed, 'value'> {
  const texts = key === undefined ? [] : [key];
  if (keyValue === undefined) return { members: undefined, texts };
  if (!isJsonObject(keyValue)) return { members: undefined, texts: [...texts, textOf(keyValue) ?? ''] };
  const values = Object.values(keyValue);
  return values.length === 1
    ? { members: undefined, texts: [...texts, textOf(values[0]) ?? ''] }
    : { members: keyValue, texts };
}
