import { objectType, UNKNOWN } from './value-type.ts';
import type { FieldType, ObjectType, ValueKind, ValueType } from './value-type.ts';

const NUMBERS: readonly ValueKind[] = ['int', 'long', 'float'];
const SCALARS: readonly ValueKind[] = [...NUMBERS, 'boolean', 'text', 'enum'];

/** What is true of values that are of one of several types: the branches of a union, or the schemas of one topic. */
export class MergedTypes {
  /** A type that contains itself would be merged without end. */
  readonly #objects = new Map<ObjectType, Map<ObjectType, ObjectType>>();

  of(types: readonly ValueType[]): ValueType {
    const [first = UNKNOWN, ...others] = types;
    return others.reduce((merged, type) => this.#pair(merged, type), first);
  }

  #pair(a: ValueType, b: ValueType): ValueType {
    if (a === b) return a;
    const isNullable = a.isNullable || b.isNullable;
    const note = a.note === b.note ? a.note : undefined;
    if (a.kind !== b.kind) return { kind: kindOf(a.kind, b.kind), isNullable, note: noteOf(a, b) };
    if (a.object && b.object) return { kind: 'object', isNullable, object: this.#object(a.object, b.object) };
    if (a.items && b.items) return { kind: 'list', isNullable, items: this.#pair(a.items, b.items) };
    if (a.enum && b.enum) {
      const symbols = [...new Set([...a.enum.symbols, ...b.enum.symbols])];
      return { kind: 'enum', isNullable, enum: { ...a.enum, symbols } };
    }
    return { kind: a.kind, isNullable, note };
  }

  #object(a: ObjectType, b: ObjectType): ObjectType {
    if (a === b) return a;
    let known = this.#objects.get(a);
    if (!known) this.#objects.set(a, (known = new Map<ObjectType, ObjectType>()));
    const merged = known.get(b) ?? objectType(a, () => this.#fields(a.fields, b.fields));
    known.set(b, merged);
    return merged;
  }

  /** A field that only one of them has may be absent. */
  #fields(a: readonly FieldType[], b: readonly FieldType[]): readonly FieldType[] {
    const others = new Map(b.map((field) => [field.name, field]));
    const merged = a.map((field) => {
      const other = others.get(field.name);
      others.delete(field.name);
      if (!other) return absentSometimes(field);
      return { name: field.name, doc: field.doc ?? other.doc, type: this.#pair(field.type, other.type) };
    });
    return [...merged, ...[...others.values()].map(absentSometimes)];
  }
}

function absentSometimes(field: FieldType): FieldType {
  return { ...field, type: { ...field.type, isNullable: true } };
}

/** Int and long are long; a text can show each scalar. */
function kindOf(a: ValueKind, b: ValueKind): ValueKind {
  if (a === 'unknown' || b === 'unknown') return 'unknown';
  const kinds = [a, b];
  if (kinds.every((kind) => NUMBERS.includes(kind))) return kinds.includes('float') ? 'float' : 'long';
  return kinds.every((kind) => SCALARS.includes(kind)) ? 'text' : 'json';
}

function noteOf({ kind: a, note }: ValueType, { kind: b }: ValueType): string | undefined {
  const kind = kindOf(a, b);
  return kind === 'text' || kind === 'json' ? `values of several kinds: ${a}, ${b}` : kind === b ? undefined : note;
}
