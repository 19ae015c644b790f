import assert from 'node:assert/strict';
import { it } from 'node:test';
import { GraphError } from '../../../src/base/errors.ts';
import { defineGraph } from '../../../src/library/define-graph.ts';

const decode = () => () => ({});
const schema = (format: string) =>
  `type Order { id: ID } type Subscription { order: Order @kafka(topic: "orders", format: ${format}) }`;

function problemsOf(format: string, formats: object): string[] {
  try {
    defineGraph({ schema: schema(format), formats: formats as Record<string, typeof decode> });
    return [];
  } catch (error) {
    assert.ok(error instanceof GraphError);
    return error.message.split('\n');
  }
}

it('adds the formats that a graph brings to those of crier, in its schema alone', () => {
  const { bindings, formats, schema: shown } = defineGraph({ schema: schema('CBOR'), formats: { CBOR: decode } });
  assert.equal(bindings.get('order')!.format, 'CBOR');
  assert.deepEqual(Object.keys(formats), ['CBOR']);
  assert.equal(shown.getType('KafkaFormat'), undefined);
});

it('names the formats of the graph to a field that misspells one', () => {
  assert.match(
    problemsOf('CBORR', { CBOR: decode }).join('\n'),
    /must be one of JSON, AVRO, PROTOBUF, JSON_SCHEMA, CBOR/,
  );
});

it('refuses names that a schema cannot have or crier has, and what is no function', () => {
  const fix = "names are in capitals (CBOR), and none of crier's; move helpers to another file";
  assert.deepEqual(problemsOf('JSON', { AVRO: decode, cbor: decode, BSON: 'bson' }), [
    `formats: AVRO cannot be the name of a format: ${fix}`,
    `formats: cbor cannot be the name of a format: ${fix}`,
    'formats: BSON must be a function',
  ]);
  assert.deepEqual(problemsOf('JSON', { default: decode }), [
    'formats: has a default export; use named ones, such as export const CBOR',
  ]);
});
