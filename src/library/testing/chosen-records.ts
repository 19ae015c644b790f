import { getArgumentValues, getOperationAST, Kind, parse } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import type { Config } from '../../config/config.ts';
import type { Graph } from '../../graph/graph-parts.ts';
import { coerceVariables } from '../../graph/graphql-version.ts';
import type { PublishedRecords } from '../../server/published-records.ts';

/** Which records a subscription takes, and why those that were published are none; '' if it takes all of them. */
export async function explainChoice(
  { config, graph }: { readonly config: Config; readonly graph: Graph },
  { query, variables }: SubscribePayload,
  published: PublishedRecords,
): Promise<string> {
  const { bindings, schema } = graph;
  const operation = getOperationAST(parse(query));
  const node = operation?.selectionSet.selections[0];
  if (node?.kind !== Kind.FIELD) return '';
  const binding = bindings.get(node.name.value);
  const field = schema.getSubscriptionType()?.getFields()[node.name.value];
  if (!binding || !field) return '';
  if (!binding.topics.some((topic) => published.topics.has(topic))) {
    return `; ${binding.field} reads ${binding.topics.join(', ')}`;
  }
  const coerced = coerceVariables(schema, operation?.variableDefinitions ?? [], variables ?? {}, { maxErrors: 1 });
  if ('errors' in coerced) return '';
  const args = getArgumentValues(field, node, coerced.forArguments);
  const chosen = binding.match
    .filter(({ arg }) => args[arg] !== undefined && args[arg] !== null)
    .map(({ path, arg }) => `whose ${path} is ${JSON.stringify(args[arg])}`);
  if (binding.where.length > 0 || (binding.filters ?? []).length > 0) chosen.push('that fit its where');
  const choice = chosen.length === 0 ? '' : `; ${binding.field} takes those ${chosen.join(' and ')}`;
  const problems = await published.problems(config, graph, binding);
  return choice + problems.map((problem) => `; ${problem}`).join('');
}
