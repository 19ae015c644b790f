import type { Graph } from '../../graph/graph-parts.ts';
import { isRecordPart, partLabel } from '../../graph/record-parts.ts';
import type { Binding } from '../../graph/schema/binding.ts';
import { shortExampleOf } from '../../graph/schema/example-operation.ts';
import type { Match } from '../../graph/schema/match.ts';

/** What a Subscription field is bound to, for a person. */
export interface FieldFacts {
  readonly name: string;
  /** Where its events come from, and which of them. */
  readonly facts: readonly string[];
  /** An operation to try, with the first fields of each type. */
  readonly operation: string;
}

/** The facts of each Subscription field. */
export function fieldFacts({ schema, bindings, redisBindings }: Graph): FieldFacts[] {
  return Object.values(schema.getSubscriptionType()?.getFields() ?? {}).map((field) => {
    const binding = bindings.get(field.name);
    const channel = redisBindings.get(field.name)?.template.source;
    const source = channel === undefined ? 'from its subscribe in resolvers' : `from the Redis channel ${channel}`;
    return {
      name: field.name,
      facts: binding ? describeBinding(binding) : [source],
      operation: shortExampleOf(field),
    };
  });
}

/** The same as lines. */
export function describeFields(graph: Graph): string {
  return fieldFacts(graph)
    .map(({ name, facts, operation }) => {
      const lines = [...facts, `try: ${operation}`].map((line) => `  ${line}`);
      return [name, ...lines, ''].join('\n');
    })
    .join('\n');
}

function describeBinding({ topics, payload, match, where, filters = [], ...binding }: Binding): string[] {
  const { history, state, tombstone, envelope } = binding;
  const gone = envelope === undefined ? 'a record without a value' : 'a row that is deleted, or has left the channel,';
  const keys = [...match.map(describeMatch), ...where.map(({ path }) => `value of "${path}"`)];
  const place = payload.length > 0 ? `, at "${payload.join('.')}" of its records` : '';
  return [
    `from topic ${topics.join(', ')}${place}`,
    ...(envelope === undefined ? [] : [`rows that changed, as envelope: ${envelope} carries them`]),
    keys.length > 0 ? `one channel for each ${keys.join(' and ')}` : 'one channel: every record',
    ...where.map(({ claim, path }) => `only where "${path}" is the claim "${claim}" of the connection`),
    ...filters.map(({ arg, op, path }) => `only where "${path}" ${op} ${arg}`),
    ...(history ? [`keeps the last ${history.entries} events of a channel, for clients that resume`] : []),
    ...(state ? ['keeps the last value of a channel, with which a subscription begins'] : []),
    ...(tombstone === 'NULL' ? [`${gone} is delivered as null`] : []),
    ...(tombstone === 'ROW' ? ['a row that is deleted is delivered as it was'] : []),
    ...(tombstone === 'COMPLETE' ? [`${gone} completes the subscription`] : []),
  ];
}

function describeMatch({ arg, path, isOptional }: Match): string {
  return `${arg} = ${isRecordPart(path) ? partLabel(path) : `"${path}"`}${isOptional ? ', or every value where it is left out' : ''}`;
}
