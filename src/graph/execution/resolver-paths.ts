import { Kind, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { DocumentNode, FragmentDefinitionNode, GraphQLSchema, SelectionSetNode } from 'graphql';
import { hasResolver } from './executable.ts';
import type { Operation } from '../documents/operation.ts';

const MAX_PATHS = 16;

/** Response paths of an operation's fields that have a resolver, at most 16. List indexes are left out. */
export function resolverPaths(schema: GraphQLSchema, { document, definition }: Operation): readonly string[] {
  const paths = new Set<string>();
  const types = new TypeInfo(schema);
  const path: string[] = [];
  const selections = expanded(document, definition.selectionSet);
  visit(
    { ...definition, selectionSet: selections },
    visitWithTypeInfo(types, {
      Field: {
        enter(node) {
          path.push((node.alias ?? node.name).value);
          const field = types.getFieldDef();
          if (field && hasResolver(field) && paths.size < MAX_PATHS) paths.add(path.join('.'));
        },
        leave() {
          path.pop();
        },
      },
    }),
  );
  return [...paths];
}

/** A valid selection set with inline fragments instead of fragment spreads. */
function expanded(document: DocumentNode, set: SelectionSetNode): SelectionSetNode {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  const expand = (selectionSet: SelectionSetNode): SelectionSetNode => ({
    kind: Kind.SELECTION_SET,
    selections: selectionSet.selections.map((node) => {
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        const { typeCondition, selectionSet: inner } = fragments.get(node.name.value)!;
        return { kind: Kind.INLINE_FRAGMENT, typeCondition, selectionSet: expand(inner) };
      }
      return node.selectionSet ? { ...node, selectionSet: expand(node.selectionSet) } : node;
    }),
  });
  return expand(set);
}
