import type { Config } from '../../config/config.ts';
import { firstSamples } from '../../graph/embedded/first-samples.ts';
import type { FirstSamples } from '../../graph/embedded/first-samples.ts';
import { errorOf } from '../../base/errors.ts';
import type { Graph } from '../../graph/graph-parts.ts';
import { topicReads } from '../../graph/schema/topic-reads.ts';
import { COMPILERS } from '../../kafka/decoding/compilers.ts';
import { graphDecoders } from '../../kafka/decoding/graph-decoders.ts';
import { openRegistries } from '../../kafka/decoding/registries.ts';
import { createLog } from '../../base/log.ts';
import { failed, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { TopicRecords } from './topic-records.ts';
import type { CheckedTopic, UndecodableRecord } from './topic-records.ts';

/** Compares the newest records of the graph's topics with the graph. @param count of each topic; default: 50 */
export async function checkTopicRecords(config: Config, graph: Graph, count?: number): Promise<Finding[]> {
  const log = createLog('silent');
  // What cannot be loaded is a finding of the check of the registry.
  const registries = await openRegistries(config, log).catch(() => undefined);
  if (!registries) return [skipped('records: the access to the schema registry must be corrected first')];
  const limits = { maxBytes: config.MAX_RECORD_BYTES, maxDepth: config.MAX_RECORD_DEPTH };
  const options = { ...registries, compilers: COMPILERS, limits, onOverflow: () => undefined, log };
  const decoders = graphDecoders(topicReads(graph), options);
  try {
    const records = new TopicRecords(config, graph, decoders);
    const findings = (await records.check(records.topics, undefined, count)).flatMap((one) =>
      findingsOf(one, 'the newest records'),
    );
    const problem = await registries.glue?.problem();
    return problem === undefined ? findings : [...findings, failed(`schema registry: ${problem}`)];
  } catch (error) {
    return [skipped(`records: those of the topics could not be read: ${errorOf(error).message}`)];
  } finally {
    await registries.close();
  }
}

/** Compares the first sample records with the graph. */
export async function checkSamples(config: Config, graph: Graph): Promise<Finding[]> {
  if (!graph.samples) return [];
  const records = new TopicRecords(config, graph, { values: new Map(), keys: new Map() });
  let first: FirstSamples;
  try {
    first = firstSamples(graph.samples, graph);
  } catch (error) {
    return [failed(`records: records() of the samples failed: ${errorOf(error).message}; correct it in samples.ts`)];
  }
  const { topics, problems } = first;
  const checked = await Promise.all(Array.from(topics, ([topic, of]) => records.checkRecords(topic, of, 'samples.ts')));
  const misfitting = checked.flatMap((one) => (one && (one.misfits.length > 0 || one.undecodable) ? [one] : []));
  const findings = [
    ...problems.map((problem) => warning(`records: ${problem}`)),
    ...misfitting.flatMap((one) => findingsOf(one, 'the first samples')),
  ];
  return findings.length > 0 ? findings : [ok('records: the first samples fit the graph')];
}

/** A topic of which no value reaches anybody is a failure; what may be as it should be is a warning. */
function findingsOf({ topic, records, misfits, undecodable }: CheckedTopic, which: string): Finding[] {
  return [
    ...(undecodable ? [undecodableFinding(topic, records, undecodable, which)] : []),
    ...(records > 0 && misfits.length === 0
      ? [ok(`records: ${which} of the topic ${topic} fit the graph (${records} compared)`)]
      : []),
    ...misfits.flatMap(({ field, partition, offset, problems }) =>
      problems.map(({ text, isBlocking }) => {
        const status = isBlocking ? failed : warning;
        return status(
          `records: ${which} of the topic ${topic} (partition ${partition}, offset ${offset}): ${field}: ${text}`,
        );
      }),
    ),
  ];
}

function undecodableFinding(
  topic: string,
  records: number,
  { why, fix, partition, offset, count }: UndecodableRecord,
  which: string,
): Finding {
  const reason = `${why} (partition ${partition}, offset ${offset}); ${fix}`;
  if (records === 0)
    return failed(
      `records: none of ${which} of the topic ${topic} can be decoded (${count} tried), so its fields deliver nothing: ${reason}`,
    );
  return warning(`records: ${count} of ${which} of the topic ${topic} cannot be decoded: ${reason}`);
}
