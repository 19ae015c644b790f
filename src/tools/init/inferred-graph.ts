import { snakeCaseName } from '../../base/json/key-naming.ts';
import { isIdName, keyFieldOf } from './key-field.ts';
import type { KeyField } from './key-field.ts';
import { InferredTypes } from './inferred-types.ts';
import type { InferredObject } from './inferred-types.ts';
import { payloadPath, placeAt } from './envelope-path.ts';
import { Place } from './place.ts';
import type { SeenRecord } from './seen-record.ts';
import { nounOf } from './type-names.ts';

/** The field that the binding matches on. */
export interface MatchedField extends KeyField {
  /** Of the argument. */
  readonly type: string;
  /** The type that has the field. */
  readonly object: InferredObject;
}

/** A graph of one topic, as its records suggest it. */
export interface InferredGraph {
  readonly topic: string;
  /** The subscription field. */
  readonly field: string;
  readonly type: string;
  /** undefined: the payload is JSON, without fields. */
  readonly object: InferredObject | undefined;
  /** Each once; the payload's first. */
  readonly objects: readonly InferredObject[];
  /** Path of the field's value in the payload; [] is the whole payload. */
  readonly payload: readonly string[];
  readonly key: MatchedField | undefined;
  /** True: a record has a key. */
  readonly isKeyed: boolean;
  /** A member of the keys, which are structs; undefined: they are none. */
  readonly keyMember: string | undefined;
}

/** @param records at least one */
export function inferGraph(topic: string, records: readonly SeenRecord[]): InferredGraph {
  const root = new Place();
  for (const { payload } of records) root.add(payload);
  const payload = payloadPath(root);
  const place = placeAt(root, payload);
  const types = new InferredTypes();
  const noun = payload.findLast((key) => key !== 'after' && key !== 'payload') ?? nounOf(topic);
  const { type, object } = types.typeOf(place, '', noun);
  const key = object && keyFieldOf(records, payload, place, object.name);
  return {
    topic,
    field: fieldOf(object?.name ?? noun),
    type,
    object,
    objects: types.objects,
    payload,
    key: key && matchedField(key, object),
    isKeyed: records.some((record) => record.key !== undefined),
    keyMember: memberOf(records.find((record) => record.key !== undefined)?.keyMembers ?? []),
  };
}

function memberOf(members: readonly string[]): string | undefined {
  return members.find(isIdName) ?? members[0];
}

function matchedField(key: KeyField, root: InferredObject): MatchedField {
  const fieldIn = (object: InferredObject, name: string) => object.fields.find((field) => field.name === name)!;
  const object = key.path.slice(0, -1).reduce((outer, name) => fieldIn(outer, name).object!, root);
  return { ...key, object, type: fieldIn(object, key.path.at(-1)!).type };
}

function fieldOf(noun: string): string {
  const name = snakeCaseName(noun).replace(/\W/g, '');
  return /^[a-z]\w*$/i.test(name) ? name : 'record';
}
