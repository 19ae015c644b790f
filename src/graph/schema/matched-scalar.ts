import { getNamedType, getNullableType, isListType, isScalarType, isSpecifiedScalarType } from 'graphql';
import type { GraphQLInputType } from 'graphql';

/** The custom scalar of an argument that is compared with values of records: its values are compared as they are serialized. */
export interface MatchedScalar {
  /** True if the argument is a list of the scalar. A value of the scalar may be an array, too. */
  readonly isList: boolean;
  readonly serialize: (value: unknown) => unknown;
}

/** undefined: the type is no custom scalar and no list of one. */
export function matchedScalarOf(type: GraphQLInputType): MatchedScalar | undefined {
  const named = getNamedType(type);
  if (!isScalarType(named) || isSpecifiedScalarType(named)) return undefined;
  return { isList: isListType(getNullableType(type)), serialize: (value) => named.serialize(value) };
}
