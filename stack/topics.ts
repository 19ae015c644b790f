import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Kind, parse, valueFromASTUntyped, visit } from 'graphql';
import type { ConstDirectiveNode, DocumentNode, FieldDefinitionNode } from 'graphql';
import kafkajs from 'kafkajs';
import type { Admin, ITopicConfig } from 'kafkajs';

const PARTITIONS = 4;
const LEADER_TIMEOUT_MS = 15_000;

/** In this order: an example record is of a topic that clients can subscribe to, if there is one. */
const DIRECTIVES = ['kafka', 'kafkaPublish'];

/** Default of KAFKA_DEAD_LETTER_TOPIC. */
const DEAD_LETTER_TOPIC = 'crier-dead-letter';

export interface GraphTopic {
  readonly name: string;
  /** True if a field of the topic keeps states. */
  readonly isCompacted: boolean;
  /** True if the records have a schema of a registry. */
  readonly hasSchema: boolean;
  /** The smallest record (JSON) that the first field on this topic can match: every key value is 1. */
  readonly example: string;
}

/**
 * The topics that @kafka and @kafkaPublish of a graph folder name, each once; undefined if there is no schema.graphql. It does not check the
 * bindings: crier does that when it loads the graph.
 */
export async function readTopics(graphFolder: string): Promise<GraphTopic[] | undefined> {
  const sdl = await readFile(join(graphFolder, 'schema.graphql'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (sdl === undefined) return undefined;
  const topics = new Map<string, GraphTopic>();
  const document = parse(sdl);
  for (const name of DIRECTIVES) {
    visit(document, {
      FieldDefinition(field) {
        const directive = field.directives?.find((one) => one.name.value === name);
        for (const topic of directive ? topicsOf(field, directive, document) : []) {
          const first = topics.get(topic.name) ?? topic;
          topics.set(topic.name, {
            ...first,
            isCompacted: first.isCompacted || topic.isCompacted,
            hasSchema: first.hasSchema || topic.hasSchema,
          });
        }
      },
    });
  }
  return [...topics.values()];
}

/** Creates missing topics and the dead-letter topic. `brokers`: host:port, comma-separated. */
export async function createGraphTopics(brokers: string, topics: readonly GraphTopic[]): Promise<void> {
  await createTopics(brokers, [
    ...topics.map(({ name, isCompacted }) => ({
      topic: name,
      numPartitions: PARTITIONS,
      configEntries: isCompacted ? [{ name: 'cleanup.policy', value: 'compact' }] : [],
    })),
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

interface Match {
  arg: string;
  path?: string;
}

interface DirectiveArguments {
  topic?: string;
  topics?: string | string[];
  format?: string;
  state?: unknown;
  match?: Match | Match[];
}

function topicsOf(field: FieldDefinitionNode, directive: ConstDirectiveNode, document: DocumentNode): GraphTopic[] {
  const {
    topic,
    topics,
    format = 'JSON',
    state,
    match = [],
  } = valueFromASTUntyped({
    kind: Kind.OBJECT,
    fields: (directive.arguments ?? []).map(({ name, value }) => ({ kind: Kind.OBJECT_FIELD, name, value })),
  }) as DirectiveArguments;
  const record = {};
  for (const { arg, path } of [match].flat()) {
    if (path !== undefined) put(record, path.split('.'), isNumber(field, arg) ? 1 : '1');
  }
  const example = JSON.stringify(record);
  const names = topic === undefined ? [topics ?? []].flat() : namesOf(topic, field, document);
  return names.map((name) => ({ name, isCompacted: state !== undefined, hasSchema: format !== 'JSON', example }));
}

/** The topics of a name such as "orders-{region}": one for each value of the argument's enum. */
function namesOf(topic: string, field: FieldDefinitionNode, document: DocumentNode): readonly string[] {
  const [placeholder, argument] = /\{([^{}]*)\}/.exec(topic) ?? [];
  if (placeholder === undefined) return [topic];
  const type = typeNameOf(field, argument!);
  const values = document.definitions.flatMap((definition) =>
    definition.kind === Kind.ENUM_TYPE_DEFINITION && definition.name.value === type ? (definition.values ?? []) : [],
  );
  return values.map(({ name }) => topic.replace(placeholder, () => name.value));
}

function typeNameOf(field: FieldDefinitionNode, argument: string): string | undefined {
  let type = field.arguments?.find(({ name }) => name.value === argument)?.type;
  while (type && type.kind !== Kind.NAMED_TYPE) type = type.type;
  return type?.name.value;
}

function isNumber(field: FieldDefinitionNode, argument: string): boolean {
  return ['Int', 'Float'].includes(typeNameOf(field, argument) ?? '');
}

function put(target: Record<string, unknown>, [key, ...rest]: string[], value: unknown): void {
  if (key === undefined) return;
  if (rest.length === 0) target[key] = value;
  else put((target[key] ??= {}) as Record<string, unknown>, rest, value);
}
