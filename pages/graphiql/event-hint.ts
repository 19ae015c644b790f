import type { EventSources } from '../../src/graph/schema/event-source-type.ts';
import type { Operation } from './operation.ts';

export interface EventHint {
  readonly text: string;
  /** For a shell. */
  readonly command?: string;
}

/** What somebody can do who waits for the first event of a subscription. */
export function eventHint({ field, args }: Operation, { fields, records }: EventSources): EventHint {
  const source = fields[field];
  if (!source) return { text: '' };
  if ('resolver' in source) return { text: `${field} is fed by its subscribe in the graph's resolvers.` };
  if ('channel' in source) return channelHint(source.channel, args, records);
  const from = `It comes from the topic ${source.topic}`;
  if (records === 'nobody')
    return { text: `${from}, which is empty: add a samples.ts to the graph, or set KAFKA_BROKERS and REDIS_URL.` };
  if (records !== 'programs')
    return {
      text: `${from}. The graph's samples are its records, one in ${records.sampleIntervalMs} ms; not each matches the arguments.`,
    };
  if (!source.values) return { text: `${from}. Write a record there that matches the arguments.` };
  const record = {};
  put(record, source.payload, {});
  for (const { arg, path, example } of source.values) put(record, path, matching(args[arg], example));
  return {
    text: `${from}. Publish one with this, and the fields that you select:`,
    // `echo` of some shells interprets the backslashes of JSON.
    command: String.raw`printf '%s\n' ${quoted(JSON.stringify(record))} | npx --no-install crier publish ${source.topic}`,
  };
}

function channelHint(channel: string, args: Operation['args'], records: EventSources['records']): EventHint {
  const name = channel.replaceAll(/\{(\w+)\}/g, (_, arg: string) => textOf(args[arg]));
  const text = `It comes from the Redis channel ${name}`;
  if (records !== 'programs') return { text: `${text}; without Redis only the graph itself publishes there.` };
  return {
    text: `${text}. Publish one with the fields that you select:`,
    command: `redis-cli publish ${quoted(name)} '{}'`,
  };
}

function put(record: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [last] = path.slice(-1);
  if (last === undefined) return;
  let inner = record;
  for (const key of path.slice(0, -1)) inner = (inner[key] ??= {}) as Record<string, unknown>;
  inner[last] ??= value;
}

/** An argument that is a list matches each of its values. */
function matching(value: unknown, example: unknown): unknown {
  return (Array.isArray(value) ? (value[0] as unknown) : value) ?? example;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '…');
}

/** One word of a shell, whatever the text holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
