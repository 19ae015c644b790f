import type { Graph } from '../graph-parts.ts';
import type { Binding } from './binding.ts';
import type { EventSource, EventSources, TopicSource } from './event-source-type.ts';
import { exampleRecord } from './example-record.ts';

/** Where the events of each Subscription field come from, by field. */
export function eventSources({
  schema,
  bindings,
  redisBindings,
}: Pick<Graph, 'schema' | 'bindings' | 'redisBindings'>): EventSources['fields'] {
  const fields = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  return Object.fromEntries(
    fields.map((field): [string, EventSource] => {
      const binding = bindings.get(field.name);
      const channel = redisBindings.get(field.name)?.template.source;
      if (!binding) return [field.name, channel === undefined ? { resolver: true } : { channel }];
      const record = exampleRecord(schema, field, binding);
      return [field.name, { ...topicsOf(binding), ...(record && { record }) }];
    }),
  );
}

function topicsOf({ topics: [topic = ''], topicArgument }: Binding): TopicSource {
  if (!topicArgument) return { topic };
  return { topic, chosen: { arg: topicArgument.arg, topics: Object.fromEntries(topicArgument.byValue) } };
}
