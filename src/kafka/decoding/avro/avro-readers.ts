import avro from 'avsc';
import type { Type } from 'avsc';
import type { ReadValue, RecordBytes } from '../record-bytes.ts';
import type { SchemaPlace } from '../schema-place.ts';
import { PRIMITIVES, readInt, readLength, readText } from './avro-primitives.ts';
import { LogicalType } from './avro-schema.ts';
import { connectReader } from './connect-reader.ts';
import { logicalReader } from './logical-reader.ts';
import { recordReader } from './record-reader.ts';

const { ArrayType, EnumType, FixedType, MapType, RecordType, WrappedUnionType } = avro.types;

/** Compiles the types of a schema to functions that read their values. */
export class AvroReaders {
  /** Of the records that are compiled, or being so: a record may contain itself. */
  readonly #records = new Map<Type, Map<SchemaPlace, ReadValue>>();

  of(type: Type, place: SchemaPlace): ReadValue {
    if (type instanceof LogicalType) {
      return logicalReader(type, place.kinds) ?? connectReader(type, place, this.of(type.underlyingType, place));
    }
    if (type instanceof RecordType) return this.#record(type, place);
    if (type instanceof WrappedUnionType) return unionReader(type.types.map((branch) => this.of(branch, place)));
    if (type instanceof ArrayType) return arrayReader(this.of(type.itemsType, place));
    if (type instanceof MapType) return mapReader(this.of(type.valuesType as Type, place.at('')));
    if (type instanceof EnumType) return enumReader(type.symbols);
    if (type instanceof FixedType) return fixedReader(type.size);
    const primitive = PRIMITIVES[type.typeName];
    if (!primitive) throw new Error(`unknown type: ${type.typeName}`);
    return primitive;
  }

  #record(type: avro.types.RecordType, place: SchemaPlace): ReadValue {
    let places = this.#records.get(type);
    if (!places) this.#records.set(type, (places = new Map<SchemaPlace, ReadValue>()));
    const known = places.get(place);
    if (known) return known;
    places.set(place, (bytes, levels) => reader(bytes, levels));
    const names = place.namesOf(type.fields.map(({ name }) => name));
    const fields = type.fields.map((field, i) => {
      const name = names[i];
      return { name, read: this.of(field.type, place.at(name ?? '')) };
    });
    const reader = recordReader(fields);
    places.set(place, reader);
    return reader;
  }
}

function enumReader(symbols: readonly string[]): ReadValue {
  return (bytes) => bytes.charged(symbols[readInt(bytes)] ?? bytes.fail());
}

function fixedReader(size: number): ReadValue {
  return (bytes) => bytes.base64(size);
}

function unionReader(branches: readonly ReadValue[]): ReadValue {
  return (bytes, levels) => (branches[readInt(bytes)] ?? bytes.fail())(bytes, levels);
}

function arrayReader(readItem: ReadValue): ReadValue {
  return (bytes, levels) => {
    bytes.enter(levels, 2);
    const items: unknown[] = [];
    for (let count = readCount(bytes, 2); count > 0; count = readCount(bytes, 2)) {
      for (; count > 0; count--) items.push(readItem(bytes, levels - 1));
    }
    return items;
  };
}

/** Keys are data, and stay as they are. */
function mapReader(readItem: ReadValue): ReadValue {
  return (bytes, levels) => {
    bytes.enter(levels, 2);
    const values: Record<string, unknown> = {};
    for (let count = readCount(bytes, 6); count > 0; count = readCount(bytes, 6)) {
      for (; count > 0; count--) {
        const key = readText(bytes);
        const value = readItem(bytes, levels - 1);
        if (key !== '__proto__') values[key] = value;
      }
    }
    return values;
  };
}

/**
 * Items of the next block of an array or a map; 0: there are no more.
 * @param width of an item in the payload's text, at least
 */
function readCount(bytes: RecordBytes, width: number): number {
  const count = bytes.zigzag64();
  if (typeof count !== 'number') bytes.fail();
  // A negative count is followed by the block's bytes, for readers that skip it.
  if (count < 0) readLength(bytes);
  bytes.spend(Math.abs(count) * width);
  return Math.abs(count);
}
