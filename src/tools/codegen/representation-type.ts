import { getNullableType, isListType, isNonNullType, isScalarType } from 'graphql';
import type { GraphQLNamedType, GraphQLOutputType } from 'graphql';
import type { FieldSet } from '../../graph/federation/field-set.ts';
import type { TypedType } from './typed-schema.ts';

/** The TypeScript type of what the `__resolveReference` of an entity receives: the fields of one key, and those of @requires. */
export function representationType(name: string, { keys, fields }: NonNullable<TypedType['entity']>): string {
  const [first, ...others] = keys.map((key) => objectType(key, ''));
  const parts = [
    `{ readonly __typename: '${name}' }`,
    others.length > 0 ? `(${[first, ...others].join(' | ')})` : first!,
  ];
  const isWhole = others.length === 0 && fields.size === keys[0]!.size;
  return [...parts, ...(isWhole ? [] : [objectType(fields, '?')])].join(' & ');
}

function objectType(fields: FieldSet, optional: '' | '?'): string {
  const members = Array.from(
    fields,
    ([name, field]) => `readonly ${name}${optional}: ${valueType(field.type, field.fields)}`,
  );
  return `{ ${members.join('; ')} }`;
}

function valueType(type: GraphQLOutputType, fields: FieldSet | undefined): string {
  const nullable = getNullableType(type);
  const text = isListType(nullable)
    ? `ReadonlyArray<${valueType(nullable.ofType, fields)}>`
    : fields
      ? objectType(fields, '')
      : leafType(nullable);
  return isNonNullType(type) ? text : `Maybe<${text}>`;
}

/** Coerced like an argument. */
function leafType(type: GraphQLNamedType): string {
  return isScalarType(type) ? `Scalars['${type.name}']['input']` : `ResolversTypes['${type.name}']`;
}
