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
import { snippet } from '../../base/json/composer.ts';
import type { Snippet } from '../../base/json/composer.ts';
import type { Printer, RenderContext } from './render-context.ts';
import type { RenderedTemplate, Template } from './rendered-template.ts';
import { accessRuleOf } from '../access/access-rule.ts';
import type { AccessRule } from '../access/access-rule.ts';
import { hasResolver, payloadPathOf } from '../execution/executable.ts';
import type { Operation } from '../documents/operation.ts';
import { printerAt, printerOf } from './text-printer.ts';
import type { ResultField } from './text-printer.ts';
import type { UnselectedKeyBudget } from './object-members.ts';

/** With more slots, little of the text would be common. */
const MAX_SLOTS = 16;
/** Unselected keys that one operation's printers remember. More would outweigh the memory that the document cache counts for a document. */
const MAX_UNSELECTED_KEYS = 256;

/**
 * The template of an operation. undefined where there is none: the operation has @skip or @include, its root field is not read from
 * the payload, or a field below a list has a resolver, so that the number of slots would depend on the event.
 * @param context other templates may use the same
 */
export function templateOf(
  schema: GraphQLSchema,
  { document, definition }: Operation,
  context: RenderContext,
): Template | undefined {
  const root = schema.getSubscriptionType();
  const split = new Split(schema, document);
  const [field, ...others] = root ? split.collect([definition.selectionSet], root) : [];
  const path = field?.definition && payloadPathOf(field.definition);
  if (!path || others.length > 0) return undefined;
  const { source, slotNode } = split.field(field, [], false);
  if (!split.isPossible || split.slots > MAX_SLOTS || source.kind !== 'payload') return undefined;
  const printer = printerAt(path, source.printer, split.budget);
  const prefix = snippet(`{"data":{${JSON.stringify(field.responseKey)}:`);
  return {
    render: (payload) => render(payload, context, printer, prefix),
    slotDocument: slotNode && {
      kind: Kind.DOCUMENT,
      definitions: [{ ...definition, selectionSet: setOf([slotNode]) }, ...split.fragments.values()],
    },
    rules: [...split.rules],
  };
}

function render(
  payload: Uint8Array,
  context: RenderContext,
  printer: Printer,
  prefix: Snippet,
): RenderedTemplate | undefined {
  context.clear();
  const { scanner, composer, slots } = context;
  if (!scanner.load(payload)) return undefined;
  const index = context.reserve(printer.size);
  const end = printer.read(context, scanner.token(0), index);
  if (end < 0 || scanner.token(end) !== payload.length) return undefined;
  composer.snippet(prefix);
  if (!printer.print(context, index)) return undefined;
  composer.snippet(SUFFIX);
  const text = composer.take();
  if (slots.length === 0) return { texts: [text], slots: [] };
  const starts = [0, ...slots.map(({ at }) => at)];
  return {
    texts: starts.map((start, i) => text.subarray(start, starts[i + 1])),
    slots: slots.map(({ path }) => path),
  };
}

/** Closes `data`. */
const SUFFIX = snippet('}');

function setOf(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections };
}

/** The selections of one response key. */
interface CollectedField {
  readonly responseKey: string;
  /** undefined: `__typename`. */
  readonly definition: GraphQLField<unknown, unknown> | undefined;
  readonly typeName: string;
  readonly nodes: FieldNode[];
}

interface SplitField {
  readonly source: ResultField['source'];
  /** Selects the slots at and below the field; undefined: there are none. */
  readonly slotNode: FieldNode | undefined;
}

/** Walks an operation and tells slots from fields that are read from the payload. */
class Split {
  readonly fragments = new Map<string, FragmentDefinitionNode>();
  readonly #schema: GraphQLSchema;
  readonly budget: UnselectedKeyBudget = { left: MAX_UNSELECTED_KEYS };
  isPossible = true;
  readonly rules = new Set<AccessRule>();
  /** Count so far. */
  slots = 0;

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.#schema = schema;
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
    }
  }

  /**
   * The fields that a valid document selects of an object type, in the order of the result.
   * https://spec.graphql.org/October2021/#CollectFields()
   */
  collect(sets: readonly SelectionSetNode[], type: GraphQLObjectType): CollectedField[] {
    const collected = new Map<string, CollectedField>();
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

  /** True if a fragment with this condition applies to the type. A fragment inside another may be for a type that the outer excludes. */
  #applies(condition: NamedTypeNode | undefined, type: GraphQLObjectType): boolean {
    const named = condition && this.#schema.getType(condition.name.value);
    return !named || named === type || (isAbstractType(named) && this.#schema.isSubType(named, type));
  }

  /** @param above response keys that lead to the field's parent */
  field(
    { definition, responseKey, typeName, nodes }: CollectedField,
    above: readonly string[],
    isInList: boolean,
  ): SplitField {
    if (!definition) return { source: { kind: 'constant', json: JSON.stringify(typeName) }, slotNode: undefined };
    const { name, type } = definition;
    const named = getNamedType(type);
    const isRoot = above.length === 0;
    const path = [...above, responseKey];
    if (hasResolver(definition) || isAbstractType(named) || (definition.args.length > 0 && !isRoot)) {
      this.slots++;
      if (isInList) this.isPossible = false;
      return { source: { kind: 'slot', path }, slotNode: merged(nodes) };
    }
    const rule = isRoot ? undefined : accessRuleOf(definition);
    if (rule) this.rules.add(rule);
    const fromPayload = (fields: readonly ResultField[] | undefined) =>
      ({ kind: 'payload', name, printer: printerOf(type, fields, this.budget) }) as const;
    if (!isObjectType(named)) return { source: fromPayload(undefined), slotNode: undefined };
    const isList = isInList || isListType(getNullableType(type));
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const slotNodes: FieldNode[] = [];
    const fields = this.collect(sets, named).map((inner): ResultField => {
      const { source, slotNode } = this.field(inner, path, isList);
      if (slotNode) slotNodes.push(slotNode);
      return { responseKey: inner.responseKey, source };
    });
    return {
      source: fromPayload(fields),
      slotNode: slotNodes.length > 0 ? { ...nodes[0]!, selectionSet: setOf(slotNodes) } : undefined,
    };
  }
}

const CONDITIONS = new Set([GraphQLIncludeDirective.name, GraphQLSkipDirective.name]);

/** One node for all selections of a field: they may select different fields below it. */
function merged(nodes: readonly FieldNode[]): FieldNode {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
  return sets.length > 0 ? { ...nodes[0]!, selectionSet: setOf(sets) } : nodes[0]!;
}
