import { errorOf } from '../base/errors.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { mayHaveSchema, topicReads } from '../graph/schema/topic-reads.ts';
import type { TopicReads } from '../graph/schema/topic-reads.ts';
import { COMPILERS } from '../kafka/decoding/compilers.ts';
import type { DecoderOptions } from '../kafka/decoding/decoder.ts';
import { graphDecoders } from '../kafka/decoding/graph-decoders.ts';
import type { GraphDecoders } from '../kafka/decoding/graph-decoders.ts';
import { openRegistries } from '../kafka/decoding/registries.ts';
import { compareWithNewest, describesRows, subjectOf } from '../kafka/decoding/schema-comparison.ts';
import type { SchemaRegistry } from '../kafka/decoding/schema-registry.ts';
import type { RoleServices } from './services.ts';

/** Fields that a log line names. */
const MAX_NAMED = 50;

/** The decoders of a graph's records. With a registry, begins to compare the graph with the newest schemas. */
export type DecodersOf = (graph: Graph) => GraphDecoders;

/**
 * Makes decoders for graphs.
 * @param onOverflow called for each number that became null because JSON cannot print it
 */
export async function openSchemaRegistry(
  services: RoleServices,
  { limits, onOverflow }: Pick<DecoderOptions, 'limits' | 'onOverflow'>,
): Promise<DecodersOf> {
  const { config, log, register } = services;
  const { registry, glue } = register(await openRegistries(config, log));
  return (graph) => {
    const topics = topicReads(graph);
    for (const reads of registry ? topics.filter(mayHaveSchema).filter(describesRows) : []) {
      const { nameOf, shape } = reads;
      void logDifference(services, reads, registry!, { nameOf, shape, limits, onOverflow });
    }
    return graphDecoders(topics, { registry, glue, compilers: COMPILERS, limits, onOverflow, log });
  };
}

/** Never rejects. */
async function logDifference(
  { log }: RoleServices,
  reads: TopicReads,
  registry: SchemaRegistry,
  options: DecoderOptions,
): Promise<void> {
  const { topic } = reads;
  const subject = subjectOf(reads);
  try {
    const difference = await compareWithNewest(reads, registry, COMPILERS, options);
    if (!difference) return;
    const [missing, unread] = [difference.missing.slice(0, MAX_NAMED), difference.unread.slice(0, MAX_NAMED)];
    if (missing.length > 0)
      log.warn(
        { topic, subject, fields: missing },
        'the graph reads fields that the newest schema of the topic does not have',
      );
    if (unread.length > 0)
      log.info(
        { topic, subject, fields: unread },
        'no field of the graph reads these fields of the newest schema of the topic',
      );
  } catch (error) {
    log.warn(
      { topic, subject, err: { message: errorOf(error).message } },
      'the newest schema of the topic was not compared',
    );
  }
}
