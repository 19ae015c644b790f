import { getArgumentValues, getOperationAST, Kind, parse } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import type { Graph } from '../../graph/graph-parts.ts';

/**
 * Which records a subscription takes, if that may be why it got none of those published; '' if it takes all of them.
 * @param published topics
 */
export function explainChoice(
  { bindings, schema }: Pick<Graph, 'bindings' | 'schema'>,
  { query, variables }: SubscribePayload,
  published: ReadonlySet<string>,
): string {
  const node = getOperationAST(parse(query))?.selectionSet.selections[0];
  if (node?.kind !== Kind.FIELD) return '';
  const binding = bindings.get(node.name.value);
  const field = schema.getSubscriptionType()?.getFields()[node.name.value];
  if (!binding || !field) return '';
  if (!binding.topics.some((topic) => published.has(topic))) {
    return `; ${binding.field} reads ${binding.topics.join(', ')}`;
  }
  const args = getArgumentValues(field, node, variables ?? undefined);
  const chosen = binding.match
    .filter(({ arg }) => args[arg] !== undefined && args[arg] !== null)
    .map(({ path, arg }) => `whose ${path} is ${JSON.stringify(args[arg])}`);
  if (binding.where.length > 0 || (binding.filters ?? []).length > 0) chosen.push('that fit its where');
  return chosen.length === 0 ? '' : `; ${binding.field} takes those ${chosen.join(' and ')}`;
}
