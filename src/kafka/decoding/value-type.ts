import type { SchemaReference } from './decoder.ts';

/**
 * What values are in a payload.
 *
 * - `int`: whole numbers of 32 bits; `long`: larger ones, which are texts where a number would lose digits
 * - `text`: decimals, times and bytes are texts, too
 * - `json`: JSON whose keys are data, as those of a map are, or that is of no one type
 * - `unknown`: the schema does not say it
 */
export type ValueKind = 'int' | 'long' | 'float' | 'boolean' | 'text' | 'enum' | 'list' | 'object' | 'json' | 'unknown';

/** What a schema says of the values at one place of the payloads. */
export interface ValueType {
  readonly kind: ValueKind;
  /** False: each payload of the schema has a value here, and none is null. */
  readonly isNullable: boolean;
  /** For a person: what a text stands for. */
  readonly note?: string | undefined;
  /** Of a list. */
  readonly items?: ValueType;
  readonly enum?: EnumType;
  readonly object?: ObjectType;
}

export interface EnumType {
  /** In the schema, without a namespace; '': it has none. */
  readonly name: string;
  readonly doc?: string | undefined;
  readonly symbols: readonly string[];
}

/** An object of a schema. A schema that contains itself contains the same object again. */
export interface ObjectType {
  /** In the schema, without a namespace; '': it has none. */
  readonly name: string;
  readonly doc?: string | undefined;
  /** Computed when they are read. */
  readonly fields: readonly FieldType[];
}

export interface FieldType {
  /** In the payload. */
  readonly name: string;
  readonly doc?: string | undefined;
  readonly type: ValueType;
}

/** Names of an object's fields in the payload, in their order; undefined: the field is dropped. */
export type NamesOf = (fields: readonly string[]) => readonly (string | undefined)[];

/**
 * Reads what a schema says of its values.
 * @param references every schema that it refers to; a schema comes after those that it refers to
 * @throws Error if the schema cannot be used; the message says why
 */
export type DescribeSchema = (text: string, references: readonly SchemaReference[], namesOf: NamesOf) => ValueType;

export const UNKNOWN: ValueType = { kind: 'unknown', isNullable: true };
/** Of values that the schema names no keys of. */
export const DATA: ValueType = { kind: 'json', isNullable: true, note: 'an object whose keys are data' };
export const BASE64 = 'bytes in base64';
export const DECIMAL = 'a decimal with all its digits';

export function nullable(type: ValueType): ValueType {
  return type.isNullable ? type : { ...type, isNullable: true };
}

/** An object whose fields are computed once. */
export function objectType(
  { name, doc }: Pick<ObjectType, 'name' | 'doc'>,
  fieldsOf: () => readonly FieldType[],
): ObjectType {
  let fields: readonly FieldType[] | undefined;
  return {
    name,
    doc,
    get fields() {
      return (fields ??= fieldsOf());
    },
  };
}

/** The name without its namespace. */
export function lastName(name: unknown): string {
  return typeof name === 'string' ? name.slice(name.lastIndexOf('.') + 1) : '';
}

export function docOf(text: unknown): string | undefined {
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}
