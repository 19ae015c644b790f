import { isVariableScale, rawColumn } from '../../graph/record-check/raw-values.ts';
import type { RawValue } from '../../graph/record-check/raw-values.ts';
import { UNKNOWN } from '../../kafka/decoding/value-type.ts';
import type { EnumType, ObjectType, ValueType } from '../../kafka/decoding/value-type.ts';
import { visible } from '../../base/visible.ts';
import { isIdName } from './key-field.ts';
import { isUsable } from './place.ts';
import type { Kind, Place } from './place.ts';
import { TypeNames } from './type-names.ts';

/** A field of a type. */
export interface InferredField {
  readonly name: string;
  /** As in SDL, without the `!` of the field itself. */
  readonly type: string;
  /** True: the schema of the records requires it, and crier never makes it null. */
  readonly isRequired: boolean;
  /** Of its value, or of the items of its list. */
  readonly object: InferredObject | undefined;
  /** For a comment. */
  readonly note: string | undefined;
  /** For a description. */
  readonly doc?: string | undefined;
  /** What its values look like, which Debezium wrote without a schema. */
  readonly raw?: RawValue | undefined;
}

/** An object type. */
export interface InferredObject {
  readonly name: string;
  readonly doc?: string | undefined;
  readonly fields: readonly InferredField[];
  /** Keys that cannot be fields. */
  readonly leftOut: readonly string[];
}

export type InferredEnum = EnumType;

type InferredType = Omit<InferredField, 'name'>;

const SCALAR_KINDS: readonly Kind[] = ['string', 'int', 'long', 'big', 'float', 'boolean'];
/** What converters call the objects of a schema. */
const NO_NAMES = /^(?:|value|key|envelope|record|connectdefault\d*)$/i;
const NO_SYMBOL = /^(?:true|false|null|__.*)$/;
const MAX_LISTED = 10;

/** The types of the values at places: those that a schema says, else those of the records. */
export class InferredTypes {
  readonly objects: InferredObject[] = [];
  readonly enums: InferredEnum[] = [];
  readonly #names = new TypeNames();
  /** An object that contains itself has one type. */
  readonly #written = new Map<ObjectType, InferredObject>();
  readonly #writtenEnums = new Map<string, string>();
  readonly #isUntyped: boolean;

  /** @param isUntyped true: the values are those of Debezium in JSON without a schema */
  constructor(isUntyped = false) {
    this.#isUntyped = isUntyped;
  }

  /**
   * What a schema says comes first. Where it says nothing:
   * - Values of one kind have its type; numbers are Int if each of them fits, else BigInt if one is a whole number beyond 2^53, else Float.
   * - Scalars of several kinds are String, which prints each of them.
   * - Everything else is JSON, which takes any value: objects beside other values, objects whose keys are no names, values that were always null.
   *
   * Fields named like ids are ID if each value is a text or a whole number.
   *
   * @param place of values in records; undefined: there are none
   * @param parent name of the type that has the field
   */
  typeOf(place: Place | undefined, parent: string, key: string, written: ValueType = UNKNOWN): InferredType {
    if (written.kind === 'unknown') return place ? this.#notedType(place, parent, key) : json(NULL);
    return { ...this.#writtenType(place, parent, key, written), isRequired: !written.isNullable };
  }

  #writtenType(place: Place | undefined, parent: string, key: string, written: ValueType): InferredType {
    const { kind, note, items, object } = written;
    switch (kind) {
      case 'int':
        return isIdName(key) ? scalar('ID') : scalar('Int');
      case 'long':
        return isIdName(key) ? scalar('ID') : scalar('BigInt');
      case 'text':
        return isIdName(key) ? scalar('ID') : scalar('String', note);
      case 'float':
        return scalar('Float');
      case 'boolean':
        return scalar('Boolean');
      case 'enum':
        return this.#enum(written.enum!, parent, key);
      case 'list': {
        const item = this.typeOf(place?.items, parent, key, items);
        return { ...item, type: `[${item.type}${item.isRequired ? '!' : ''}]` };
      }
      case 'object': {
        const type = this.#writtenObject(object!, place, parent, key);
        return type ? { ...scalar(type.name), object: type } : json(UNTYPED);
      }
      default:
        return json(note);
    }
  }

