import { Kind, getNamedType, isInterfaceType, isObjectType } from 'graphql';
import type { FieldNode, FragmentDefinitionNode, GraphQLNamedType, GraphQLSchema, SelectionSetNode } from 'graphql';
import type { Operation } from '../documents/operation.ts';

/** A selection set and the type that it is written for. */
interface Scope {
  readonly type: GraphQLNamedType | undefined;
  readonly set: SelectionSetNode;
}

/** A field of a selection set and the type that it is selected on. */
interface Selected {
  readonly parent: GraphQLNamedType | undefined;
  readonly node: FieldNode;
}

/**
 * The schema coordinate of the field at a response path, such as `Auction.seller`. It has no client's aliases, so there are no more
 * coordinates than the schema has fields. Below an interface or union it has the type that the document names.
 * undefined: the operation has no field there.
 */
export function fieldCoordinate(
  schema: GraphQLSchema,
  { document, definition }: Pick<Operation, 'document' | 'definition'>,
  path: readonly (string | number)[],
): string | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of document.definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
  const visit = ({ type, set }: Scope, responseKey: string): Selected[] =>
    set.selections.flatMap((node) => {
      if (node.kind === Kind.FIELD) {
        return (node.alias ?? node.name).value === responseKey ? { parent: type, node } : [];
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
      if (!fragment) return [];
      const condition = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value);
      return visit({ type: condition ?? type, set: fragment.selectionSet }, responseKey);
    });

  let scopes: Scope[] = [{ type: schema.getRootType(definition.operation) ?? undefined, set: definition.selectionSet }];
  let coordinate: string | undefined;
  for (const key of path) {
    if (typeof key === 'number') continue;
    const selected: Selected[] = scopes.flatMap((scope) => visit(scope, key));
    const [first] = selected;
    if (!first?.parent) return undefined;
    coordinate = `${first.parent.name}.${first.node.name.value}`;
    scopes = selected.flatMap(({ parent, node }) =>
      node.selectionSet ? { type: typeOf(parent, node), set: node.selectionSet } : [],
    );
  }
  return coordinate;
}

function typeOf(parent: GraphQLNamedType | undefined, node: FieldNode): GraphQLNamedType | undefined {
  const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
  return field && getNamedType(field.type);
}
