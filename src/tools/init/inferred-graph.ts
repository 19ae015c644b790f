import { isJsonObject } from '../../base/json/json-object.ts';
import { snakeCaseName } from '../../base/json/key-naming.ts';
import type { RecognisedEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import { isIdName, keyFieldsOf } from './key-field.ts';
import type { KeyField } from './key-field.ts';
import { InferredTypes } from './inferred-types.ts';
import type { InferredEnum, InferredField, InferredObject } from './inferred-types.ts';
import { payloadPath, placeAt } from './payload-path.ts';
import { Place, isUsable } from './place.ts';
import type { SeenRecord } from './seen-record.ts';
import type { SeenTopic } from './seen-topic.ts';
import { nounOf } from './type-names.ts';

/** A field that the binding matches on. */
export interface MatchedField extends KeyField {
  /** Of the argument. */
  readonly type: string;
  /** The type that has the field. */
  readonly object: InferredObject;
}

/** A field that a header fills. */
export interface HeaderField {
  readonly name: string;
  readonly header: string;
}

/** A graph of one topic, as its records suggest it. */
export interface InferredGraph {
  readonly topic: string;
  /** The subscription field; of the records of one key, if there is one for all. */
  readonly field: string;
  /** The subscription field of all records. undefined: `field` is it, without its arguments. */
  readonly all: string | undefined;
  readonly type: string;
  /** undefined: the payload is JSON, without fields. */
  readonly object: InferredObject | undefined;
  /** Each once; the payload's first. */
  readonly objects: readonly InferredObject[];
  readonly enums: readonly InferredEnum[];
  readonly envelope: RecognisedEnvelope | undefined;
  readonly rowsBefore: SeenTopic['rowsBefore'];
  /** Of the payload's type, which a change fills: what it does to the row. undefined: the records do not say it. */
  readonly operation: string | undefined;
  /** Of the payload's type: what headers say of an event of the outbox. */
  readonly headers: readonly HeaderField[];
  /** Path of the field's value in the payload; [] is the whole payload. */
  readonly payload: readonly string[];
  /** Each equals one member of the records' keys; a single one may be only named like an id. */
  readonly keys: readonly MatchedField[];
  /** True: a record has a key. */
  readonly isKeyed: boolean;
  /** A member of the keys, which are structs; undefined: they are none. */
  readonly keyMember: string | undefined;
  /** True: tombstones delete the values of keys, and the binding can route them. */
  readonly hasTombstones: boolean;
  /** True: a schema says which fields are required. */
  readonly hasSchema: boolean;
}

/**
 * @param seen whose records are at least one
 * @param hasTombstones true: others have no value
 */
export function inferGraph(
  topic: string,
  seen: Pick<SeenTopic, 'records' | 'envelope' | 'type' | 'rowsBefore'>,
  hasTombstones = false,
): InferredGraph {
  const { records, envelope, type: written } = seen;
  const root = new Place();
  for (const { payload } of records) root.add(payload);
  // A schema says what a record is, and an envelope which row.
  const payload = written || envelope !== undefined ? [] : payloadPath(root);
  const place = placeAt(root, payload);
  const isUntyped = written === undefined && (envelope === 'DEBEZIUM' || envelope === 'DEBEZIUM_FLAT');
  const types = new InferredTypes(isUntyped);
  const noun = payload.at(-1) ?? nounOf(topic);
  const { type, object } = types.typeOf(place, '', noun, written);
  const keys = object ? keyFieldsOf(records, payload, place, object.name) : [];
  const field = fieldOf(object?.name ?? noun);
  const isEnum = (name: string) => types.enums.some((one) => one.name === name);
  const matched = object ? keys.flatMap((key) => matchedField(key, object, isEnum)) : [];
  return {
    topic,
    field,
    all: envelope !== undefined && matched.length > 0 ? allOf(noun, field) : undefined,
    type,
    object,
    objects: types.objects,
    enums: types.enums,
    envelope,
    rowsBefore: seen.rowsBefore,
    operation: object && operationField(records, envelope, object),
    headers: envelope === 'OUTBOX' && object ? headerFields(records, object) : [],
    payload,
    keys: matched,
    isKeyed: records.some((record) => record.key !== undefined),
    keyMember: memberOf(records),
    // Else the key of a tombstone says nothing of the matched value.
    hasTombstones: hasTombstones && keys.every(({ isRecordKey }) => isRecordKey),
    hasSchema: written !== undefined,
  };
}

function memberOf(records: readonly SeenRecord[]): string | undefined {
  const key = records.find(({ keyValue }) => keyValue !== undefined)?.keyValue;
  const members = isJsonObject(key) ? Object.keys(key) : [];
  return members.find(isIdName) ?? members[0];
}

/** Empty: the type that the schema says has no such scalar. */
function matchedField(key: KeyField, root: InferredObject, isEnum: (name: string) => boolean): readonly MatchedField[] {
  const fieldIn = (object: InferredObject | undefined, name: string) =>
    object?.fields.find((field) => field.name === name);
  const object = key.path
    .slice(0, -1)
    .reduce<InferredObject | undefined>((outer, name) => fieldIn(outer, name)?.object, root);
  const field: InferredField | undefined = fieldIn(object, key.path.at(-1)!);
  if (!object || !field || field.object || /^\[|^JSON$/.test(field.type)) return [];
  // Of a value that is added to the enum later, there can be an argument, too.
  return [{ ...key, object, type: isEnum(field.type) ? 'String' : field.type }];
}

/** A name that the row does not have. */
function operationField(
  [record]: readonly SeenRecord[],
  envelope: RecognisedEnvelope | undefined,
  { fields }: InferredObject,
): string | undefined {
  const saysOperation =
    envelope === 'DEBEZIUM' || envelope === 'MONGODB' || (envelope === 'DEBEZIUM_FLAT' && '__op' in record!.value);
  if (!saysOperation) return undefined;
  return ['op', 'change_op', 'row_op'].find((name) => !fields.some((field) => field.name === name));
}

/** Headers of tracing, and those that Debezium and crier add. */
const NO_COLUMN = /^(?:__.*|traceparent|tracestate|baggage|b3|uber-trace-id)$/i;
const MAX_HEADERS = 10;

/** A field for each header that all events have. Its id is the event's, not that of the row. */
function headerFields(records: readonly SeenRecord[], { fields }: InferredObject): readonly HeaderField[] {
  const names = Object.keys(records[0]!.headers ?? {}).filter(
    (name) => !NO_COLUMN.test(name) && records.every(({ headers = {} }) => Object.hasOwn(headers, name)),
  );
  const taken = new Set(fields.map(({ name }) => name));
  const found: HeaderField[] = [];
  for (const header of names.slice(0, MAX_HEADERS)) {
    const own = header === 'id' ? 'event_id' : snakeCaseName(header.replaceAll(/\W+/g, '_'));
    const name = [own, `header_${own}`].find((one) => isUsable(one) && !taken.has(one));
    if (name === undefined) continue;
    taken.add(name);
    found.push({ name, header });
  }
  return found;
}

/** The topic's own noun, which is a plural, unless the field is called so. */
function allOf(noun: string, field: string): string {
  const name = fieldOf(noun);
  return name === field ? `all_${field}` : name;
}

function fieldOf(noun: string): string {
  const name = snakeCaseName(noun).replace(/\W/g, '');
  return /^[a-z]\w*$/i.test(name) ? name : 'record';
}