  /** undefined: GraphQL can have none of its fields. */
  #writtenObject(
    object: ObjectType,
    place: Place | undefined,
    parent: string,
    key: string,
  ): InferredObject | undefined {
    const known = this.#written.get(object);
    if (known) return known;
    const usable = object.fields.filter(({ name }) => isUsable(name));
    if (usable.length === 0) return undefined;
    const isRoot = parent === '';
    const name = isRoot || NO_NAMES.test(object.name) ? this.#names.of(parent, key) : this.#names.of('', object.name);
    const fields: InferredField[] = [];
    const leftOut = object.fields.filter((field) => !isUsable(field.name)).map((field) => field.name);
    const type = { name, doc: object.doc, fields, leftOut };
    this.#written.set(object, type);
    this.objects.push(type);
    for (const { name: field, type: of, doc } of usable) {
      const inferred = this.typeOf(place?.keys.get(field), name, field, of);
      // Kafka Connect writes what it says of a type at each field of the type.
      fields.push({ name: field, ...inferred, doc: doc === of.object?.doc ? undefined : doc });
    }
    return type;
  }

  #enum(written: EnumType, parent: string, key: string): InferredType {
    const { name, symbols, doc } = written;
    const others = symbols.filter((symbol) => !isSymbol(symbol));
    if (others.length > 0 || symbols.length === 0) {
      const shown = symbols.slice(0, MAX_LISTED).map(visible).join(', ');
      const more = symbols.length > MAX_LISTED ? ` and ${symbols.length - MAX_LISTED} more` : '';
      return scalar('String', `one of ${shown}${more}: an enum of GraphQL cannot have each of them`);
    }
    const identity = JSON.stringify([name === '' ? [parent, key] : name, symbols]);
    let type = this.#writtenEnums.get(identity);
    if (type === undefined) {
      type = NO_NAMES.test(name) ? this.#names.of(parent, key) : this.#names.of('', name);
      this.#writtenEnums.set(identity, type);
      this.enums.push({ name: type, doc, symbols: [...new Set(symbols)] });
    }
    return scalar(type);
  }

  /** The type, with what shows that the values are not what it is. */
  #notedType(place: Place, parent: string, key: string): InferredType {
    const type = this.#seenType(place, parent, key);
    const { examples } = place.items ?? place;
    const raw = this.#isUntyped && parent !== '' ? rawColumn(key, examples) : undefined;
    return raw ? { ...type, raw, note: `a value ${raw.likeness}; ${raw.fix}` } : type;
  }

  #seenType(place: Place, parent: string, key: string): InferredType {
    const { kinds } = place;
    if (kinds.size === 0) return json(NULL);
    if (place.isObject) {
      const object = this.#seenObject(place, parent, key);
      return { ...scalar(object.name), object };
    }
    if (kinds.size === 1 && kinds.has('list')) {
      const items = place.items && this.#seenType(place.items, parent, key);
      const isUnknown = place.items?.kinds.size === 0;
      return items ? { ...items, type: `[${items.type}]`, note: isUnknown ? EMPTY : items.note } : json(TOO_DEEP);
    }
    if (kinds.has('object') || kinds.has('list'))
      return json(kinds.size === 1 ? UNTYPED : `values of several kinds: ${listed(kinds)}`);
    return seenScalar(place, key);
  }

  #seenObject(place: Place, parent: string, key: string): InferredObject {
    const name = this.#names.of(parent, key);
    const object = { name, fields: [] as InferredField[], leftOut: place.unusableKeys };
    // Before the types of its fields, in the order of reading.
    this.objects.push(object);
    // The bytes of a decimal are named with the decimal.
    const isDecimal = this.#isUntyped && place.examples.every(isVariableScale);
    for (const [field, at] of place.usableKeys) {
      const type = isDecimal ? this.#seenType(at, name, field) : this.typeOf(at, name, field);
      object.fields.push({ name: field, ...type });
    }
    return object;
  }
}

function seenScalar({ kinds, time }: Place, key: string): InferredType {
  const has = (...some: Kind[]) => SCALAR_KINDS.every((kind) => !kinds.has(kind) || some.includes(kind));
  if (isIdName(key) && has('string', 'int', 'long', 'big')) return scalar('ID');
  if (has('string', 'big') && kinds.has('string')) return scalar('String', time && `an ISO 8601 time, such as ${time}`);
  if (has('boolean')) return scalar('Boolean');
  if (has('int')) return scalar('Int');
  if (has('int', 'long')) return scalar('Float', 'whole numbers that Int cannot hold');
  if (has('int', 'long', 'big')) return scalar('BigInt', 'whole numbers beyond 2^53, which clients receive as text');
  if (has('int', 'long', 'big', 'float')) return scalar('Float');
  return scalar('String', `values of several kinds: ${listed(kinds)}`);
}

const NULL = 'null in each record that was read';
const EMPTY = 'no items in any record that was read';
const UNTYPED = 'objects whose keys are data, or no names of GraphQL';
const TOO_DEEP = 'too deep for types of its own';

function scalar(type: string, note?: string): InferredType {
  return { type, isRequired: false, object: undefined, note };
}

function json(note: string | undefined): InferredType {
  return scalar('JSON', note);
}

function isSymbol(symbol: string): boolean {
  return /^[_a-z]\w*$/i.test(symbol) && !NO_SYMBOL.test(symbol);
}

function listed(kinds: ReadonlySet<Kind>): string {
  return [
    ...new Set([...kinds].map((kind) => (['int', 'long', 'big', 'float'].includes(kind) ? 'number' : kind))),
  ].join(', ');
}
