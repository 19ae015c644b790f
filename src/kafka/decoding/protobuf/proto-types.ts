import protobuf from 'protobufjs';
import type { Enum, Field, Type } from 'protobufjs';
import { MergedTypes } from '../merged-types.ts';
import { BASE64, DATA, DECIMAL, docOf, nullable, objectType } from '../value-type.ts';
import type { DescribeSchema, FieldType, NamesOf, ObjectType, ValueType } from '../value-type.ts';
import { connectBody } from './connect-messages.ts';
import { parseProtoSchema } from './proto-schema.ts';
import { recordMessages } from './protobuf.ts';
import { OPEN_TYPES } from './well-known.ts';

const INT: ValueType = { kind: 'int', isNullable: false };
const LONG: ValueType = { kind: 'long', isNullable: false };
const TEXT: ValueType = { kind: 'text', isNullable: false };
/** NaN and the infinities are null. */
const FLOAT: ValueType = { kind: 'float', isNullable: true };

const SCALARS: Readonly<Record<string, ValueType>> = {
  double: FLOAT,
  float: FLOAT,
  int32: INT,
  sint32: INT,
  sfixed32: INT,
  // Without a sign, they need a bit more than Int has.
  uint32: LONG,
  fixed32: LONG,
  int64: LONG,
  uint64: LONG,
  sint64: LONG,
  fixed64: LONG,
  sfixed64: LONG,
  bool: { kind: 'boolean', isNullable: false },
  string: TEXT,
  bytes: { ...TEXT, note: BASE64 },
};

/** Messages whose JSON is a text. */
const TEXTS: Readonly<Record<string, string>> = {
  '.google.protobuf.Timestamp': 'an ISO 8601 time',
  '.google.protobuf.Duration': 'a duration, such as 3.004s',
  '.google.protobuf.FieldMask': 'names of fields',
  '.confluent.type.Decimal': DECIMAL,
  '.google.type.Date': 'a day of ISO 8601',
  '.google.type.TimeOfDay': 'a time of day of ISO 8601',
};
const WRAPPER = /^\.google\.protobuf\.(Double|Float|Int64|UInt64|Int32|UInt32|Bool|String|Bytes)Value$/;
const NULL_VALUE = '.google.protobuf.NullValue';
const AS_TEXT = new Set(['text'] as const);

export const describeProtobuf: DescribeSchema = (text, references, namesOf) => {
  const messages = recordMessages(parseProtoSchema(text, references).messages);
  const types = new ProtoTypes(namesOf);
  return new MergedTypes().of(messages.map(({ type }) => types.message(type)));
};

class ProtoTypes {
  readonly #namesOf: NamesOf;
  readonly #objects = new Map<Type, ObjectType>();

  constructor(namesOf: NamesOf) {
    this.#namesOf = namesOf;
  }

  message(type: Type): ValueType {
    const { fullName } = type;
    if (OPEN_TYPES.has(fullName)) return DATA;
    const [, wrapped] = WRAPPER.exec(fullName) ?? [];
    if (wrapped !== undefined) return SCALARS[wrapped.toLowerCase()]!;
    const note = Object.hasOwn(TEXTS, fullName) ? TEXTS[fullName] : undefined;
    if (note !== undefined || connectBody(type, AS_TEXT)) return { ...TEXT, isNullable: true, note: note ?? DECIMAL };
    return { kind: 'object', isNullable: false, object: this.#object(type) };
  }

  #object(type: Type): ObjectType {
    let object = this.#objects.get(type);
    if (!object) {
      object = objectType({ name: type.name, doc: docOf(type.comment) }, () => this.#fields(type));
      this.#objects.set(type, object);
    }
    return object;
  }

  #fields({ fieldsArray }: Type): readonly FieldType[] {
    const names = this.#namesOf(fieldsArray.map(({ name }) => name));
    return fieldsArray.flatMap((field, i) => {
      const name = names[i];
      return name === undefined ? [] : [{ name, doc: docOf(field.comment), type: this.#field(field) }];
    });
  }

  /** Lists, maps and scalars without presence are there in each payload. */
  #field(field: Field): ValueType {
    if (field instanceof protobuf.MapField) return { ...DATA, isNullable: false };
    const { resolvedType, type, repeated, partOf } = field;
    const value =
      resolvedType instanceof protobuf.Enum
        ? enumValues(resolvedType)
        : resolvedType
          ? this.message(resolvedType)
          : SCALARS[type]!;
    if (repeated) return { kind: 'list', isNullable: false, items: value };
    const isAlwaysSet = !field.hasPresence && !partOf && !(resolvedType instanceof protobuf.Type);
    return isAlwaysSet ? value : nullable(value);
  }
}

/** A number that the schema does not know is in no enum. */
function enumValues({ fullName, name, comment, values }: Enum): ValueType {
  if (fullName === NULL_VALUE) return { kind: 'json', isNullable: true };
  return { kind: 'enum', isNullable: true, enum: { name, doc: docOf(comment), symbols: Object.keys(values) } };
}
