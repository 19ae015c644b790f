import {
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
} from 'graphql';
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
import { hasResolver, isInheritedName } from './executable.ts';
import type { Operation } from './operation.ts';
import { printConstant, printHole, printLeaf, printObject, printOutput } from './text-printer.ts';
import type { FieldPrint, Print, Sheet } from './text-printer.ts';

/**
 * A subscription's operation cut in two. A field without a resolver is read from the payload, which is the same for every
 * connection, so what such fields give is one text for all, printed from the payload without an execution. Fields with a
 * resolver are holes in that text: `own` selects them and what leads to them, and is all that needs executing for a connection.
 */
export interface Stencil {
  /** undefined: the payload is not as the schema wants it, and the whole operation must be executed. */
  readonly print: (payload: unknown) => Sheet | undefined;
  /** undefined: there are no holes. */
  readonly own: DocumentNode | undefined;
}

/** Holes of one operation; with more, little of the text would be common. */
const MAX_HOLES = 16;

/**
 * Cuts an operation, or says undefined where that cannot be: it has conditions, its root field has a resolver, or a field
 * below a list has one, so that the number of holes would depend on the event.
 */
export function stencilOf(schema: GraphQLSchema, { document, definition }: Operation): Stencil | undefined {
  const root = schema.getSubscriptionType();
  const cut = new Cut(document);
  const [field, ...others] = root ? cut.collect([definition.selectionSet], root) : [];
  if (!field || others.length > 0 || !field.definition || hasResolver(field.definition)) return undefined;
  const { print, own } = cut.field(field, [], false);
  if (!cut.isPossible || cut.holes > MAX_HOLES) return undefined;
  const read = field.definition.resolve as ((payload: unknown) => unknown) | undefined;
  if (!read) return undefined;
  const lead = `{"data":{${JSON.stringify(field.responseKey)}:`;
  return {
    print: (payload) => {
      const sheet: Sheet = { texts: [], holes: [], text: lead };
      if (!print(read(payload), sheet)) return undefined;
      sheet.texts.push(`${sheet.text}}}`);
      return sheet;
    },
    own: own && {
      kind: Kind.DOCUMENT,
      definitions: [{ ...definition, selectionSet: setOf([own]) }, ...cut.fragments.values()],
    },
  };
}

function setOf(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections };
}

/** Selections of one response key. */
interface Collected {
  readonly responseKey: string;
  /** undefined: `__typename`. */
  readonly definition: GraphQLField<unknown, unknown> | undefined;
  readonly typeName: string;
  readonly nodes: FieldNode[];
}

interface Part {
  readonly print: Print;
  /** What of it must be executed for each connection. */
  readonly own: FieldNode | undefined;
}

class Cut {
  readonly fragments = new Map<string, FragmentDefinitionNode>();
  isPossible = true;
  holes = 0;

  constructor(document: DocumentNode) {
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
    }
  }

  /**
   * The fields of an object type that a valid document selects, in the result's order: what its fragments select here is of that
   * type, whatever their condition says. https://spec.graphql.org/October2021/#CollectFields()
   */
  collect(sets: readonly SelectionSetNode[], type: GraphQLObjectType): Collected[] {
    const collected = new Map<string, Collected>();
    const visited = new Set<string>();
    const visit = ({ selections }: SelectionSetNode): void => {
      for (const node of selections) {
        if (node.directives?.some(({ name }) => CONDITIONS.has(name.value))) this.isPossible = false;
        if (node.kind === Kind.INLINE_FRAGMENT) visit(node.selectionSet);
        else if (node.kind === Kind.FRAGMENT_SPREAD) {
          if (visited.has(node.name.value)) continue;
          visited.add(node.name.value);
          visit(this.fragments.get(node.name.value)!.selectionSet);
        } else {
          const responseKey = (node.alias ?? node.name).value;
          const known = collected.get(responseKey);
          if (known) known.nodes.push(node);
          else {
            const definition = type.getFields()[node.name.value];
            collected.set(responseKey, { responseKey, definition, typeName: type.name, nodes: [node] });
          }
        }
      }
    };
    for (const set of sets) visit(set);
    return [...collected.values()];
  }

  field({ definition, responseKey, typeName, nodes }: Collected, above: readonly string[], isInList: boolean): Part {
    if (!definition) return { print: printConstant(JSON.stringify(typeName)), own: undefined };
    const named = getNamedType(definition.type);
    const isRoot = above.length === 0;
    const path = [...above, responseKey];
    if (hasResolver(definition) || isAbstractType(named) || (definition.args.length > 0 && !isRoot)) {
      this.holes++;
      if (isInList) this.isPossible = false;
      // Its nodes may select below it what has to be merged.
      return { print: printHole(path), own: merged(nodes) };
    }
    if (!isObjectType(named)) return { print: printOutput(definition.type, printLeaf(named)), own: undefined };
    const isList = isInList || isListType(getNullableType(definition.type));
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const own: FieldNode[] = [];
    const fields = this.collect(sets, named).map((inner): FieldPrint => {
      const part = this.field(inner, path, isList);
      if (part.own) own.push(part.own);
      const name = inner.definition?.name ?? '__typename';
      return { responseKey: inner.responseKey, name, isInherited: isInheritedName(name), print: part.print };
    });
    return {
      print: printOutput(definition.type, printObject(fields)),
      own: own.length > 0 ? { ...nodes[0]!, selectionSet: setOf(own) } : undefined,
    };
  }
}

const CONDITIONS = new Set([GraphQLIncludeDirective.name, GraphQLSkipDirective.name]);

function merged(nodes: readonly FieldNode[]): FieldNode {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
  return sets.length > 0 ? { ...nodes[0]!, selectionSet: setOf(sets) } : nodes[0]!;
}
