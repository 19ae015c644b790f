import type { GraphQLInterfaceType, GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import type { ExecutionContext } from '../context/context.ts';

type EntityType = GraphQLObjectType | GraphQLInterfaceType;

/** The `__resolveReference` of an entity: loads the entity that a representation names by its key. null: there is none. */
export type ReferenceResolver = (
  representation: Readonly<Record<string, unknown>>,
  context: ExecutionContext,
  info: GraphQLResolveInfo,
) => unknown;

/** Key in the extensions of types that have a `__resolveReference`. */
const RESOLVE_REFERENCE = 'crier.resolveReference';

export function referenceResolverOf({ extensions }: Pick<EntityType, 'extensions'>): ReferenceResolver | undefined {
  return extensions[RESOLVE_REFERENCE] as ReferenceResolver | undefined;
}

export function setReferenceResolver(type: EntityType, resolve: ReferenceResolver): void {
  type.extensions = { ...type.extensions, [RESOLVE_REFERENCE]: resolve };
}
