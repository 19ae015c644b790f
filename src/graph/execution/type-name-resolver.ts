import type { GraphQLAbstractType, GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { isThenable } from '../thenable.ts';

/**
 * Finds the name of a value's type: by the graph's `__resolveType`, else by `__typename`.
 * @throws what `__resolveType` throws, and Error if it names no possible type or returns a promise, for which compiled code does not wait
 */
export type TypeNameResolver = (value: unknown, context: unknown, info: GraphQLResolveInfo) => string;

/** @param type with the graph's own `resolveType` */
export function typeNameResolver(schema: GraphQLSchema, type: GraphQLAbstractType): TypeNameResolver {
  const authored = type.resolveType;
  const names = schema.getPossibleTypes(type).map(({ name }) => name);
  return (value, context, info) => {
    const name: unknown = authored
      ? authored(value, context, info, type)
      : (value as { __typename?: unknown }).__typename;
    if (typeof name === 'string' && names.includes(name)) return name;
    if (isThenable(name)) name.then(undefined, () => undefined);
    throw new Error(
      `${type.name}.__resolveType must return, without a promise, one of: ${names.join(', ')}; it returned ` +
        (typeof name === 'string' ? `"${name}"` : typeof name),
    );
  };
}
