import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Kind, parse, valueFromASTUntyped, visit } from 'graphql';
import type { ConstDirectiveNode, FieldDefinitionNode } from 'graphql';
import kafkajs from 'kafkajs';
import type { Admin, ITopicConfig } from 'kafkajs';

const PARTITIONS = 4;
const LEADER_TIMEOUT_MS = 15_000;

/** Default of KAFKA_DEAD_LETTER_TOPIC. */
const DEAD_LETTER_TOPIC = 'crier-dead-letter';

export interface GraphTopic {
  readonly name: string;
  /** The smallest record (JSON) that the first field on this topic can match: every key value is 1. */
  readonly example: string;
}

/**
 * The topics that the @kafka directives of a graph folder name, each once; undefined if there is no schema.graphql. It does not check the
 * bindings: crier does that when it loads the graph.
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

/** Creates missing topics and the dead-letter topic. `brokers`: host:port, comma-separated. */
export async function createGraphTopics(brokers: string, names: readonly string[]): Promise<void> {
  await createTopics(brokers, [
    ...names.map((topic) => ({ topic, numPartitions: PARTITIONS })),
    { topic: DEAD_LETTER_TOPIC, numPartitions: 1 },
  ]);
}

/** Creates missing topics. Resolves when every partition has a leader. */
export async function createTopics(brokers: string, topics: readonly ITopicConfig[]): Promise<void> {
  const admin = new kafkajs.Kafka({
    clientId: 'crier-topics',
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter(({ topic }) => !existing.has(topic));
    // kafkajs's own wait fails if a broker does not know the topic yet (`retryOnLeaderNotAvailable`).
    await admin.createTopics({ topics: missing, waitForLeaders: false });
    await waitForLeaders(admin, new Set(missing.map(({ topic }) => topic)));
  } finally {
    await admin.disconnect();
  }
}

async function waitForLeaders(admin: Admin, names: ReadonlySet<string>): Promise<void> {
  const deadline = performance.now() + LEADER_TIMEOUT_MS;
  for (;;) {
    // kafkajs throws if the metadata of any topic holds an error.
    const { topics } = await admin.fetchTopicMetadata().catch(() => ({ topics: [] }));
    const led = topics.filter(
      ({ name, partitions }) => names.has(name) && partitions.every(({ leader }) => leader >= 0),
    );
    if (led.length === names.size) return;
    if (performance.now() > deadline)
      throw new Error(`no leaders after ${LEADER_TIMEOUT_MS} ms: ${[...names].join(', ')}`);
    await delay(100);
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
