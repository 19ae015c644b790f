import type { Config } from '../../config/config.ts';
import { ConfigError, errorOf } from '../../base/errors.ts';
import type { Graph } from '../../graph/graph-parts.ts';
import { INTEGER_FIX } from '../../graph/record-check/record-value-check.ts';
import type { Binding } from '../../graph/schema/binding.ts';
import { mayHaveSchema, topicReads } from '../../graph/schema/topic-reads.ts';
import type { TopicReads } from '../../graph/schema/topic-reads.ts';
import { COMPILERS } from '../../kafka/decoding/compilers.ts';
import { openRegistryRequests } from '../../kafka/decoding/registry-access.ts';
import type { RegistryRequests } from '../../kafka/decoding/registry-requests.ts';
import { SchemaUnavailableError } from '../../kafka/decoding/schema-errors.ts';
import { compareWithNewest, describesRows, subjectOf } from '../../kafka/decoding/schema-comparison.ts';
import { SchemaRegistry } from '../../kafka/decoding/schema-registry.ts';
import { createLog } from '../../base/log.ts';
import { failed, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { longFields } from './long-fields.ts';

/** Asks the schema registry for the newest schema of each topic, and compares it with what the graph reads. */
export async function checkSchemaRegistry(config: Config, graph: Graph): Promise<Finding[]> {
  if (config.SCHEMA_REGISTRY_URL.length === 0) return [];
  let requests: RegistryRequests;
  try {
    requests = await openRegistryRequests(config, createLog('silent'));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [failed(error.message)];
  }
  const registry = new SchemaRegistry(requests, config.names);
  const limits = { maxBytes: config.MAX_RECORD_BYTES, maxDepth: config.MAX_RECORD_DEPTH };
  const topics = topicReads(graph).filter(mayHaveSchema);
  const findings: Finding[] = [];
  try {
    // A request beside those for the topics, of which there may be none.
    const types = await requests.get('/schemas/types');
    if (!Array.isArray(types)) {
      throw new SchemaUnavailableError(
        `${config.names.SCHEMA_REGISTRY_URL} answers, but is no schema registry; correct it`,
      );
    }
    findings.push(ok('schema registry: answers, and accepts the credentials'));
    for (const reads of topics) findings.push(...(await compare(reads, graph, registry, limits)));
  } catch (error) {
    if (!(error instanceof SchemaUnavailableError)) throw error;
    findings.push(failed(`schema registry: ${error.message}`));
  } finally {
    await requests.close();
  }
  return findings;
}

async function compare(
  reads: TopicReads,
  graph: Graph,
  registry: SchemaRegistry,
  limits: { readonly maxBytes: number; readonly maxDepth: number },
): Promise<Finding[]> {
  const { nameOf, shape } = reads;
  const subject = subjectOf(reads);
  if (!describesRows(reads))
    return [
      skipped(`schema registry: a schema of ${subject} does not describe rows of envelope: ${reads.envelope!.name}`),
    ];
  try {
    const options = { nameOf, shape, limits, onOverflow: () => undefined };
    const difference = await compareWithNewest(reads, registry, COMPILERS, options);
    if (!difference) return [ok(`schema registry: no subject ${subject}`)];
    const { missing, unread, mayHaveOthers = false } = difference;
    const ofUnmatched = mayHaveOthers ? warning : failed;
    const longs = await longFields(reads, graph, registry);
    const unmatched = unmatchedFields([...graph.bindings.values()], reads.topic, missing);
    return [
      ...unmatched.map(({ field, path }) =>
        ofUnmatched(
          `schema registry: Subscription.${field}: the newest schema of ${subject} has no "${path}", which chooses the subscriptions that receive ` +
            'a record: none of them does; correct the path in @kafka, or have the producer register a schema that has it',
        ),
      ),
      missing.length === 0
        ? ok(`schema registry: the newest schema of ${subject} has all fields that the graph reads`)
        : warning(
            `schema registry: the graph reads fields that the newest schema of ${subject} does not have: ${missing.join(', ')}; they are null: ` +
              'rename or remove them in the graph, or have the producer register a schema that has them',
          ),
      ...(unread.length === 0
        ? []
        : [ok(`schema registry: fields of ${subject} that the graph does not read: ${unread.join(', ')}`)]),
      ...longs.map((field) =>
        warning(`schema registry: ${field} is Int, and ${subject} has integers of 64 bits there; ${INTEGER_FIX}`),
      ),
    ];
  } catch (error) {
    if (error instanceof SchemaUnavailableError) throw error;
    return [
      failed(
        `schema registry: the newest schema of ${subject} cannot be used: ${errorOf(error).message}; correct it in the registry, or the format in @kafka`,
      ),
    ];
  }
}

/** The fields of a topic that have a required path which its schema lacks. None, if a field of the topic has all: the others may be for other records. */
function unmatchedFields(bindings: readonly Binding[], topic: string, missing: readonly string[]) {
  const isMissing = (path: string) => missing.some((one) => path === one || path.startsWith(`${one}.`));
  const fields = bindings
    .filter(({ topics }) => topics.includes(topic))
    .map(({ field, match, where }) => {
      const required = [...match.filter(({ isOptional }) => !isOptional), ...where];
      return { field, path: required.map(({ path }) => path).find(isMissing) };
    });
  return fields.flatMap(({ field, path }) =>
    path !== undefined && fields.every((one) => one.path !== undefined) ? [{ field, path }] : [],
  );
}
