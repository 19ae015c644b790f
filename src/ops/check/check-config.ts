import { RedisAccess } from '../../bus/redis/redis-access.ts';
import { BUILT_IN_GRAPH } from '../../config/built-in-graph.ts';
import { readConfig } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError, SetupError } from '../../base/errors.ts';
import { missingClaimsProblem } from '../../graph/access/claims-needed.ts';
import type { Graph } from '../../graph/graph-parts.ts';
import { loadGraph } from '../../graph/loading/load.ts';
import { missingBrokersProblem } from '../../graph/publishing/missing-brokers.ts';
import { missingRegistryProblems } from '../../graph/schema/record-format.ts';
import type { Binding } from '../../graph/schema/binding.ts';
import type { ChannelTemplate } from '../../graph/schema/channel-template.ts';
import { prefixProblems } from '../../graph/schema/redis-binding.ts';
import { createLog } from '../../base/log.ts';
import { backendVariable } from '../../config/backend-settings.ts';
import { kafkaWarnings } from '../../config/kafka-problems.ts';
import { gluePackageFile } from '../../config/glue-package.ts';
import { lacksSchemaRegistry } from '../../config/schema-registry-problems.ts';
import type { Environment } from '../../config/variable.ts';
import { identityWarnings } from '../../config/identity-warnings.ts';
import { acceptsTokens } from '../../config/token-keys.ts';
import { findUnknownBackends } from '../../graph/loading/unknown-backends.ts';
import { findUnknownVariables } from '../../config/unknown-variables.ts';
import { checkTrustedDocuments } from './documents-check.ts';
import { failed, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { checkKafka, checkKafkaOfGateway } from './kafka-check.ts';
import { checkSamples, checkTopicRecords } from './records-check.ts';
import { checkRedis } from './redis-check.ts';
import { checkSchemaRegistry } from './schema-registry-check.ts';
import { checkTokenKeys } from './token-keys-check.ts';
import { checkTunables } from './tunables-check.ts';

export interface CheckOptions {
  /** Called with the graph if it can be loaded. */
  readonly onGraph?: (graph: Graph) => void;
  /** Of the newest records of each topic, those that are compared. Default: 50. */
  readonly records?: number | undefined;
}

/**
 * Tries what a pod of this environment needs at its start: the settings, the graph, TRUSTED_DOCUMENTS, TUNABLES_FILE, the keys of
 * tokens, Kafka and Redis. Starts no server, joins no group and commits nothing.
 */
export async function checkConfig(
  environment: Environment,
  { onGraph, records: count }: CheckOptions = {},
): Promise<Finding[]> {
  const { config, findings } = checkSettings(environment);
  // As at a start, the graph comes first: it may register a provider of OpenTelemetry, and then a tunable has an effect.
  const graph = await checkGraph(environment['GRAPH'] || BUILT_IN_GRAPH, config);
  findings.push(...graph.findings);
  if (graph.graph) onGraph?.(graph.graph);
  if (config && graph.graph) findings.push(...(await checkTrustedDocuments(config, graph.graph)));
  if (config) findings.push(...(await checkTunables(config)), ...(await checkTokenKeys(config)));
  if (!config) return [...findings, skipped('Kafka and Redis: the settings must be corrected first')];
  if (config.isEmbedded) {
    if (graph.graph) findings.push(...(await checkSamples(config, graph.graph)));
    return [...findings, skipped('Kafka and Redis: not used in the embedded mode')];
  }
  const bindings = [...(graph.graph?.bindings.values() ?? [])];
  const topics = {
    graph: graph.graph?.name ?? '',
    all: topicsOf(bindings),
    withState: topicsOf(bindings.filter(({ state }) => state)),
    published: config.ROLE === 'worker' ? [] : [...new Set(graph.graph?.publications.map(({ topic }) => topic))],
  };
  const isWorker = config.ROLE !== 'gateway';
  // Workers do not use them.
  const plain = config.ROLE === 'worker' ? [] : [...(graph.graph?.redisBindings.values() ?? [])];
  const [kafka, schemas, redis] = await Promise.all([
    isWorker ? checkKafka(config, topics) : checkGatewaysKafka(config, graph.graph, topics.published),
    isWorker && graph.graph ? checkSchemaRegistry(config, graph.graph) : [],
    checkRedisOf(
      config,
      plain.map(({ template }) => template),
    ),
  ]);
  const isConnected = isWorker && !kafka.some(({ status }) => status === 'skipped');
  const records = isConnected && graph.graph ? await checkTopicRecords(config, graph.graph, count) : [];
  return [...findings, ...kafka, ...schemas, ...records, ...redis];
}

/** @param plain channels of @redis */
async function checkRedisOf(config: Config, plain: readonly ChannelTemplate[]): Promise<Finding[]> {
  try {
    const access = await RedisAccess.open(config, createLog('silent'));
    return await checkRedis(config.REDIS_URL, config.CHANNEL_PREFIX, access, plain);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [failed(error.message), skipped('Redis: its certificates and credentials must be corrected first')];
  }
}

/** A gateway uses Kafka for mutations only: those with @kafkaPublish, and, where it knows brokers, those that may use context.publish. */
function checkGatewaysKafka(config: Config, graph: Graph | undefined, published: readonly string[]) {
  const problem = graph && missingBrokersProblem(graph.publications, config);
  if (problem !== undefined) return [failed(problem)];
  const mayPublish = config.KAFKA_BROKERS.length > 0 && graph?.schema.getMutationType();
  return mayPublish ? checkKafkaOfGateway(config, published) : [skipped('Kafka: not used with ROLE=gateway')];
}

function topicsOf(bindings: readonly Binding[]): string[] {
  return [...new Set(bindings.flatMap((binding) => binding.topics))];
}

function checkSettings(environment: Environment): { config: Config | undefined; findings: Finding[] } {
  const unknown = findUnknownVariables(environment);
  const foreign = unknown
    .filter(({ isNear, stopsStart }) => !isNear && !stopsStart)
    .map(({ message }) => warning(message));
  const misspelt = unknown.filter(({ isNear }) => isNear).map(({ message }) => failed(message));
  try {
    const config = readConfig(environment);
    const mode = config.isEmbedded ? 'embedded' : `ROLE=${config.ROLE}`;
    const insecure = kafkaWarnings(config).map(warning);
    return { config, findings: [ok(`settings: ${mode}`), ...misspelt, ...foreign, ...insecure] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The message has the misspelt variables.
    return { config: undefined, findings: [...error.message.split('\n').map(failed), ...foreign] };
  }
}

async function checkGraph(
  folder: string,
  config: Config | undefined,
): Promise<{ graph: Graph | undefined; findings: Finding[] }> {
  try {
    const graph = await loadGraph(folder);
    const fields = Object.keys(graph.schema.getSubscriptionType()?.getFields() ?? {});
    return {
      graph,
      findings: [
        ok(`graph: "${graph.name}" with ${fields.length} subscription ${fields.length === 1 ? 'field' : 'fields'}`),
        ...graph.warnings.map(warning),
        ...(config ? checkBackends(graph, config) : []),
        ...(config ? checkIdentity(graph, config) : []),
        ...(config && lacksSchemaRegistry(config)
          ? missingRegistryProblems(
              graph.bindings.values(),
              config.names,
              gluePackageFile(config.GRAPH) !== undefined,
            ).map(failed)
          : []),
        ...(config ? prefixProblems(graph.redisBindings.values(), config).map(failed) : []),
      ],
    };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { graph: undefined, findings: error.message.split(BETWEEN_PROBLEMS).map(failed) };
  }
}

/** Line breaks, but for those before a code frame and in it. */
const BETWEEN_PROBLEMS = /\n(?!\n|[\t >]*\d*[\t ]*\|)/;

function checkIdentity(graph: Graph, config: Config): Finding[] {
  if (config.ROLE === 'worker') return [];
  const problem = missingClaimsProblem(graph, acceptsTokens(config), config.names);
  return [
    ...(problem === undefined ? [] : [failed(problem)]),
    ...identityWarnings(config, graph.context.authenticate !== undefined).map(warning),
  ];
}

function checkBackends(graph: Graph, { backends, names, isEmbedded }: Config): Finding[] {
  const used = graph.context.backends ?? [];
  const missing = isEmbedded ? [] : used.filter((name) => !backends.has(backendVariable(name)));
  const settings = missing.map((name) => names.backend(name, 'URL')).join(', ');
  return [
    ...findUnknownBackends({ backends, names }, graph).map(({ message }) => failed(message)),
    ...(missing.length > 0
      ? [
          warning(
            `fields that use these backends fail, because no URL is set: ${settings}; set them, unless these fields are not used`,
          ),
        ]
      : []),
  ];
}
