import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { GraphQLField, GraphQLInputType, GraphQLOutputType, GraphQLSchema } from 'graphql';
import { hasResolver } from '../execution/executable.ts';
import { KEY_PART, headerOf, isKeyPart, isRecordPart, pathInKey } from '../record-parts.ts';
import type { Binding } from './binding.ts';
import type { ComparedValue, ExampleRecord, RecordPart } from './event-source-type.ts';

type Field = GraphQLField<unknown, unknown>;

/** Values of an example. Types that require each other have no end, and many that require many have more than anybody writes. */
const MAX_VALUES = 200;

/** How a row is written with an envelope; the others that crier has write it as it is. */
const WRAPPED: Readonly<Record<string, object>> = { DEBEZIUM: { before: null, op: 'c' } };
const PLAIN: readonly (string | undefined)[] = [undefined, 'CONNECT', 'DEBEZIUM_FLAT', 'OUTBOX'];

/** Of a name that `crier publish --header` cannot take. */
const UNWRITABLE_HEADER = /[:\s]/;

/** A record that a subscriber of the field receives; undefined: it is not JSON, it is large, or only its producer knows how it looks. */
export function exampleRecord(schema: GraphQLSchema, field: Field, binding: Binding): ExampleRecord | undefined {
  const { format, envelope, payload } = binding;
  const wrapper = WRAPPED[envelope ?? ''];
  if ((format ?? 'JSON') !== 'JSON' || !(wrapper || PLAIN.includes(envelope))) return undefined;
  const size = { values: 0 };
  const row = payload.reduceRight((inner: unknown, key) => ({ [key]: inner }), exampleOf(schema, field.type, size));
  if (size.values > MAX_VALUES) return undefined;
  const isObject = typeof row === 'object' && row !== null && !Array.isArray(row);
  const value = wrapper ? { after: row, ...wrapper } : row;
  if (!isObject) return undefined;
  const own = partsOf(schema, field, binding);
  if (own.some(({ of, path }) => of === 'header' && UNWRITABLE_HEADER.test(path[0]!))) return undefined;
  const parts = own.map((part) => (wrapper && part.of === 'value' ? { ...part, path: ['after', ...part.path] } : part));
  return { value: value as Record<string, unknown>, parts };
}

function partsOf(schema: GraphQLSchema, field: Field, binding: Binding): RecordPart[] {
  const { match, where, filters = [], payload } = binding;
  const examplesOf = (name: string) => examples(field.args.find((one) => one.name === name)!.type);
  const comparedTo = (arg: string): ComparedValue => ({ arg, examples: examplesOf(arg) });
  return [
    ...match.map(({ arg, path }): RecordPart => ({ ...placeOf(path), compared: comparedTo(arg) })),
    ...where.map(({ claim, path }): RecordPart => ({ ...placeOf(path), compared: { claim } })),
    ...filters.map(({ arg, path, op }): RecordPart => {
      const isList = op === 'CONTAINS' && isListAt(schema, field.type, path.split('.').slice(payload.length));
      return { ...placeOf(path), compared: { ...comparedTo(arg), op, ...(isList && { isList }) } };
    }),
  ];
}

function placeOf(path: string): Pick<RecordPart, 'of' | 'path'> {
  if (path === KEY_PART) return { of: 'key', path: [] };
  if (isKeyPart(path)) return { of: 'key', path: pathInKey(path)!.split('.') };
  return isRecordPart(path) ? { of: 'header', path: [headerOf(path)] } : { of: 'value', path: path.split('.') };
}

/** Two values of the type of an argument, or one where it has no more. */
function examples(type: GraphQLInputType): readonly unknown[] {
  const named = getNamedType(type);
  if (isEnumType(named))
    return named
      .getValues()
      .slice(0, 2)
      .map(({ name }) => name);
  if (named.name === 'Boolean') return [true, false];
  return named.name === 'Int' || named.name === 'Float' ? [1, 2] : ['1', '2'];
}

/** A value of the type, of an object with the fields that may not be null. @param size counts the values; past the most it goes no deeper */
function exampleOf(schema: GraphQLSchema, type: GraphQLOutputType, size: { values: number }): unknown {
  const nullable = getNullableType(type);
  if (++size.values > MAX_VALUES || isListType(nullable)) return [];
  if (isLeafType(nullable)) return examples(nullable)[0];
  const [named] = isAbstractType(nullable) ? schema.getPossibleTypes(nullable) : [nullable];
  if (!isObjectType(named)) return {};
  const required = Object.values(named.getFields()).filter((one) => isNonNullType(one.type) && !hasResolver(one));
  const values = required.map((one): [string, unknown] => [one.name, exampleOf(schema, one.type, size)]);
  return { ...(isAbstractType(nullable) && { __typename: named.name }), ...Object.fromEntries(values) };
}

function isListAt(schema: GraphQLSchema, type: GraphQLOutputType, path: readonly string[]): boolean {
  const nullable = getNullableType(type);
  const [key, ...rest] = path;
  if (key === undefined) return isListType(nullable);
  const named = getNamedType(nullable);
  const types = isAbstractType(named) ? schema.getPossibleTypes(named) : isObjectType(named) ? [named] : [];
  const fields = types.flatMap((one) => one.getFields()[key] ?? []);
  return fields.some((one) => isListAt(schema, one.type, rest));
}
