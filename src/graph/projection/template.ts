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
  NamedTypeNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';
import { snippet } from '../../json/composer.ts';
import type { Snippet } from '../../json/composer.ts';
import type { Desk, Printer } from './render-context.ts';
import { hasResolver, payloadPathOf } from '../execution/executable.ts';
import type { Operation } from '../documents/operation.ts';
import { printerAt, printerOf } from './text-printer.ts';
import type { FieldText } from './text-printer.ts';

/** A result's text with holes. */
export interface Sheet {
  /** JSON text in UTF-8, behind its opening brace: one more than there are holes. */
  readonly texts: readonly Buffer[];
  /** Response keys that lead to each hole. */
  readonly holes: readonly (readonly string[])[];
}

/**
 * A subscription's operation cut in two. A field without a resolver is read from the payload, which is the same for every
 * connection, so what such fields give is one text for all, printed from the payload without an execution. Fields with a
 * resolver are holes in that text: `own` selects them and what leads to them, and is all that needs executing for a connection.
 */
export interface Stencil {
  /** Of a payload's JSON text. undefined: it is not as the schema wants it, or not text that can be copied; the whole operation must be executed. */
  readonly print: (payload: Uint8Array) => Sheet | undefined;
  /** undefined: there are no holes. */
  readonly own: DocumentNode | undefined;
}

/** Holes of one operation; with more, little of the text would be common. */
const MAX_HOLES = 16;
/** Of one operation. */
const MAX_UNWANTED_KEYS = 256;

/**
 * Cuts an operation, or says undefined where that cannot be: it has conditions, its root field is not read from the payload, or a field
 * below a list has one, so that the number of holes would depend on the event. `desk`: may be that of others, too.
 */
export function stencilOf(schema: GraphQLSchema, { document, definition }: Operation, desk: Desk): Stencil | undefined {
  const root = schema.getSubscriptionType();
  const cut = new Cut(schema, document);
  const [field, ...others] = root ? cut.collect([definition.selectionSet], root) : [];
  const path = field?.definition && payloadPathOf(field.definition);
  if (!path || others.length > 0) return undefined;
  const { value, own } = cut.field(field, [], false);
  if (!cut.isPossible || cut.holes > MAX_HOLES || value.kind !== 'source') return undefined;
  const printer = printerAt(path, value.printer, cut.unwanted);
  const lead = snippet(`"data":{${JSON.stringify(field.responseKey)}:`);
  return {
    print: (payload) => print(payload, desk, printer, lead),
    own: own && {
      kind: Kind.DOCUMENT,
      definitions: [{ ...definition, selectionSet: setOf([own]) }, ...cut.fragments.values()],
    },
  };
}

function print(payload: Uint8Array, desk: Desk, printer: Printer, lead: Snippet): Sheet | undefined {
  desk.clear();
  const { scanner, composer, holes } = desk;
  if (!scanner.load(payload)) return undefined;
  const note = desk.room(printer.size);
  const end = printer.read(desk, scanner.token(0), note);
  if (end < 0 || scanner.token(end) !== payload.length) return undefined;
  composer.snippet(lead);
  if (!printer.print(desk, note)) return undefined;
  composer.snippet(TAIL);
  const text = composer.take();
  if (holes.length === 0) return { texts: [text], holes: [] };
  const starts = [0, ...holes.map(({ at }) => at)];
  return {
    texts: starts.map((start, i) => text.subarray(start, starts[i + 1])),
    holes: holes.map((hole) => hole.path),
  };
}

const TAIL = snippet('}}');

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
  readonly value: FieldText['value'];
  /** What of it must be executed for each connection. */
  readonly own: FieldNode | undefined;
}

class Cut {
  readonly fragments = new Map<string, FragmentDefinitionNode>();
  readonly #schema: GraphQLSchema;
  /** More would weigh more than the document's share of the cache is meant to. */
  readonly unwanted = { left: MAX_UNWANTED_KEYS };
  isPossible = true;
  holes = 0;

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.#schema = schema;
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
    }
  }

  /**
   * The fields of an object type that a valid document selects, in the result's order. https://spec.graphql.org/October2021/#CollectFields()
   */
  collect(sets: readonly SelectionSetNode[], type: GraphQLObjectType): Collected[] {
    const collected = new Map<string, Collected>();
    const visited = new Set<string>();
    const visit = ({ selections }: SelectionSetNode): void => {
      for (const node of selections) {
        if (node.directives?.some(({ name }) => CONDITIONS.has(name.value))) this.isPossible = false;
        if (node.kind === Kind.INLINE_FRAGMENT) {
          if (this.#applies(node.typeCondition, type)) visit(node.selectionSet);
        } else if (node.kind === Kind.FRAGMENT_SPREAD) {
          if (visited.has(node.name.value)) continue;
          visited.add(node.name.value);
          const fragment = this.fragments.get(node.name.value)!;
          if (this.#applies(fragment.typeCondition, type)) visit(fragment.selectionSet);
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

  /** Whether a fragment is for an object type. One that is inside another may be for none that it could be. */
  #applies(condition: NamedTypeNode | undefined, type: GraphQLObjectType): boolean {
    const named = condition && this.#schema.getType(condition.name.value);
    return !named || named === type || (isAbstractType(named) && this.#schema.isSubType(named, type));
  }

  field({ definition, responseKey, typeName, nodes }: Collected, above: readonly string[], isInList: boolean): Part {
    if (!definition) return { value: { kind: 'constant', json: JSON.stringify(typeName) }, own: undefined };
    const { name, type } = definition;
    const named = getNamedType(type);
    const isRoot = above.length === 0;
    const path = [...above, responseKey];
    if (hasResolver(definition) || isAbstractType(named) || (definition.args.length > 0 && !isRoot)) {
      this.holes++;
      if (isInList) this.isPossible = false;
      // Its nodes may select below it what has to be merged.
      return { value: { kind: 'hole', path }, own: merged(nodes) };
    }
    const source = (fields: readonly FieldText[] | undefined) =>
      ({ kind: 'source', name, printer: printerOf(type, fields, this.unwanted) }) as const;
    if (!isObjectType(named)) return { value: source(undefined), own: undefined };
    const isList = isInList || isListType(getNullableType(type));
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const own: FieldNode[] = [];
    const fields = this.collect(sets, named).map((inner): FieldText => {
      const part = this.field(inner, path, isList);
      if (part.own) own.push(part.own);
      return { responseKey: inner.responseKey, value: part.value };
    });
    return {
      value: source(fields),
      own: own.length > 0 ? { ...nodes[0]!, selectionSet: setOf(own) } : undefined,
    };
  }
}

const CONDITIONS = new Set([GraphQLIncludeDirective.name, GraphQLSkipDirective.name]);

function merged(nodes: readonly FieldNode[]): FieldNode {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
  return sets.length > 0 ? { ...nodes[0]!, selectionSet: setOf(sets) } : nodes[0]!;
}
