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

/**
 * One place in the payloads of a topic, with everything that the topic's fields read there. Computed as a whole: a schema that is prepared
 * for execution has resolvers that a graph does not have.
 */
export class PayloadShape {
  /** Empty: no field reads this place, though one may read a place below it. More than one: fields of different types read it. */
  readonly kinds: ReadonlySet<ShapeKind>;
  /** Keys of this place that a field reads. */
  readonly keys: readonly string[];
  readonly #schema: GraphQLSchema;
  readonly #readers: readonly PayloadReader[];
  readonly #below = new Map<string, PayloadShape>();
  /** A place that no field reads, nor any place below it. */
  readonly #nothing: PayloadShape;

  private constructor(schema: GraphQLSchema, readers: readonly PayloadReader[], nothing?: PayloadShape) {
    this.#nothing = nothing ?? this;
    this.#schema = schema;
    this.#readers = readers;
    this.kinds = new Set(readers.filter(({ payload }) => payload.length === 0).map(({ type }) => kindOf(type)));
    this.keys = this.#keys();
  }

  /** The shape of whole payloads. @param schema with resolvers attached: a field with one reads nothing at its own name */
  static of(schema: GraphQLSchema, readers: readonly PayloadReader[]): PayloadShape {
    const nothing = new PayloadShape(schema, []);
    const root = new PayloadShape(schema, readers, nothing);
    // By the readers at a place: types may contain themselves, so paths are without end, places are not.
    const places = new Map([[identityOf(readers), root]]);
    for (const place of places.values()) {
      for (const key of place.keys) {
        const below = place.#readersBelow(key);
        const identity = identityOf(below);
        const shape = places.get(identity) ?? new PayloadShape(schema, below, nothing);
        places.set(identity, shape);
        place.#below.set(key, shape);
      }
    }
    return root;
  }

  /** The place that a key leads to; of a list, the place below its items. */
  at(key: string): PayloadShape {
    return this.#below.get(key) ?? this.#nothing;
  }

  /** This place and all places below it that a field reads, each once. */
  get places(): ReadonlySet<PayloadShape> {
    const places = new Set<PayloadShape>([this]);
    for (const place of places) for (const below of place.#below.values()) places.add(below);
    return places;
  }

  #keys(): readonly string[] {
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

  /** Of an interface or a union: those of all types that the value may have. */
  #fieldsOf(type: GraphQLNamedType) {
    if (!isCompositeType(type)) return [];
    const types = isObjectType(type)
      ? [type]
      : [...this.#schema.getPossibleTypes(type), ...(isUnionType(type) ? [] : [type])];
    return types.flatMap((member) => Object.values(member.getFields()).filter(({ resolve }) => resolve === undefined));
  }
}

function identityOf(readers: readonly PayloadReader[]): string {
  return [...new Set(readers.map(({ payload, type }) => [...payload, type.name].join('.')))].sort().join();
}

function kindOf(type: GraphQLNamedType): ShapeKind {
  if (isCompositeType(type)) return 'object';
  if (!isScalarType(type)) return 'text';
  if (!isSpecifiedScalarType(type)) return 'custom';
  return type.name === 'Int' || type.name === 'Float' ? 'number' : 'text';
}
