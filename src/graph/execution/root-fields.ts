import { Kind } from 'graphql';
import type { FieldNode, FragmentDefinitionNode, SelectionSetNode } from 'graphql';
import type { Operation } from '../documents/operation.ts';

/** Distinct names of an operation's root fields. */
export function rootFieldNames(operation: Operation): ReadonlySet<string> {
  const nodes = rootFields(operation.definition.selectionSet, fragmentsOf(operation));
  return new Set(nodes.map(({ name }) => name.value));
}

/** The name of an operation's only root field; '' if it has several. */
export function rootFieldLabel(operation: Operation): string {
  const [field, ...others] = rootFieldNames(operation);
  return field === undefined || others.length > 0 ? '' : field;
}

export function fragmentsOf({ document }: Operation): Record<string, FragmentDefinitionNode> {
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node;
  }
  return fragments;
}

/** All field nodes at the root: a valid subscription has one response key there, without conditions. */
export function rootFields(
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
