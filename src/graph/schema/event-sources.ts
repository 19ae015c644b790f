import { getNamedType, isEnumType } from 'graphql';
import type { GraphQLArgument } from 'graphql';
import type { Graph } from '../graph-parts.ts';
import { isRecordPart } from '../record-parts.ts';
import type { Binding } from './binding.ts';
import type { EventSource, EventSources } from './event-source-type.ts';

/** Where the events of each Subscription field come from, by field. */
export function eventSources({
  schema,
  bindings,
  redisBindings,
}: Pick<Graph, 'schema' | 'bindings' | 'redisBindings'>): EventSources['fields'] {
  const fields = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  return Object.fromEntries(
    fields.map(({ name, args }): [string, EventSource] => {
      const binding = bindings.get(name);
      const channel = redisBindings.get(name)?.template.source;
      if (binding) return [name, topicSource(binding, args)];
      return [name, channel === undefined ? { resolver: true } : { channel }];
    }),
  );
}

/** Without values: a record needs a key or headers that match, or is not JSON. */
function topicSource({ topics: [topic = ''], match, payload, format }: Binding, args: readonly GraphQLArgument[]) {
  if ((format ?? 'JSON') !== 'JSON' || match.some(({ path }) => isRecordPart(path))) return { topic, payload };
  const values = match.map(({ arg, path }) => ({ arg, path: path.split('.'), example: exampleOf(arg, args) }));
  return { topic, payload, values };
}

function exampleOf(name: string, args: readonly GraphQLArgument[]): unknown {
  const argument = args.find((one) => one.name === name);
  const type = argument && getNamedType(argument.type);
  if (isEnumType(type)) return type.getValues()[0]?.value as unknown;
  return type?.name === 'Int' || type?.name === 'Float' ? 1 : type?.name === 'Boolean' ? true : '1';
}
