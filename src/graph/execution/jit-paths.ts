import { Kind, isAbstractType, isListType, isNonNullType, isObjectType } from 'graphql';
import type {
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLOutputType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';

/**
 * Fields that graphql-jit may generate code for; it has no bound of its own. Code grows with every type that a value may have, at every
 * level. A document within the document limits stays far below, unless it nests interfaces of many types.
 */
const MAX_FIELDS = 5_000;

/**
 * Walks the fields that graphql-jit would generate code for: fragments expanded, an abstract value once for each of its types.
 * @returns why the operation must not be compiled; undefined: it may
 */
export function pathObstacle(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  hasCondition: boolean,
): string | undefined {
  const root = schema.getRootType(operation.operation);
  const walk = new PathWalk(schema, document, hasCondition);
  if (root) walk.set(operation.selectionSet, root.name, [], 0);
  return walk.obstacle;
}

class PathWalk {
  readonly #schema: GraphQLSchema;
  readonly #hasCondition: boolean;
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #paths = new Map<string, string>();
  #fields = 0;
  obstacle: string | undefined;

  constructor(schema: GraphQLSchema, document: DocumentNode, hasCondition: boolean) {
    this.#schema = schema;
    this.#hasCondition = hasCondition;
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
    }
  }

  /** @param path as graphql-jit names it: from the end, with types of abstract values and indexes of lists */
  set(set: SelectionSetNode, typeName: string, path: readonly string[], lists: number): void {
    const type = this.#schema.getType(typeName);
    if (!isObjectType(type)) return;
    for (const selection of set.selections) {
      if (this.obstacle !== undefined) return;
      if (++this.#fields > MAX_FIELDS) this.obstacle = 'too many fields';
      else if (selection.kind === Kind.FIELD) {
        const below = [(selection.alias ?? selection.name).value, ...path];
        this.#add(below);
        const field = type.getFields()[selection.name.value];
        if (field && selection.selectionSet) this.#value(selection.selectionSet, field.type, below, lists);
      } else {
        const fragment =
          selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection;
        if (fragment) this.set(fragment.selectionSet, typeName, path, lists);
      }
    }
  }

  #value(set: SelectionSetNode, type: GraphQLOutputType, path: readonly string[], lists: number): void {
    if (isNonNullType(type)) this.#value(set, type.ofType, path, lists);
    else if (isListType(type)) this.#value(set, type.ofType, [`idx${lists}`, ...path], lists + 1);
    else if (isObjectType(type)) this.set(set, type.name, path, lists);
    else if (isAbstractType(type)) {
      for (const { name } of this.#schema.getPossibleTypes(type)) this.set(set, name, [name, ...path], lists);
    }
  }

  #add(path: readonly string[]): void {
    // Two fields whose joined paths are equal share one `info`: b_c of a, and c of b of a.
    const joined = path.join('_');
    const exact = path.join(' ');
    const known = this.#paths.get(joined);
    if (known !== undefined && known !== exact) this.obstacle ??= `the path ${exact} reads like another`;
    // The condition of one selection is lost if the field is selected again.
    if (known === exact && this.#hasCondition) this.obstacle ??= '@skip or @include beside a field selected twice';
    this.#paths.set(joined, exact);
  }
}
