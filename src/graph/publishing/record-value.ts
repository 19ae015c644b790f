import { isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { GraphQLInputObjectType, GraphQLInputType } from 'graphql';

type NameOf = (key: string) => string;

/** A coerced input value as JSON data: scalars and enums as they are serialized, and named keys. Absent fields stay absent. */
export function recordValue(type: GraphQLInputType, value: unknown, nameOf: NameOf): unknown {
  if (isNonNullType(type)) return recordValue(type.ofType, value, nameOf);
  if (value === null || value === undefined) return null;
  if (isListType(type)) return (value as readonly unknown[]).map((item) => recordValue(type.ofType, item, nameOf));
  if (isInputObjectType(type)) return recordObject(Object.values(type.getFields()), value, nameOf);
  const serialized: unknown = type.serialize(value);
  return typeof serialized === 'bigint' ? String(serialized) : serialized;
}

/** An input object's fields, or a field's arguments. */
export function recordObject(
  parts: readonly { readonly name: string; readonly type: GraphQLInputType }[],
  values: object,
  nameOf: NameOf,
): Record<string, unknown> {
  const given = parts.filter(({ name }) => Object.hasOwn(values, name));
  const member = ({ name, type }: (typeof parts)[number]) => [
    nameOf(name),
    recordValue(type, (values as Readonly<Record<string, unknown>>)[name], nameOf),
  ];
  return Object.fromEntries(given.map(member)) as Record<string, unknown>;
}

/** Names of one object that become the same key; undefined: all keys differ. */
export function collisionIn(
  parts: readonly { readonly name: string; readonly type: GraphQLInputType }[],
  nameOf: NameOf,
  visited = new Set<GraphQLInputObjectType>(),
): readonly [string, string] | undefined {
  const names = new Map<string, string>();
  for (const { name, type } of parts) {
    const other = names.get(nameOf(name));
    if (other !== undefined) return [other, name];
    names.set(nameOf(name), name);
    const named = innermost(type);
    if (!isInputObjectType(named) || visited.has(named)) continue;
    visited.add(named);
    const below = collisionIn(Object.values(named.getFields()), nameOf, visited);
    if (below) return below;
  }
  return undefined;
}

function innermost(type: GraphQLInputType): GraphQLInputType {
  return isNonNullType(type) || isListType(type) ? innermost(type.ofType) : type;
}
