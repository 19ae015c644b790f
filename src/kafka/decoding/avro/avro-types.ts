import avro from 'avsc';
import type { Type } from 'avsc';
import { CONNECT_TYPES, enumSymbols, JSON_TYPE, noteOf } from '../connect/connect-types.ts';
import { UNREAD } from '../decoder.ts';
import { MergedTypes } from '../merged-types.ts';
import { BASE64, DATA, DECIMAL, docOf, lastName, nullable, objectType } from '../value-type.ts';
import type { DescribeSchema, NamesOf, ObjectType, ValueKind, ValueType } from '../value-type.ts';
import { CONNECT_NAME, CONNECT_PARAMETERS, LogicalType, parseAvroSchema } from './avro-schema.ts';
import { logicalReader } from './logical-reader.ts';

const { ArrayType, EnumType, MapType, RecordType, WrappedUnionType } = avro.types;

/** avsc keeps it, and its types do not say so. */
interface Documented {
  readonly doc?: unknown;
}

/** NaN and the infinities are null. */
const PRIMITIVES: Readonly<Record<string, ValueType>> = {
  boolean: { kind: 'boolean', isNullable: false },
  int: { kind: 'int', isNullable: false },
  long: { kind: 'long', isNullable: false },
  float: { kind: 'float', isNullable: true },
  double: { kind: 'float', isNullable: true },
  string: { kind: 'text', isNullable: false },
  bytes: { kind: 'text', isNullable: false, note: BASE64 },
  fixed: { kind: 'text', isNullable: false, note: BASE64 },
  null: { kind: 'unknown', isNullable: true },
};

const NOTES: Readonly<Record<string, string>> = {
  decimal: DECIMAL,
  date: 'a day of ISO 8601',
  time: 'a time of day of ISO 8601',
  timestamp: 'an ISO 8601 time',
  'local-timestamp': 'an ISO 8601 time without a zone',
  duration: 'a duration of ISO 8601',
};

export const describeAvro: DescribeSchema = (text, references, namesOf) =>
  new AvroTypes(namesOf).of(parseAvroSchema(text, references));

class AvroTypes {
  readonly #namesOf: NamesOf;
  readonly #objects = new Map<Type, ObjectType>();
  readonly #merged = new MergedTypes();

  constructor(namesOf: NamesOf) {
    this.#namesOf = namesOf;
  }

  of(type: Type): ValueType {
    if (type instanceof LogicalType) return logicalType(type) ?? this.of(type.underlyingType);
    if (type instanceof RecordType) return { kind: 'object', isNullable: false, object: this.#object(type) };
    if (type instanceof WrappedUnionType) return this.#union(type.types);
    if (type instanceof ArrayType) return { kind: 'list', isNullable: false, items: this.of(type.itemsType) };
    if (type instanceof MapType) return { ...DATA, isNullable: false };
    if (type instanceof EnumType) {
      const { symbols, name } = type;
      return enumType(symbols, lastName(name), (type as Documented).doc);
    }
    return PRIMITIVES[type.typeName]!;
  }

  #object(type: avro.types.RecordType): ObjectType {
    const known = this.#objects.get(type);
    if (known) return known;
    const { name, fields } = type;
    const object = objectType({ name: lastName(name), doc: docOf((type as Documented).doc) }, () => {
      const names = this.#namesOf(fields.map((field) => field.name));
      return fields.flatMap((field, i) => {
        const payloadName = names[i];
        if (payloadName === undefined) return [];
        return [{ name: payloadName, doc: docOf((field as Documented).doc), type: this.of(field.type) }];
      });
    });
    this.#objects.set(type, object);
    return object;
  }

  #union(branches: readonly Type[]): ValueType {
    const types = branches.filter(({ typeName }) => typeName !== 'null').map((branch) => this.of(branch));
    const merged = this.#merged.of(types);
    return types.length < branches.length ? nullable(merged) : merged;
  }
}

/** A symbol that is added later is not in the enum that is written now. */
function enumType(symbols: readonly string[], name: string, doc?: unknown): ValueType {
  return { kind: 'enum', isNullable: true, enum: { name, doc: docOf(doc), symbols } };
}

/** undefined: its values are those of the type that it is made of. */
function logicalType(type: LogicalType): ValueType | undefined {
  const { logicalType: name, [CONNECT_NAME]: connectName, [CONNECT_PARAMETERS]: parameters } = type.attributes;
  const symbols = enumSymbols(connectName, parameters);
  if (symbols) return enumType(symbols, '');
  if (logicalReader(type, UNREAD.kinds)) {
    const base = name.replace(/-(?:millis|micros|nanos)$/, '');
    return text(NOTES[base], /^(?:date|time|local-timestamp|timestamp)$/.test(base));
  }
  if (connectName === JSON_TYPE) return { kind: 'json', isNullable: true };
  return CONNECT_TYPES.includes(connectName as string) ? text(noteOf(connectName)) : undefined;
}

/** @param isNullable true: JSON cannot print each value */
function text(note: string | undefined, isNullable = true): ValueType {
  const kind: ValueKind = 'text';
  return { kind, isNullable, note };
}
