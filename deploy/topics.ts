import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Kind, parse, valueFromASTUntyped, visit } from 'graphql';
import type { ConstDirectiveNode, FieldDefinitionNode } from 'graphql';
import kafkajs from 'kafkajs';

const PARTITIONS = 4;

/** Of KAFKA_DEAD_LETTER_TOPIC, whose default this is. */
const DEAD_LETTER_TOPIC = 'crier-dead-letter';

export interface GraphTopic {
  readonly name: string;
  /** The smallest record (JSON) that the first field on this topic can match: its keys are 1. */
  readonly example: string;
}

/**
 * The topics that the @kafka directives of a graph folder name, each once; undefined where there is no schema.graphql.
 * Only what the stack needs of the SDL: whether a binding can work is the graph's own business.
 */
export async function readTopics(graphFolder: string): Promise<GraphTopic[] | undefined> {
  const sdl = await readFile(join(graphFolder, 'schema.graphql'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (sdl === undefined) return undefined;
  const topics = new Map<string, GraphTopic>();
  visit(parse(sdl), {
    FieldDefinition(field) {
      const directive = field.directives?.find(({ name }) => name.value === 'kafka');
      const topic = directive && topicOf(field, directive);
      if (topic && !topics.has(topic.name)) topics.set(topic.name, topic);
    },
  });
  return [...topics.values()];
}

/** Creates the topics that are not there yet, and the dead-letter topic. `brokers`: host:port, comma-separated. */
export async function createTopics(brokers: string, names: readonly string[]): Promise<void> {
  const admin = new kafkajs.Kafka({
    clientId: 'crier-topics',
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    await admin.createTopics({
      topics: [
        ...names.map((topic) => ({ topic, numPartitions: PARTITIONS, replicationFactor: 1 })),
        { topic: DEAD_LETTER_TOPIC, numPartitions: 1, replicationFactor: 1 },
      ].filter(({ topic }) => !existing.has(topic)),
    });
  } finally {
    await admin.disconnect();
  }
}

interface DirectiveArguments {
  topic?: string;
  match?: { arg: string; path: string }[];
}

function topicOf(field: FieldDefinitionNode, directive: ConstDirectiveNode): GraphTopic | undefined {
  const { topic, match = [] } = valueFromASTUntyped({
    kind: Kind.OBJECT,
    fields: (directive.arguments ?? []).map(({ name, value }) => ({ kind: Kind.OBJECT_FIELD, name, value })),
  }) as DirectiveArguments;
  if (topic === undefined) return undefined;
  const record = {};
  for (const { arg, path } of match) put(record, path.split('.').map(camelCase), isNumber(field, arg) ? 1 : '1');
  return { name: topic, example: JSON.stringify(record) };
}

function isNumber(field: FieldDefinitionNode, argument: string): boolean {
  let type = field.arguments?.find(({ name }) => name.value === argument)?.type;
  while (type && type.kind !== Kind.NAMED_TYPE) type = type.type;
  return type?.name.value === 'Int' || type?.name.value === 'Float';
}

function put(target: Record<string, unknown>, [key, ...rest]: string[], value: unknown): void {
  if (key === undefined) return;
  if (rest.length === 0) target[key] = value;
  else put((target[key] ??= {}) as Record<string, unknown>, rest, value);
}

function camelCase(key: string): string {
  return key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
