import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { execute, parse, validate } from 'graphql';
import { parseExactly } from '../../../src/base/json/exact-numbers.ts';
import { exampleSubscription } from '../../../src/tools/init/example-subscription.ts';
import { inferGraph } from '../../../src/tools/init/inferred-graph.ts';
import type { InferredGraph } from '../../../src/tools/init/inferred-graph.ts';
import type { InferredObject } from '../../../src/tools/init/inferred-types.ts';
import { samplesText } from '../../../src/tools/init/samples-text.ts';
import { schemaText } from '../../../src/tools/init/schema-text.ts';
import type { Sample, SeenRecord } from '../../../src/tools/init/seen-record.ts';
import { seenTopic } from '../../../src/tools/init/seen-topic.ts';
import type { SeenTopic } from '../../../src/tools/init/seen-topic.ts';
import { splitChange } from '../../../src/bus/change-text.ts';
import { changeDemands } from '../../../src/graph/change-demands.ts';
import type { SampleRecord } from '../../../src/graph/graph-parts.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { createRouters } from '../../../src/graph/router.ts';
import { keyPlaces } from '../../../src/graph/schema/key-places.ts';
import { topicReads } from '../../../src/graph/schema/topic-reads.ts';
import type { RecordContent } from '../../../src/kafka/batch.ts';
import { Converter } from '../../../src/kafka/decoding/converter.ts';
import { envelopeOf } from '../../../src/kafka/decoding/envelopes/envelopes.ts';
import { RecordKeys } from '../../../src/kafka/decoding/record-keys.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';

const TOPIC = 'shop.orders.v1';
const LIMITS = { maxBytes: 1_048_576, maxDepth: 64 };

/** The topic as `crier init` sees it. @param values JSON, also of objects that a literal cannot have */
export function seen(values: readonly string[], keys: readonly string[] = []): SeenTopic {
  const recordKeys = new RecordKeys({
    limits: LIMITS,
    snakeCase: new SnakeCase(),
    keyPlace: undefined,
    decoders: undefined,
  });
  const read = values.map((value, i) => {
    const content = recordKeys.read({ key: Buffer.from(keys[i] ?? '') } as RecordContent) as RecordContent;
    const key = keys[i] === undefined ? undefined : String(content.key);
    return { key, keyValue: content.keyValue, value: parseExactly(value) };
  });
  return seenTopic(read, LIMITS);
}

/** The written schema of records. */
export function schemaOf(values: readonly unknown[], keys?: readonly string[]): string {
  const json = values.map((value) => JSON.stringify(value));
  return schemaText(inferGraph(TOPIC, seen(json, keys)), 'records');
}

/**
 * Infers a graph, loads it without a warning, and takes each record and each sample through conversion and an execution that reads every
 * field. Returns the graph, and the results of the records.
 */
export async function lived(t: TestContext, topic: SeenTopic) {
  const { records } = topic;
  const inferred = inferGraph(TOPIC, topic);
  const text = schemaText(inferred, 'records');
  const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
  assert.deepEqual(graph.warnings, [], text);

  const bindings = [...graph.bindings.values()];
  const demand = changeDemands(bindings).get(TOPIC)!;
  const envelopes = topicReads(graph).flatMap(({ envelope }) =>
    envelope ? [[TOPIC, { envelope: envelopeOf(envelope), demand }] as const] : [],
  );
  const converter = new Converter(
    createRouters(bindings, 'crier:', () => undefined),
    LIMITS,
    new SnakeCase(),
    { keyPlaces: keyPlaces(bindings, graph.shapes), envelopes: new Map(envelopes) },
  );
  const document = parse(everyField(inferred));
  const results: unknown[] = [];
  const samples = await samplesOf(topic.samples);
  for (const [i, { key, value }] of [...records, ...samples.filter(isThere)].entries()) {
    const at = { partition: 0, offset: i, key: key === undefined ? null : Buffer.from(key) };
    const bytes = Buffer.from(JSON.stringify(value));
    const converted = await converter.convert({
      ...at,
      topic: TOPIC,
      timestamp: 0,
      value: bytes,
      headers: {},
    } as never);
    assert.ok('payload' in converted && converted.destinations!.length > 0, JSON.stringify(converted));
    const { row } = splitChange(Buffer.from(converted.destinations![0]!.payload ?? converted.payload!));
    const payload = JSON.parse(String(row)) as Record<string, unknown>;
    const { data, errors } = await execute({ schema: graph.schema, document, rootValue: payload });
    assert.deepEqual(errors, undefined, `${text}\n${String(row)}`);
    results.push(data?.[inferred.all ?? inferred.field]);
  }
  const example = exampleSubscription(inferred, records);
  assert.deepEqual(validate(graph.schema, parse(example)), []);
  return { inferred, text, example, results: results.slice(0, records.length), samples };
}

/** True for a sample of a row that is not deleted. */
function isThere({ value }: SampleRecord): boolean {
  const { op, __op = op, __deleted } = (value ?? { op: 'd' }) as Record<string, unknown>;
  return __op !== 'd' && __deleted !== 'true';
}

/** The records that the written samples.ts yields. */
async function samplesOf(records: readonly Sample[]): Promise<readonly SampleRecord[] & readonly SeenRecord[]> {
  const source = samplesText(TOPIC, records, 'records');
  assert.doesNotMatch(source, /[\u200b-\u200f\u2028-\u202e\u2066-\u2069]/);
  const module = (await import(`data:text/javascript;base64,${Buffer.from(source).toString('base64')}`)) as {
    records(): Iterable<SampleRecord>;
  };
  const samples: SampleRecord[] = [];
  for (const record of module.records()) if (samples.push(record) === Math.min(records.length, 20)) break;
  return samples as never;
}

function everyField({ field, all = field, object }: InferredGraph): string {
  return `subscription { ${all} ${object ? selectionOf(object) : ''} }`;
}

function selectionOf({ fields }: InferredObject): string {
  return `{ ${fields.map(({ name, object }) => (object ? `${name} ${selectionOf(object)}` : name)).join(' ')} }`;
}
