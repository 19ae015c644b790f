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
import type { SeenRecord } from '../../../src/tools/init/seen-record.ts';
import type { SampleRecord } from '../../../src/graph/graph-parts.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { createRouters } from '../../../src/graph/router.ts';
import { keyPlaces } from '../../../src/graph/schema/key-places.ts';
import { Converter } from '../../../src/kafka/decoding/converter.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';

const TOPIC = 'shop.orders.v1';
const LIMITS = { maxBytes: 1_048_576, maxDepth: 64 };

/** The records as `crier init` sees them. @param values JSON, also of objects that a literal cannot have */
export function seen(values: readonly string[], keys: readonly string[] = []): readonly SeenRecord[] {
  return values.map((value, i) => ({
    key: keys[i],
    value: parseExactly(value) as Record<string, unknown>,
    payload: new SnakeCase().convertObjToSnakeKeys(parseExactly(value) as Record<string, unknown>),
  }));
}

/** The written schema of records. */
export function schemaOf(values: readonly unknown[], keys?: readonly string[]): string {
  const records = seen(
    values.map((value) => JSON.stringify(value)),
    keys,
  );
  return schemaText(inferGraph(TOPIC, records), 'records');
}

/**
 * Infers a graph, loads it without a warning, and takes each record and each sample through conversion and an execution that reads every
 * field. Returns the graph, and the results of the records.
 */
export async function lived(t: TestContext, records: readonly SeenRecord[]) {
  const inferred = inferGraph(TOPIC, records);
  const text = schemaText(inferred, 'records');
  const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
  assert.deepEqual(graph.warnings, [], text);

  const bindings = [...graph.bindings.values()];
  const converter = new Converter(
    createRouters(bindings, 'crier:', () => undefined),
    LIMITS,
    new SnakeCase(),
    { keyPlaces: keyPlaces(bindings, graph.shapes) },
  );
  const document = parse(everyField(inferred));
  const results: unknown[] = [];
  const samples = await samplesOf(records);
  for (const [i, { key, value }] of [...records, ...samples].entries()) {
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
    const payload = JSON.parse(String(converted.payload)) as Record<string, unknown>;
    const { data, errors } = await execute({ schema: graph.schema, document, rootValue: payload });
    assert.deepEqual(errors, undefined, `${text}\n${String(converted.payload)}`);
    results.push(data?.[inferred.field]);
  }
  const example = exampleSubscription(inferred, records);
  assert.deepEqual(validate(graph.schema, parse(example)), []);
  return { inferred, text, example, results: results.slice(0, records.length), samples };
}

/** The records that the written samples.ts yields. */
async function samplesOf(records: readonly SeenRecord[]): Promise<readonly SampleRecord[] & readonly SeenRecord[]> {
  const source = samplesText(TOPIC, records, 'records');
  assert.doesNotMatch(source, /[\u200b-\u200f\u2028-\u202e\u2066-\u2069]/);
  const module = (await import(`data:text/javascript;base64,${Buffer.from(source).toString('base64')}`)) as {
    records(): Iterable<SampleRecord>;
  };
  const samples: SampleRecord[] = [];
  for (const record of module.records()) if (samples.push(record) === Math.min(records.length, 20)) break;
  return samples as never;
}

function everyField({ field, object }: InferredGraph): string {
  return `subscription { ${field} ${object ? selectionOf(object) : ''} }`;
}

function selectionOf({ fields }: InferredObject): string {
  return `{ ${fields.map(({ name, object }) => (object ? `${name} ${selectionOf(object)}` : name)).join(' ')} }`;
}
