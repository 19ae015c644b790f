import protobuf from 'protobufjs';
import type { Field, FieldBase, MapField, NamespaceBase, Root, Type } from 'protobufjs';
import type { SchemaPlace } from '../schema-place.ts';
import { connectBody } from './connect-messages.ts';
import { readDelimited } from './message-body.ts';
import type { BodyOf, ReadBody } from './message-body.ts';
import { messageReader } from './message-reader.ts';
import type { MessageField, ReadMessage } from './message-reader.ts';
import { enumScalar, GROUP, GROUP_END, LENGTH_DELIMITED, PROTO_SCALARS, skipField } from './proto-scalars.ts';
import type { ProtoScalar } from './proto-scalars.ts';
import { WELL_KNOWN } from './well-known.ts';

/** Of `"":0,`. */
const MIN_ENTRY_WIDTH = 5;

/** Compiles the messages of a schema to functions that read them. */
export class MessageReaders {
  /** Of the messages that are compiled, or being so: a message may contain itself. */
  readonly #readers = new Map<Type, Map<SchemaPlace, ReadMessage>>();
  /** By full name without the leading dot. */
  readonly #types = new Map<string, Type>();

  constructor(root: Root) {
    this.#addTypes(root);
  }

  of(type: Type, place: SchemaPlace): ReadMessage {
    let places = this.#readers.get(type);
    if (!places) this.#readers.set(type, (places = new Map<SchemaPlace, ReadMessage>()));
    const known = places.get(place);
    if (known) return known;
    places.set(place, (bytes, levels, into, endTag) => reader(bytes, levels, into, endTag));
    const names = place.namesOf(type.fieldsArray.map(({ name }) => name));
    const fields = type.fieldsArray.flatMap((field, i) => {
      const name = names[i];
      return name === undefined ? [] : [this.#fieldOf(field, name, place.at(name))];
    });
    const reader = messageReader(fields);
    places.set(place, reader);
    return reader;
  }

  #addTypes(scope: NamespaceBase): void {
    for (const nested of scope.nestedArray) {
      if (nested instanceof protobuf.Type) this.#types.set(nested.fullName.slice(1), nested);
      if (nested instanceof protobuf.Namespace) this.#addTypes(nested);
    }
  }

  #fieldOf(field: Field, name: string, place: SchemaPlace): MessageField {
    const { id, repeated, partOf } = field;
    const common = { name, id, repeated, oneof: partOf && partOf.fieldsArray.length > 1 ? partOf.name : undefined };
    if (field instanceof protobuf.MapField) {
      return { ...common, wireType: LENGTH_DELIMITED, read: this.#mapReader(field, place), initial: '{}' };
    }
    const scalar = scalarOf(field);
    if (scalar) {
      const initial = field.hasPresence ? 'undefined' : JSON.stringify(scalar.zero);
      return { ...common, wireType: scalar.wireType, read: scalar.read, initial };
    }
    const type = field.resolvedType as Type;
    if (field.delimited) {
      const read = this.of(type, place);
      const endTag = ((id << 3) | GROUP_END) >>> 0;
      const readGroup: ReadBody = (bytes, levels, into) => read(bytes, levels, into, endTag);
      return { ...common, wireType: GROUP, read: readGroup, initial: 'undefined' };
    }
    const body = this.#bodyOf(type, place);
    const read: ReadBody = (bytes, levels, into) => readDelimited(bytes, levels, body, into);
    return { ...common, wireType: LENGTH_DELIMITED, read, initial: 'undefined' };
  }

  #bodyOf(type: Type, place: SchemaPlace): ReadBody {
    return connectBody(type, place.kinds) ?? this.#messageBody(type, place);
  }

  #messageBody(type: Type, place: SchemaPlace): ReadBody {
    const wellKnown = WELL_KNOWN.get(type.fullName);
    if (wellKnown) return wellKnown(place, this.#bodiesAt(place));
    const read = this.of(type, place);
    return (bytes, levels, into) => read(bytes, levels, into, 0);
  }

  #bodiesAt(place: SchemaPlace): BodyOf {
    return (name) => {
      const type = this.#types.get(name);
      return type && { read: this.#messageBody(type, place), isWellKnown: WELL_KNOWN.has(type.fullName) };
    };
  }

  /** Reads an entry into the map. Keys are data, and stay as they are. */
  #mapReader(field: MapField, place: SchemaPlace): ReadBody {
    const key = PROTO_SCALARS[field.keyType]!;
    const scalar = scalarOf(field);
    const body = scalar ? zeroBody(scalar) : this.#bodyOf(field.resolvedType as Type, place.at(''));
    const readValue: ReadBody = scalar
      ? scalar.read
      : (bytes, levels, into) => readDelimited(bytes, levels, body, into);
    const keyTag = 8 | key.wireType;
    const valueTag = 16 | (scalar?.wireType ?? LENGTH_DELIMITED);
    return (bytes, levels, into) => {
      bytes.spend(MIN_ENTRY_WIDTH);
      const outer = bytes.startMessage();
      let name = key.zero;
      let value: unknown;
      while (bytes.at < bytes.end) {
        const tag = bytes.uint32();
        if (tag === keyTag) name = key.read(bytes);
        else if (tag === valueTag) value = readValue(bytes, levels, value);
        else skipField(bytes, tag, levels);
      }
      // Without a value: of a message, the one of no bytes.
      if (value === undefined) value = body(bytes, levels);
      bytes.end = outer;
      if (name !== '__proto__') (into as Record<string, unknown>)[String(name)] = value;
      return into;
    };
  }
}

/** The value of an entry that has none. */
function zeroBody({ zero }: ProtoScalar): ReadBody {
  return (bytes) => (typeof zero === 'string' ? bytes.charged(zero) : zero);
}

/** undefined: the field's type is a message. */
function scalarOf({ resolvedType, type }: FieldBase): ProtoScalar | undefined {
  if (resolvedType instanceof protobuf.Enum) return enumScalar(resolvedType);
  return resolvedType ? undefined : PROTO_SCALARS[type];
}
