import { Kind, getNamedType, isInterfaceType, isObjectType, print } from 'graphql';
import type { DocumentNode, FieldNode, FragmentDefinitionNode, GraphQLSchema, SelectionSetNode } from 'graphql';

/** How fields of a document share response names; with fragments expanded and selections below one name merged. */
export interface FieldOverlap {
  /** True if fields with one response name are always the same field of one type with equal arguments: none can conflict. */
  readonly isTrivial: boolean;
  /**
   * Pairs of fields that share a response name, which graphql-js's OverlappingFieldsCanBeMergedRule compares. A pair without arguments
   * and selections counts a tenth, because it costs a tenth.
   */
  readonly pairs: number;
}

/** A selection set and the type that it is written for. */
interface Part {
  readonly type: ReturnType<GraphQLSchema['getType']>;
  readonly set: SelectionSetNode;
}

/** The fields of one response name. */
interface Group {
  /** undefined: unknown to the schema, or not the same for all. */
  field: string | undefined;
  count: number;
  /** No field has arguments or a selection. */
  isPlain: boolean;
  readonly below: Part[];
}

const PLAIN_PAIR = 0.1;
/** Only a document with a cycle of fragments nests deeper. */
const MAX_DEPTH = 512;

/**
 * Takes linear time in the expanded document, where the rule takes quadratic time.
 * @param maxSelections of the expanded document; with more, the pairs are infinitely many
 */
export function fieldOverlap(schema: GraphQLSchema, document: DocumentNode, maxSelections: number): FieldOverlap {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const unreached = new Set<FragmentDefinitionNode>();
  for (const node of document.definitions) {
    if (node.kind !== Kind.FRAGMENT_DEFINITION) continue;
    fragments.set(node.name.value, node);
    unreached.add(node);
  }
  // A field is visited once for each spread of its fragment; its arguments are printed once.
  const argumentTexts = new Map<FieldNode, string>();
  let left = maxSelections;
  let isTrivial = true;
  let pairs = 0;

  const collect = ({ type, set }: Part, groups: Map<string, Group>, seen: Set<string>): void => {
    for (const selection of set.selections) {
      if (left-- <= 0) return;
      if (selection.kind === Kind.FIELD) {
        addField(selection, type, groups, argumentTexts);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition;
        const narrowed = condition ? schema.getType(condition.name.value) : type;
        collect({ type: narrowed, set: selection.selectionSet }, groups, seen);
      } else {
        const fragment = fragments.get(selection.name.value);
        if (!fragment || seen.has(selection.name.value)) continue;
        seen.add(selection.name.value);
        unreached.delete(fragment);
        const narrowed = schema.getType(fragment.typeCondition.name.value);
        collect({ type: narrowed, set: fragment.selectionSet }, groups, seen);
      }
    }
  };

  const visit = (parts: readonly Part[], depth: number): void => {
    if (depth > MAX_DEPTH) left = 0;
    if (left <= 0) return;
    const groups = new Map<string, Group>();
    const seen = new Set<string>();
    for (const part of parts) collect(part, groups, seen);
    for (const { field, count, isPlain, below } of groups.values()) {
      pairs += ((count * (count - 1)) / 2) * (isPlain ? PLAIN_PAIR : 1);
      isTrivial &&= count === 1 || field !== undefined;
      if (below.length > 0) visit(below, depth + 1);
    }
  };

  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    visit([{ type: schema.getRootType(node.operation) ?? undefined, set: node.selectionSet }], 1);
  }
  // The rule compares fields of unused fragments, too.
  for (const { typeCondition, selectionSet } of unreached) {
    visit([{ type: schema.getType(typeCondition.name.value), set: selectionSet }], 1);
  }
  return left > 0 ? { isTrivial, pairs } : { isTrivial: false, pairs: Infinity };
}

function addField(
  node: FieldNode,
  type: Part['type'],
  groups: Map<string, Group>,
  argumentTexts: Map<FieldNode, string>,
): void {
  const key = (node.alias ?? node.name).value;
  const definition = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
  const isKnown = definition !== undefined || (type !== undefined && node.name.value === '__typename');
  const field = isKnown ? `${type!.name}.${node.name.value}(${argumentsText(node, argumentTexts)})` : undefined;
  let group = groups.get(key);
  if (!group) groups.set(key, (group = { field, count: 0, isPlain: true, below: [] }));
  group.count++;
  group.isPlain &&= !node.arguments?.length && !node.selectionSet;
  if (group.field !== field) group.field = undefined;
  if (node.selectionSet)
    group.below.push({ type: definition && getNamedType(definition.type), set: node.selectionSet });
}

function argumentsText(node: FieldNode, texts: Map<FieldNode, string>): string {
  if (!node.arguments?.length) return '';
  let text = texts.get(node);
  if (text === undefined) texts.set(node, (text = node.arguments.map(print).toSorted().join()));
  return text;
}
