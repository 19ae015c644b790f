import { BASE64, DATA, docOf, lastName, objectType, UNKNOWN } from '../value-type.ts';
import type { FieldType, NamesOf, ValueType } from '../value-type.ts';
import { CONNECT_TYPES, enumSymbols, JSON_TYPE, noteOf } from './connect-types.ts';

/** A schema as JsonConverter of Kafka Connect writes it, beside the payload. https://cwiki.apache.org/confluence/x/-5g0 */
type ConnectSchema = Readonly<Record<string, unknown>>;

/** NaN and the infinities are null. */
const PRIMITIVES: Readonly<Record<string, ValueType>> = {
  boolean: { kind: 'boolean', isNullable: false },
  int8: { kind: 'int', isNullable: false },
  int16: { kind: 'int', isNullable: false },
  int32: { kind: 'int', isNullable: false },
  int64: { kind: 'long', isNullable: false },
  float: { kind: 'float', isNullable: true },
  double: { kind: 'float', isNullable: true },
  string: { kind: 'text', isNullable: false },
  bytes: { kind: 'text', isNullable: false, note: BASE64 },
};

/** What a schema of Kafka Connect says of its values. It cannot contain itself. */
export function connectValueType(schema: unknown, namesOf: NamesOf): ValueType {
  const { optional, ...described } = Object(schema) as ConnectSchema;
  const type = valueTypeOf(described, namesOf);
  return optional === true ? { ...type, isNullable: true } : type;
}

function valueTypeOf({ type, name, parameters, fields, items, doc }: ConnectSchema, namesOf: NamesOf): ValueType {
  const symbols = enumSymbols(name, parameters);
  if (symbols) return { kind: 'enum', isNullable: true, enum: { name: '', doc: docOf(doc), symbols } };
  if (name === JSON_TYPE) return { kind: 'json', isNullable: true };
  if (CONNECT_TYPES.includes(name as string)) return { kind: 'text', isNullable: true, note: noteOf(name) };
  if (type === 'array') return { kind: 'list', isNullable: false, items: connectValueType(items, namesOf) };
  if (type === 'map') return { ...DATA, isNullable: false };
  if (type !== 'struct') return PRIMITIVES[type as string] ?? UNKNOWN;
  const object = objectType({ name: lastName(name), doc: docOf(doc) }, () => fieldTypes(fields, namesOf));
  return { kind: 'object', isNullable: false, object };
}

function fieldTypes(fields: unknown, namesOf: NamesOf): readonly FieldType[] {
  const named = (Array.isArray(fields) ? fields : []).filter(
    (field): field is ConnectSchema & { readonly field: string } =>
      typeof (Object(field) as ConnectSchema)['field'] === 'string',
  );
  const names = namesOf(named.map(({ field }) => field));
  return named.flatMap((field, i) => {
    const name = names[i];
    return name === undefined ? [] : [{ name, doc: docOf(field['doc']), type: connectValueType(field, namesOf) }];
  });
}
