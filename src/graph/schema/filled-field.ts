import { getNullableType, isInterfaceType, isObjectType, isScalarType, isSpecifiedScalarType } from 'graphql';
import type { GraphQLField, GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema } from 'graphql';

type Field = GraphQLField<unknown, unknown>;

/** Kinds of fields that hold text. */
export const TEXT = ['String', 'ID', 'custom'];

/** Kinds of fields that hold a time. */
export const TIME = ['String', 'Float', 'custom'];

/** Of `Date`; a producer may send any 64-bit number. */
const MAX_TIMESTAMP = 8.64e15;

/** The value of a time in ms since 1970: the number for a Float, else text; null for what is no time. */
export function timeValue(ms: number, kind: string): number | string | null {
  if (ms <= 0 || ms > MAX_TIMESTAMP) return null;
  return kind === 'Float' ? ms : new Date(ms).toISOString();
}

/** The name of a scalar of GraphQL; `custom` for another scalar; '' for any other type. */
export function scalarKindOf({ type }: Pick<Field, 'type'>): string {
  const named = getNullableType(type);
  if (!isScalarType(named)) return '';
  return isSpecifiedScalarType(named) ? named.name : 'custom';
}

/** Scalars, as a person names them. */
export function listedKinds(kinds: readonly string[]): string {
  return kinds.map((kind) => (kind === 'custom' ? 'a custom scalar' : kind)).join(', ');
}

/** A field, and the type that it is of. */
export interface OwnedField {
  readonly type: GraphQLObjectType | GraphQLInterfaceType;
  readonly field: Field;
}

/** The fields of all object types and interfaces. */
export function* fieldsOf(schema: GraphQLSchema): Iterable<OwnedField> {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) yield { type, field };
  }
}

/** Why no directive may fill the field; undefined: one may. */
export function placeProblem(schema: GraphQLSchema, type: GraphQLObjectType, field: Field): string | undefined {
  if ([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].includes(type)) {
    return `is on a field of ${type.name}; put it on a field of a type that a @kafka field returns`;
  }
  return field.resolve ? 'is on a field that has a resolver; remove one of them' : undefined;
}
