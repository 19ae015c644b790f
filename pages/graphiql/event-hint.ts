import type { EventSources, TopicSource } from '../../src/graph/schema/event-source-type.ts';
import type { Operation } from './operation.ts';
import { publishCommand } from './publish-command.ts';
import { canBePasted, quoted } from './shell-word.ts';

export interface EventHint {
  readonly text: string;
  /** For a shell. */
  readonly command?: string;
}

type Claims = Readonly<Record<string, unknown>>;

/** What somebody can do who waits for the first event of a subscription. @param claims of the connection, as far as the page knows them */
export function eventHint(operation: Operation, { fields, records }: EventSources, claims: Claims): EventHint {
  const { field, args } = operation;
  const source = fields[field];
  if (!source) return { text: '' };
  if ('resolver' in source) return { text: `${field} is fed by its subscribe in the graph's resolvers.` };
  if ('channel' in source) return channelHint(source.channel, args, records);
  const from = `It comes from the topic ${topicOf(source, args)}`;
  if (records === 'nobody')
    return { text: `${from}, which is empty: add a samples.ts to the graph, or set KAFKA_BROKERS and REDIS_URL.` };
  if (!('brokers' in records))
    return {
      text: `${from}. The graph's samples are its records, one in ${records.sampleIntervalMs} ms; not each matches the arguments.`,
    };
  const terms = { topic: topicOf(source, args), args, claims };
  const publish = source.record && publishCommand(terms, source.record, records);
  if (!publish) return { text: `${from}. Write a record there that matches the arguments.` };
  const { command, unknownClaims } = publish;
  const settings = records.brokers.length > 0 ? '' : ", the pod's settings of Kafka (KAFKA_BROKERS, …)";
  const own = unknownClaims.map((claim) => `, your claim "${claim}"`).join('');
  return { text: `${from}. Publish one with this${settings}${own}, and the fields that you select:`, command };
}

function topicOf({ topic, chosen }: TopicSource, args: Operation['args']): string {
  const given = chosen && args[chosen.arg];
  const value: unknown = Array.isArray(given) ? given[0] : given;
  return (typeof value === 'string' ? chosen?.topics[value] : undefined) ?? topic;
}

function channelHint(channel: string, args: Operation['args'], records: EventSources['records']): EventHint {
  const name = channel.replaceAll(/\{(\w+)\}/g, (_, arg: string) => textOf(args[arg]));
  const text = `It comes from the Redis channel ${name}`;
  if (records === 'nobody' || !('brokers' in records))
    return { text: `${text}; without Redis only the graph itself publishes there.` };
  const command = `redis-cli publish ${quoted(name)} '{}'`;
  return canBePasted(command)
    ? { text: `${text}. Publish one with the fields that you select:`, command }
    : { text: `${text}. Publish one there with the fields that you select.` };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '…');
}
