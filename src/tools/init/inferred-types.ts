import { isIdName } from './key-field.ts';
import type { Kind, Place } from './place.ts';
import { TypeNames } from './type-names.ts';

/** A field of a type. */
export interface InferredField {
  readonly name: string;
  /** As in SDL, without `!`. */
  readonly type: string;
  /** Of its value, or of the items of its list. */
  readonly object: InferredObject | undefined;
  readonly note: string | undefined;
}

/** An object type. */
export interface InferredObject {
  readonly name: string;
  readonly fields: readonly InferredField[];
  /** Keys that cannot be fields. */
  readonly leftOut: readonly string[];
}

type InferredType = Omit<InferredField, 'name'>;

const SCALAR_KINDS: readonly Kind[] = ['string', 'int', 'long', 'big', 'float', 'boolean'];

/** The types of the values at places. */
export class InferredTypes {
  readonly objects: InferredObject[] = [];
  readonly #names = new TypeNames();

  /**
   * - Values of one kind have its type; numbers are Int if each of them fits, else BigInt if one is a whole number beyond 2^53, else Float.
   * - Fields named like ids are ID if each value is a text or a whole number.
   * - Scalars of several kinds are String, which prints each of them.
   * - Everything else is JSON, which takes any value: objects beside other values, objects whose keys are no names, values that were always null.
   *
   * @param parent name of the type that has the field
   */
  typeOf(place: Place, parent: string, key: string): InferredType {
    const { kinds } = place;
    if (kinds.size === 0) return json('null in each record that was read');
    if (place.isObject) {
      const object = this.#object(place, parent, key);
      return { type: object.name, object, note: undefined };
    }
    if (kinds.size === 1 && kinds.has('list')) {
      const items = place.items && this.typeOf(place.items, parent, key);
      const isUnknown = place.items?.kinds.size === 0;
      return items ? { ...items, type: `[${items.type}]`, note: isUnknown ? EMPTY : items.note } : json(TOO_DEEP);
    }
    if (kinds.has('object') || kinds.has('list'))
      return json(kinds.size === 1 ? UNTYPED : `values of several kinds: ${listed(kinds)}`);
    return this.#scalar(place, key);
  }

  #object(place: Place, parent: string, key: string): InferredObject {
    const name = this.#names.of(parent, key);
    const object = { name, fields: [] as InferredField[], leftOut: place.unusableKeys };
    // Before the types of its fields, in the order of reading.
    this.objects.push(object);
    for (const [field, at] of place.usableKeys) object.fields.push({ name: field, ...this.typeOf(at, name, field) });
    return object;
  }

  #scalar({ kinds, time }: Place, key: string): InferredType {
    const has = (...some: Kind[]) => SCALAR_KINDS.every((kind) => !kinds.has(kind) || some.includes(kind));
    const scalar = (type: string, note?: string) => ({ type, object: undefined, note });
    if (isIdName(key) && has('string', 'int', 'long', 'big')) return scalar('ID');
    if (has('string', 'big') && kinds.has('string'))
      return scalar('String', time && `an ISO 8601 time, such as ${time}`);
    if (has('boolean')) return scalar('Boolean');
    if (has('int')) return scalar('Int');
    if (has('int', 'long')) return scalar('Float', 'whole numbers that Int cannot hold');
    if (has('int', 'long', 'big')) return scalar('BigInt', 'whole numbers beyond 2^53, which clients receive as text');
    if (has('int', 'long', 'big', 'float')) return scalar('Float');
    return scalar('String', `values of several kinds: ${listed(kinds)}`);
  }
}

const EMPTY = 'no items in any record that was read';
const UNTYPED = 'objects whose keys are data, or no names of GraphQL';
const TOO_DEEP = 'too deep for types of its own';

function json(note: string): InferredType {
  return { type: 'JSON', object: undefined, note };
}

function listed(kinds: ReadonlySet<Kind>): string {
  return [
    ...new Set([...kinds].map((kind) => (['int', 'long', 'big', 'float'].includes(kind) ? 'number' : kind))),
  ].join(', ');
}
