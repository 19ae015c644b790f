import { GraphQLError, Kind, OperationTypeNode } from 'graphql';
import type {
  DirectiveNode,
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';

/** Counts include a fragment at every spread, as an execution does. */
export interface DocumentLimits {
  /** Nesting of fields; those below `__schema` and `__type` are left to MaxIntrospectionDepthRule. */
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
  readonly maxFields: number;
}

interface Cost {
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  readonly fields: number;
}

const NOTHING: Cost = { depth: 0, aliases: 0, directives: 0, fields: 0 };

/**
 * The limits that a document exceeds. Takes linear time, because each fragment is counted once, and so runs before the validation rules
 * that do not. Cycles and unknown fragments count nothing: the specified rules report them.
 */
export function checkLimits(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const operations: OperationDefinitionNode[] = [];
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    else if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
  }
  const costs = new Map<string, Cost>();
  // Unused fragments count, too: validation and compilation would visit them.
  const costOfDefinitions = [
    ...operations.map((node) => ({
      node,
      cost: selectionCost(node.selectionSet, fragments, costs, directivesOf(node)),
    })),
    ...[...fragments].map(([name, node]) => ({ node, cost: fragmentCost(name, fragments, costs) })),
  ];
  const errors =
    costOfDefinitions
      .map(({ node, cost }) => exceeded(cost, limits).map((message) => new GraphQLError(message, { nodes: node })))
      .find((found) => found.length > 0) ?? [];
  for (const node of operations) {
    if (node.operation === OperationTypeNode.SUBSCRIPTION && hasConditionAtRoot(node, fragments)) {
      const message = 'A subscription must not use @skip or @include on its root field.';
      errors.push(new GraphQLError(message, { nodes: node }));
    }
  }
  return errors;
}

function exceeded(cost: Cost, limits: DocumentLimits): string[] {
  const checks = [
    ['nests fields', cost.depth, limits.maxDepth, 'levels deep'],
    ['has', cost.aliases, limits.maxAliases, 'aliases'],
    ['has', cost.directives, limits.maxDirectives, 'directives'],
    ['has', cost.fields, limits.maxFields, 'fields'],
  ] as const;
  return checks
    .filter(([, actual, limit]) => actual > limit)
    .map(([what, , limit, unit]) => `The document ${what} more than ${limit} ${unit}, with fragments expanded.`);
}

function directivesOf(node: { readonly directives?: readonly DirectiveNode[] | undefined }): number {
  return node.directives?.length ?? 0;
}

function selectionCost(
  set: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  costs: Map<string, Cost>,
  directives: number,
): Cost {
  let total: Cost = { ...NOTHING, directives };
  for (const selection of set.selections) {
    const cost = costOf(selection, fragments, costs);
    total = {
      depth: Math.max(total.depth, cost.depth),
      aliases: total.aliases + cost.aliases,
      directives: total.directives + cost.directives,
      fields: total.fields + cost.fields,
    };
  }
  return total;
}

function costOf(
  selection: SelectionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  costs: Map<string, Cost>,
): Cost {
  const directives = directivesOf(selection);
  if (selection.kind === Kind.INLINE_FRAGMENT) {
    return selectionCost(selection.selectionSet, fragments, costs, directives);
  }
  if (selection.kind === Kind.FIELD) {
    const below = selection.selectionSet ? selectionCost(selection.selectionSet, fragments, costs, 0) : NOTHING;
    const isIntrospection = selection.name.value === '__schema' || selection.name.value === '__type';
    return {
      depth: isIntrospection ? 1 : below.depth + 1,
      aliases: below.aliases + (selection.alias ? 1 : 0),
      directives: below.directives + directives,
      fields: below.fields + 1,
    };
  }
  const cost = fragmentCost(selection.name.value, fragments, costs);
  return { ...cost, directives: cost.directives + directives };
}

function fragmentCost(
  name: string,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  costs: Map<string, Cost>,
): Cost {
  const known = costs.get(name);
  const fragment = fragments.get(name);
  if (known || !fragment) return known ?? NOTHING;
  costs.set(name, NOTHING);
  const cost = selectionCost(fragment.selectionSet, fragments, costs, directivesOf(fragment));
  const isIntrospection = fragment.typeCondition.name.value.startsWith('__');
  costs.set(name, isIntrospection ? { ...cost, depth: 0 } : cost);
  return costs.get(name)!;
}

function hasConditionAtRoot(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): boolean {
  const seen = new Set<string>();
  const hasCondition = (set: SelectionSetNode): boolean =>
    set.selections.some((selection) => {
      if (selection.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include')) return true;
      if (selection.kind === Kind.INLINE_FRAGMENT) return hasCondition(selection.selectionSet);
      if (selection.kind === Kind.FIELD || seen.has(selection.name.value)) return false;
      seen.add(selection.name.value);
      const fragment = fragments.get(selection.name.value);
      return fragment !== undefined && hasCondition(fragment.selectionSet);
    });
  return hasCondition(operation.selectionSet);
}
