import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createRouters } from '../../../../src/graph/router.ts';
import type { Binding } from '../../../../src/graph/schema/binding.ts';
import { Converter } from '../../../../src/kafka/decoding/converter.ts';
import { envelopeOf } from '../../../../src/kafka/decoding/envelopes/envelopes.ts';
import { SnakeCase } from '../../../../src/kafka/decoding/snake-case.ts';
import { settled } from '../settled.ts';

const LIMITS = { maxBytes: 2000, maxDepth: 6 };
const binding = (field: string, path: string): Binding => ({
  field,
  topics: ['rows'],
  envelope: 'DEBEZIUM',
  match: [{ arg: path, path, isOptional: true }],
  where: [],
  payload: [],
  isShared: true,
  tombstone: 'ROW',
});

const row = fc.record(
  {
    id: fc.integer(),
    customerId: fc.constantFrom('c1', 'c2', '', null),
    'odd "key"': fc.jsonValue({ maxDepth: 2 }),
    n: fc.double(),
  },
  { requiredKeys: ['id'] },
);
const source = fc.record(
  {
    version: fc.constant('3.7.0.Final'),
    connector: fc.constantFrom('postgresql', 'mysql'),
    ts_ms: fc.constantFrom(1_700_000_000_000, 1.5, 'x', null),
    snapshot: fc.constantFrom('false', 'true', 'last', true, null),
    sequence: fc.constant('["1","2"]'),
    other: fc.jsonValue({ maxDepth: 3 }),
  },
  { requiredKeys: [] },
);
const change = fc.record(
  {
    before: fc.oneof(fc.option(row), fc.jsonValue({ maxDepth: 1 })),
    after: fc.oneof({ weight: 4, arbitrary: fc.option(row) }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) }),
    source: fc.oneof({ weight: 4, arbitrary: source }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) }),
    op: fc.constantFrom('c', 'u', 'u', 'd', 'r', 't', 'x', 'cc', 1, null),
    transaction: fc.oneof(fc.constantFrom(null, { id: 't' }), fc.jsonValue({ maxDepth: 2 })),
    ts_ns: fc.constant('\u0000'),
    more: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['op'] },
);
const numbers = ['1700000000456789012', '1.0', '-0', '1e3', '01', '1.', '-', '+1', '.5', '1E+400', 'NaN', 'tru'];

/** The text of a change, often with an odd number, and sometimes broken. */
const text = fc
  .tuple(change, fc.constantFrom(0, 0, 2), fc.constantFrom(...numbers), fc.option(fc.nat(), { freq: 2 }))
  .chain(([value, space, number, at]) => {
    const json = JSON.stringify(value, null, space).replace('"\\u0000"', number);
    const byte = fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '.', 'e', '\n', '\u0000', 'n', ' ');
    return at === null ? fc.constant(json) : byte.map((one) => mutated(json, at % json.length, one));
  });

function mutated(json: string, at: number, byte: string): string {
  return json.slice(0, at) + byte + json.slice(at + 1);
}

/** Changes of Debezium in JSON become the same messages, or are poison for the same reason, whether they are rewritten or parsed. */
export function changeProperty() {
  const demands = fc.record({
    before: fc.boolean(),
    sourceTimestamp: fc.boolean(),
    transaction: fc.boolean(),
    isSnapshot: fc.boolean(),
  });
  const texts = fc.array(text, { minLength: 1, maxLength: 6 });
  const key = fc.constantFrom(null, { id: 1 }, '1');
  return fc.property(texts, demands, key, fc.boolean(), (records, demand, keyValue, readsRows) => {
    const bindings = readsRows
      ? [binding('row', 'id'), binding('of', 'customer_id')]
      : [{ ...binding('all', 'id'), match: [] }];
    const [rewriting, parsing] = [true, false].map((hasRewriter) => {
      const envelope = envelopeOf({ name: 'DEBEZIUM', read: undefined });
      const options = { hasRewriter, envelopes: new Map([['rows', { envelope, demand }]]) };
      return new Converter(createRouters(bindings, ''), LIMITS, new SnakeCase(), options);
    });
    for (const record of records) {
      const of = {
        topic: 'rows',
        key: keyValue === null ? null : Buffer.from(JSON.stringify(keyValue)),
        value: Buffer.from(record),
        ...(keyValue !== null && { keyValue }),
      };
      const [rewritten, parsed] = [rewriting, parsing].map((converter) => {
        const { poison, payload, destinations } = settled(converter!.convert(of));
        if (poison !== undefined) return poison;
        return destinations.map((one) => [one.channel, one.isDeparture, String(one.payload ?? payload)]);
      });
      assert.deepEqual(rewritten, parsed, record);
    }
  });
}
