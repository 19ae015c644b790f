import { getNamedType, isCompositeType, isObjectType, isScalarType, isSpecifiedScalarType, isUnionType } from 'graphql';
import type { GraphQLNamedType, GraphQLSchema } from 'graphql';

/**
 * What fields read at one place of a topic's payloads. A list has the kind of its items.
 *
 * - `number`: Int or Float
 * - `text`: String, ID, Boolean or an enum
 * - `custom`: a custom scalar, whose value may be an object
 * - `object`: an object, interface or union type
 */
export type ShapeKind = 'number' | 'text' | 'custom' | 'object';

/** A field that reads the payloads of the topic. */
export interface PayloadReader {
  /** Path of its value in the payload; [] is the whole payload. */
  readonly payload: readonly string[];
  readonly type: GraphQLNamedType;
}

/** One place in the payloads of a topic, with everything that the topic's fields read there. */
export class PayloadShape {
  /** Empty: no field reads this place, though one may read a place below it. More than one: fields of different types read it. */
  readonly kinds: ReadonlySet<ShapeKind>;
  readonly #schema: GraphQLSchema;
  readonly #readers: readonly PayloadReader[];
  /** By the readers at a place: types may contain themselves, so paths are without end, places are not. */
  readonly #places: Map<string, PayloadShape>;
  readonly #below = new Map<string, PayloadShape>();

  private constructor(schema: GraphQLSchema, readers: readonly PayloadReader[], places: Map<string, PayloadShape>) {
    this.#schema = schema;
    this.#readers = readers;
    this.#places = places;
    this.kinds = new Set(readers.filter(({ payload }) => payload.length === 0).map(({ type }) => kindOf(type)));
  }

  /** The shape of whole payloads. @param schema with resolvers attached: a field with one reads nothing at its own name */
  static of(schema: GraphQLSchema, readers: readonly PayloadReader[]): PayloadShape {
    return new PayloadShape(schema, readers, new Map());
  }

  /** The place that a key leads to; of a list, the place below its items. */
  at(key: string): PayloadShape {
    let shape = this.#below.get(key);
    if (!shape) this.#below.set(key, (shape = this.#placeOf(this.#readersBelow(key))));
    return shape;
  }

  /** Keys of this place that a field reads. */
  get keys(): readonly string[] {
    const keys = this.#readers.flatMap(
      ({ payload, type }) => payload[0] ?? this.#fieldsOf(type).map(({ name }) => name),
    );
    return [...new Set(keys)];
  }

  #readersBelow(key: string): readonly PayloadReader[] {
    return this.#readers.flatMap(({ payload, type }) => {
      if (payload.length > 0) return payload[0] === key ? [{ payload: payload.slice(1), type }] : [];
      const fields = this.#fieldsOf(type).filter(({ name }) => name === key);
      return fields.map((field) => ({ payload: [], type: getNamedType(field.type) }));
    });
  }

  #placeOf(readers: readonly PayloadReader[]): PayloadShape {
    const identity = [...new Set(readers.map(({ payload, type }) => [...payload, type.name].join('.')))].sort().join();
    let shape = this.#places.get(identity);
    if (!shape) this.#places.set(identity, (shape = new PayloadShape(this.#schema, readers, this.#places)));
    return shape;
  }

  /** Of an interface or a union: those of all types that the value may have. */
  #fieldsOf(type: GraphQLNamedType) {
    if (!isCompositeType(type)) return [];
    const types = isObjectType(type)
      ? [type]
      : [...this.#schema.getPossibleTypes(type), ...(isUnionType(type) ? [] : [type])];
    return types.flatMap((member) => Object.values(member.getFields()).filter(({ resolve }) => resolve === undefined));
  }
}

function kindOf(type: GraphQLNamedType): ShapeKind {
  if (isCompositeType(type)) return 'object';
  if (!isScalarType(type)) return 'text';
  if (!isSpecifiedScalarType(type)) return 'custom';
  return type.name === 'Int' || type.name === 'Float' ? 'number' : 'text';
}
