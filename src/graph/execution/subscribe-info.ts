import { Kind } from 'graphql';
import type { FieldNode, FragmentDefinitionNode, GraphQLResolveInfo, GraphQLSchema, SelectionSetNode } from 'graphql';
import type { SubscriptionArguments } from './subscription-arguments.ts';
import type { Operation } from '../documents/operation.ts';

/** The `info` of a `subscribe`, as in graphql-js; no other call gets its operation and field nodes. */
export function subscribeInfo(
  schema: GraphQLSchema,
  operation: Operation,
  { field, variables }: SubscriptionArguments,
): GraphQLResolveInfo {
  const parentType = schema.getSubscriptionType()!;
  const fragments = fragmentsOf(operation);
  return {
    fieldName: field.name,
    fieldNodes: rootFields(operation.definition.selectionSet, fragments),
    returnType: field.type,
    parentType,
    path: { prev: undefined, key: responseKeyOf(operation), typename: parentType.name },
    schema,
    fragments,
    rootValue: undefined,
    operation: { ...operation.definition },
    variableValues: variables,
  };
}

/** The response key of a valid subscription's one root field. */
export function responseKeyOf(operation: Operation): string {
  const { alias, name } = rootFields(operation.definition.selectionSet, fragmentsOf(operation))[0]!;
  return (alias ?? name).value;
}

function fragmentsOf({ document }: Operation): Record<string, FragmentDefinitionNode> {
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node;
  }
  return fragments;
}

/** All field nodes at the root: a valid subscription has one response key there, without conditions. */
function rootFields(
  set: SelectionSetNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  visited = new Set<string>(),
): FieldNode[] {
  return set.selections.flatMap((node) => {
    if (node.kind === Kind.FIELD) return [node];
    if (node.kind === Kind.INLINE_FRAGMENT) return rootFields(node.selectionSet, fragments, visited);
    const { value: name } = node.name;
    if (visited.has(name)) return [];
    visited.add(name);
    return rootFields(fragments[name]!.selectionSet, fragments, visited);
  });
}
