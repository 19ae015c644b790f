import { Kind, getNamedType, getNullableType, isAbstractType, isListType, isObjectType } from 'graphql';
import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLField,
  GraphQLObjectType,
  GraphQLSchema,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';
import { hasResolver } from './executable.ts';
import type { Operation } from './operation.ts';

/**
 * A subscription's operation cut in two. Fields without a resolver are read from the payload, which is the same for every
 * connection, so what they give is the same text for all: `common` selects them, with `__typename` in the place of each
 * field that has a resolver. Those are the holes: `own` selects them and what leads to them, and is all that needs
 * executing for one connection more.
 */
export interface Stencil {
  readonly common: DocumentNode;
  readonly own: DocumentNode;
  /** Response keys that lead to each hole, in the order of the result. */
  readonly holes: readonly (readonly string[])[];
}

/** Holes of one operation; with more, little of the text would be common. */
const MAX_HOLES = 16;

/**
 * Cuts an operation, or says undefined where that cannot be: its root field has a resolver, no other field has one, or one
 * that has is below a list, where the number of holes would depend on the event.
 */
export function stencilOf(schema: GraphQLSchema, { document, definition }: Operation): Stencil | undefined {
  const root = schema.getSubscriptionType();
  if (!root) return undefined;
  const cut = new Cut(document);
  const [common, own] = cut.set(definition.selectionSet, root, []);
  const isTopOnly = cut.holes.some((path) => path.length === 1);
  if (!cut.isPossible || isTopOnly || cut.holes.length === 0 || cut.holes.length > MAX_HOLES) return undefined;
  const cutTo = (selections: readonly SelectionNode[], fragments: Iterable<FragmentDefinitionNode>): DocumentNode => ({
    kind: Kind.DOCUMENT,
    definitions: [{ ...definition, selectionSet: setOf(selections) }, ...fragments],
  });
  return { common: cutTo(common, []), own: cutTo(own, cut.fragments.values()), holes: cut.holes };
}

function setOf(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections };
}

/** What is common, and what is a connection's own. */
type Parts = readonly [common: SelectionNode[], own: SelectionNode[]];

class Cut {
  readonly holes: string[][] = [];
  readonly fragments = new Map<string, FragmentDefinitionNode>();
  isPossible = true;
  readonly #seen = new Set<string>();

  constructor(document: DocumentNode) {
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
    }
  }

  /** Of an object type: what a valid document's fragments select here is of that type, whatever their condition says. */
  set({ selections }: SelectionSetNode, type: GraphQLObjectType, path: readonly string[]): Parts {
    const common: SelectionNode[] = [];
    const own: SelectionNode[] = [];
    for (const selection of selections) {
      const parts =
        selection.kind === Kind.FIELD ? this.#field(selection, type, path) : this.#fragment(selection, type, path);
      common.push(...parts[0]);
      own.push(...parts[1]);
    }
    return [common, own];
  }

  #fragment(node: Exclude<SelectionNode, FieldNode>, type: GraphQLObjectType, path: readonly string[]): Parts {
    const inner = node.kind === Kind.INLINE_FRAGMENT ? node : this.fragments.get(node.name.value)!;
    const { directives } = node;
    const wrap = (selections: SelectionNode[]): SelectionNode[] =>
      selections.length === 0
        ? []
        : [{ kind: Kind.INLINE_FRAGMENT, ...(directives && { directives }), selectionSet: setOf(selections) }];
    const [common, own] = this.set(inner.selectionSet, type, path);
    return [wrap(common), wrap(own)];
  }

  #field(node: FieldNode, type: GraphQLObjectType, above: readonly string[]): Parts {
    const field: GraphQLField<unknown, unknown> | undefined = type.getFields()[node.name.value];
    // __typename
    if (!field) return [[node], []];
    const path = [...above, (node.alias ?? node.name).value];
    const named = getNamedType(field.type);
    if (hasResolver(field) || isAbstractType(named)) return this.#hole(node, path);
    if (!node.selectionSet || !isObjectType(named)) return [[node], []];
    const holes = this.holes.length;
    const [common, own] = this.set(node.selectionSet, named, path);
    if (this.holes.length > holes && isListType(getNullableType(field.type))) this.isPossible = false;
    const withSet = (selections: SelectionNode[]): SelectionNode[] =>
      selections.length === 0 ? [] : [{ ...node, selectionSet: setOf(selections) }];
    return [withSet(common), withSet(own)];
  }

  #hole(node: FieldNode, path: string[]): Parts {
    const key = JSON.stringify(path);
    if (!this.#seen.has(key)) {
      this.#seen.add(key);
      this.holes.push(path);
    }
    const { directives } = node;
    const alias = { kind: Kind.NAME, value: path.at(-1)! } as const;
    const name = { kind: Kind.NAME, value: '__typename' } as const;
    return [[{ kind: Kind.FIELD, alias, name, ...(directives && { directives }) }], [node]];
  }
}
