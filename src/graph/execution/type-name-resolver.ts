import { isUnionType } from 'graphql';
import type { GraphQLAbstractType, GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { isThenable } from '../thenable.ts';
import { UnfitResultError } from './unfit-result.ts';

/** Of a name that is logged. */
const MAX_NAME_LENGTH = 100;

/**
 * Finds the name of a value's type: by the graph's `__resolveType`, else by `__typename`.
 * @throws what `__resolveType` throws, and UnfitResultError if it names no possible type or returns a promise, for which compiled code does not wait
 */
export type TypeNameResolver = (value: unknown, context: unknown, info: GraphQLResolveInfo) => string;

/** @param type with the graph's own `resolveType` */
export function typeNameResolver(schema: GraphQLSchema, type: GraphQLAbstractType): TypeNameResolver {
  const authored = type.resolveType;
  const names = schema.getPossibleTypes(type).map(({ name }) => name);
  const unresolved = authored
    ? `${type.name}.__resolveType must return, without a promise, one of: ${names.join(', ')}; it returned `
    : `the type of a value of the ${isUnionType(type) ? 'union' : 'interface'} ${type.name} is unknown; write a "__typename" into the ` +
      `record (${names.join(', ')}), or write export const ${type.name} = { __resolveType(value) { … } } in resolvers.ts; ` +
      'its "__typename" is ';
  return (value, context, info) => {
    const name: unknown = authored
      ? authored(value, context, info, type)
      : (value as { __typename?: unknown }).__typename;
    if (typeof name === 'string' && names.includes(name)) return name;
    if (isThenable(name)) name.then(undefined, () => undefined);
    const found = typeof name === 'string' ? JSON.stringify(name.slice(0, MAX_NAME_LENGTH)) : kindOf(name);
    const field = `${info.parentType.name}.${info.fieldName}`;
    throw new UnfitResultError(
      `Abstract type "${type.name}" must resolve to an Object type at runtime for field "${field}".`,
      `${field}: ${unresolved}${found}`,
    );
  };
}

function kindOf(name: unknown): string {
  return isThenable(name) ? 'a promise' : typeof name;
}
