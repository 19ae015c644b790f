import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Change } from '../../../../src/bus/change-text.ts';
import { splitChange } from '../../../../src/bus/change-text.ts';
import { headerPart, keyPathPart } from '../../../../src/graph/record-parts.ts';
import { createRouters } from '../../../../src/graph/router.ts';
import type { Binding } from '../../../../src/graph/schema/binding.ts';
import { Converter } from '../../../../src/kafka/decoding/converter.ts';
import { envelopeOf } from '../../../../src/kafka/decoding/envelopes/envelopes.ts';
import { SnakeCase } from '../../../../src/kafka/decoding/snake-case.ts';

const LIMITS = { maxBytes: 100_000, maxDepth: 12 };
const DEMAND = { before: true, sourceTimestamp: true, transaction: true, isSnapshot: true };
const match = (path: string, isOptional = false) => ({ arg: path, path, isOptional });
const binding = (parts: Partial<Binding>): Binding => ({
  field: 'row',
  topics: ['rows'],
  envelope: 'DEBEZIUM',
  match: [match('id')],
  where: [],
  payload: [],
  isShared: true,
  tombstone: 'NULL',
  ...parts,
});
const BY_ID = binding({});
const BY_CUSTOMER = binding({ field: 'of_customer', match: [match('customer_id', true)] });

interface Received {
  readonly row: unknown;
  readonly change: Change | undefined;
}

/** Converts records of one topic. Returns, by channel, what it receives; or the reason why the record is poison. */
function conversions(
  bindings: readonly Binding[],
  { hasRewriter = true, demand = DEMAND, read }: { hasRewriter?: boolean; demand?: typeof DEMAND; read?: never } = {},
) {
  const envelope = envelopeOf({ name: bindings[0]!.envelope!, read });
  const options = { hasRewriter, envelopes: new Map([['rows', { envelope, demand }]]) };
  const converter = new Converter(createRouters(bindings, ''), LIMITS, new SnakeCase(), options);
  return (value: unknown, key: unknown = null) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const conversion = converter.convert({
      topic: 'rows',
      key: key === null ? null : Buffer.from(JSON.stringify(key)),
      value: value === null ? null : Buffer.from(text),
      ...(key !== null && { keyValue: key }),
    });
    assert.ok(!(conversion instanceof Promise));
    if (conversion.poison !== undefined) return conversion.poison;
    const received: Record<string, Received> = {};
    for (const { channel, isDeparture, payload = conversion.payload } of conversion.destinations) {
      const { row, change } = splitChange(Buffer.from(isDeparture ? 'null' : payload));
      received[channel] = { row: JSON.parse(String(row)), change };
    }
    return received;
  };
}

const source = { ts_ms: 1_700_000_000_000, snapshot: 'false', table: 'rows' };
const a = { id: 7, customerId: 'c1', name: 'a' };
const b = { id: 7, customerId: 'c2', name: 'b' };
const [rowA, rowB] = [a, b].map(({ customerId, ...rest }) => ({
  id: rest.id,
  customer_id: customerId,
  name: rest.name,
}));
const facts = { sourceTimestamp: 1_700_000_000_000 };

for (const hasRewriter of [true, false]) {
  describe(`changes of Debezium with KEY_REWRITER=${hasRewriter}`, () => {
    const convert = (bindings: readonly Binding[], options = {}) => conversions(bindings, { hasRewriter, ...options });

    it('reach the channels of the row', () => {
      assert.deepEqual(convert([BY_ID])({ before: null, after: a, source, op: 'c', transaction: { id: 't1' } }), {
        'rows{id="7"}': { row: rowA, change: { ...facts, transaction: 't1', op: 'CREATE' } },
      });
      assert.deepEqual(convert([BY_ID])({ before: null, after: a, source: { ...source, snapshot: 'last' }, op: 'r' }), {
        'rows{id="7"}': { row: rowA, change: { ...facts, isSnapshot: true, op: 'READ' } },
      });
    });

    it('that delete a row reach the channels of the row before', () => {
      assert.deepEqual(convert([BY_ID, BY_CUSTOMER])({ before: a, after: null, source, op: 'd' }, { id: 7 }), {
        'rows{id="7"}': { row: null, change: { ...facts, op: 'DELETE', before: rowA } },
        'rows{customer_id="c1"}': { row: null, change: { ...facts, op: 'DELETE', before: rowA } },
        'rows{customer_id=*}': { row: null, change: { ...facts, op: 'DELETE', before: rowA } },
      });
    });

    it('that delete a row of which the source knows the key only show no row before', () => {
      const before = { id: 7, customerId: null, name: null };
      assert.deepEqual(convert([BY_ID, BY_CUSTOMER])({ before, after: null, source, op: 'd' }, { id: 7 }), {
        'rows{id="7"}': { row: null, change: { ...facts, op: 'DELETE' } },
        'rows{customer_id=*}': { row: null, change: { ...facts, op: 'DELETE' } },
      });
    });

    it('of a matched value delete the row where it was, and show its past to nobody new', () => {
      assert.deepEqual(convert([BY_ID, BY_CUSTOMER])({ before: a, after: b, source, op: 'u' }, { id: 7 }), {
        'rows{id="7"}': { row: rowB, change: { ...facts, op: 'UPDATE', before: rowA } },
        'rows{customer_id="c1"}': { row: null, change: { ...facts, op: 'DELETE', before: rowA } },
        'rows{customer_id="c2"}': { row: rowB, change: { ...facts, op: 'UPDATE' } },
        'rows{customer_id=*}': { row: rowB, change: { ...facts, op: 'UPDATE', before: rowA } },
      });
    });

    it('carry only what is asked for', () => {
      const demand = { before: false, sourceTimestamp: false, transaction: false, isSnapshot: false };
      assert.deepEqual(convert([BY_ID], { demand })({ before: a, after: b, source, op: 'u' }), {
        'rows{id="7"}': { row: rowB, change: { op: 'UPDATE' } },
      });
    });

    it('of no row reach nobody, and what is no change is poison', () => {
      const one = convert([BY_ID]);
      assert.deepEqual(one({ op: 't', before: null, after: null, source }), {});
      assert.deepEqual(one({ op: 'm', message: { prefix: 'p', content: '' } }), {});
      for (const value of [a, { op: 'x', after: a }, { op: 'c', after: null }, { op: 'u', after: 'text' }, '[]', '7'])
        assert.equal(one(value), 'not_envelope', JSON.stringify(value));
      assert.equal(one('{"op":"c",'), 'not_json');
      assert.equal(one('x'.repeat(100_001)), 'too_large');
    });

    it('are read with the schema of Connect beside them', () => {
      const value = { schema: { type: 'struct', fields: [] }, payload: { before: null, after: a, source, op: 'c' } };
      assert.deepEqual(convert([BY_ID])(value), { 'rows{id="7"}': { row: rowA, change: { ...facts, op: 'CREATE' } } });
    });

    it('a tombstone says nothing new', () => {
      const one = convert([BY_ID]);
      one({ before: a, after: null, source, op: 'd' }, { id: 7 });
      assert.deepEqual(one(null, { id: 7 }), {});
    });
  });
}

describe('channels that a header names', () => {
  it('are shown no row before, which may have been in another one', () => {
    const envelope = envelopeOf({ name: 'DEBEZIUM', read: undefined });
    const ofTenant = binding({ match: [match('id'), match(headerPart('tenant'), true)] });
    const options = { envelopes: new Map([['rows', { envelope, demand: DEMAND }]]) };
    const converter = new Converter(createRouters([ofTenant], ''), LIMITS, new SnakeCase(), options);
    const shown = (value: object) => {
      const record = { topic: 'rows', key: Buffer.from('7'), value: Buffer.from(JSON.stringify(value)) };
      const conversion = converter.convert({ ...record, headers: { tenant: 'b' } });
      assert.ok(!(conversion instanceof Promise) && conversion.destinations);
      const { destinations, payload } = conversion;
      return destinations.map((one) => [one.channel, splitChange(Buffer.from(one.payload ?? payload)).change?.before]);
    };
    const [own, all] = ['rows{.header "tenant"="b",id="7"}', 'rows{.header "tenant"=*,id="7"}'];
    const changes: [change: object, before: unknown][] = [
      [{ before: null, after: a, source, op: 'c' }, undefined],
      [{ before: a, after: b, source, op: 'u' }, rowA],
      [{ before: a, after: null, source, op: 'd' }, rowA],
    ];
    for (const [change, before] of changes)
      assert.deepEqual(new Map(shown(change) as [string, unknown][]), new Map([[own, undefined], [all, before]])); // prettier-ignore
  });
});

describe('a delete of which only the key is known', () => {
  const SPLIT = [BY_ID, binding({ field: 'of_customer', match: [match('customer_id')] })];

  for (const envelope of ['CONNECT', 'DEBEZIUM_FLAT', 'OUTBOX']) {
    it(`reaches the channels that the key names, and none of another column (${envelope})`, () => {
      const one = conversions(SPLIT.map((each) => ({ ...each, envelope })));
      const deleted = { row: null, change: { op: 'DELETE' } };
      assert.deepEqual(one(null, { id: 7 }), { 'rows{id="7"}': deleted });
      assert.deepEqual(one(null, { id: 7, customer_id: 'c1' }), {
        'rows{id="7"}': deleted,
        'rows{customer_id="c1"}': deleted,
      });
    });
  }
});

describe('a value that a database did not log', () => {
  const state = { seconds: 0 };
  const gone = '__debezium_unavailable_value';
  const update = (name: unknown) => ({ before: null, after: { ...a, name }, source, op: 'u' });

  it('is that of the state that the key names, once the records before are published', async () => {
    const unknown: number[] = [];
    const read: string[] = [];
    const envelope = envelopeOf({ name: 'DEBEZIUM', read: undefined });
    const lastOf = (channel: string) => {
      read.push(channel);
      return Promise.resolve(
        channel.includes('"7"') ? Buffer.from('{"id":7,"name":"last"}\n{"op":"CREATE"}') : undefined,
      );
    };
    const onUnknown = (values: number) => void unknown.push(values);
    const envelopes = new Map([['rows', { envelope, demand: DEMAND, lastOf, onUnknown }]]);
    const routers = createRouters(
      [
        { ...BY_ID, state },
        { ...BY_CUSTOMER, state },
      ],
      '',
    );
    const converter = new Converter(routers, LIMITS, new SnakeCase(), { envelopes });
    const recordOf = (id: number) => {
      const value = update(gone);
      const text = JSON.stringify({ ...value, after: { ...value.after, id } });
      return { topic: 'rows', key: Buffer.from(`{"id":${id}}`), keyValue: { id }, value: Buffer.from(text) };
    };
    const nameIn = async (id: number) => {
      const { destinations, payload } = await converter.convert(recordOf(id), true);
      const text = String(destinations!.find(({ channel }) => channel.startsWith('rows{id='))!.payload ?? payload);
      return (JSON.parse(text.split('\n')[0]!) as { name: unknown }).name;
    };
    assert.throws(() => converter.convert(recordOf(7), false), { code: 'ERR_UNPUBLISHED' });
    assert.deepEqual([await nameIn(7), await nameIn(8)], ['last', null]);
    assert.deepEqual([unknown, read], [[1], ['rows{id="7"}', 'rows{id="8"}']]);
  });

  it('is null without a state, and counted; of the row before where that is whole', () => {
    const one = conversions([BY_ID]);
    const rowOf = (value: unknown) => (one(value) as Record<string, Received>)['rows{id="7"}']!.row;
    assert.deepEqual(rowOf(update(gone)), { ...rowA, name: null });
    assert.deepEqual(rowOf(update([gone])), { ...rowA, name: null });
    assert.deepEqual(rowOf({ ...update(gone), before: a }), rowA);
  });
});

describe('the rewriter of changes', () => {
  const row = fc.record(
    { id: fc.integer(), customerId: fc.constantFrom('c1', 'c2', null), 'odd "key"': fc.jsonValue(), n: fc.double() },
    { requiredKeys: ['id'] },
  );
  const change = fc.record(
    {
      before: fc.option(row),
      after: fc.option(row),
      op: fc.constantFrom('c', 'u', 'd', 'r', 't', 'x'),
      source: fc.constantFrom(source, null, { snapshot: 'true' }),
      transaction: fc.constantFrom(null, { id: 't' }),
      other: fc.jsonValue(),
    },
    { requiredKeys: ['op'] },
  );

  it('makes what parsing makes', () => {
    const [rewritten, parsed] = [true, false].map((hasRewriter) => conversions([BY_ID, BY_CUSTOMER], { hasRewriter }));
    const key = fc.constantFrom(null, { id: 1 });
    fc.assert(
      fc.property(change, fc.constantFrom(0, 2), key, (value, space, of) => {
        const text = JSON.stringify(value, null, space);
        assert.deepEqual(rewritten!(text, of), parsed!(text, of));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('other envelopes', () => {
  const byId = (envelope: string) => conversions([binding({ envelope })]);

  it('CONNECT: rows, with and without a schema', () => {
    const expected = { 'rows{id="7"}': { row: rowA, change: undefined } };
    assert.deepEqual(byId('CONNECT')(a), expected);
    assert.deepEqual(byId('CONNECT')({ schema: { type: 'struct' }, payload: a }), expected);
    const own = { id: 7, schema: 'public', payload: 'x' };
    assert.deepEqual(byId('CONNECT')(own), { 'rows{id="7"}': { row: own, change: undefined } });
  });

  it('DEBEZIUM_FLAT: a deleted row is told once, though a tombstone follows', () => {
    const one = byId('DEBEZIUM_FLAT');
    const flat = { ...a, __op: 'u', __deleted: 'false', __source_ts_ms: 5 };
    const kept = { __op: 'u', __deleted: 'false', __source_ts_ms: 5 };
    const change = { sourceTimestamp: 5 };
    assert.deepEqual(one(flat), { 'rows{id="7"}': { row: { ...rowA, ...kept }, change: { ...change, op: 'UPDATE' } } });
    assert.deepEqual(one({ ...flat, __op: 'd', __deleted: 'true' }, { id: 7 }), {
      'rows{id="7"}': { row: null, change: { ...change, op: 'DELETE', before: rowA } },
    });
    assert.deepEqual(one(null, { id: 7 }), {});
  });

  it('MONGODB: documents in extended JSON', () => {
    const document = {
      _id: { $oid: '64f0c0ffee64f0c0ffee64f0' },
      total: { $numberDecimal: '1.10' },
      big: { $numberLong: '9007199254740993' },
      at: { $date: 1_700_000_000_000 },
      list: [{ $numberInt: '5' }, { $numberDouble: 'NaN' }],
      bytes: { $binary: { base64: 'AAE=', subType: '00' } },
    };
    const row = {
      id: '64f0c0ffee64f0c0ffee64f0',
      total: '1.10',
      big: '9007199254740993',
      at: '2023-11-14T22:13:20.000Z',
      list: [5, null],
      bytes: 'AAE=',
    };
    const value = { before: null, after: JSON.stringify(document), source, op: 'c' };
    assert.deepEqual(byId('MONGODB')(value), {
      [`rows{id="${row.id}"}`]: { row, change: { ...facts, op: 'CREATE' } },
    });
    assert.equal(byId('MONGODB')({ ...value, after: '{' }), 'not_envelope');
    const key = { id: `{"$oid": "${row.id}"}` };
    assert.deepEqual(byId('MONGODB')({ before: null, after: null, source, op: 'd' }, key), {
      [`rows{id="${row.id}"}`]: { row: null, change: { ...facts, op: 'DELETE' } },
    });
  });

  it('MONGODB: a match on the key has the id of the document', () => {
    const one = conversions([binding({ envelope: 'MONGODB', match: [match(keyPathPart('id'))] })]);
    const id = '64f0c0ffee64f0c0ffee64f0';
    const value = { before: null, after: JSON.stringify({ _id: { $oid: id } }), source, op: 'c' };
    for (const [key, text] of [
      [`{"$oid": "${id}"}`, id],
      ['"x"', 'x'],
      ['{"$numberLong": "9007199254740993"}', '9007199254740993'],
      ['no JSON', 'no JSON'],
    ]) {
      const channel = `rows{.key id="${text}"}`;
      assert.deepEqual(one(value, { id: key }), { [channel]: { row: { id }, change: { ...facts, op: 'CREATE' } } });
      const gone = one({ before: null, after: null, source, op: 'd' }, { id: key });
      assert.deepEqual(gone, { [channel]: { row: null, change: { ...facts, op: 'DELETE' } } });
    }
  });

  it('OUTBOX: a JSON text, or an object', () => {
    const expected = { 'rows{id="7"}': { row: rowA, change: undefined } };
    assert.deepEqual(byId('OUTBOX')(JSON.stringify(JSON.stringify(a))), expected);
    assert.deepEqual(byId('OUTBOX')(a), expected);
    assert.equal(byId('OUTBOX')('"text"'), 'not_envelope');
  });

  it('of a graph', () => {
    const read = (value: unknown) => {
      const { data, type, old } = value as { data: never; type: string; old?: never };
      if (type === 'heartbeat') return undefined;
      return type === 'delete' ? { row: null, op: 'DELETE', before: data } : { row: data, op: 'UPDATE', before: old };
    };
    const one = conversions([binding({ envelope: 'MAXWELL' })], { read: read as never });
    assert.deepEqual(one({ type: 'update', data: b, old: a }), {
      'rows{id="7"}': { row: rowB, change: { op: 'UPDATE', before: rowA } },
    });
    assert.deepEqual(one({ type: 'delete', data: a }), {
      'rows{id="7"}': { row: null, change: { op: 'DELETE', before: rowA } },
    });
    assert.deepEqual(one({ type: 'heartbeat' }), {});
    for (const value of [null, 7, 'x', { type: 'update' }, { type: 'delete', data: 'x' }])
      assert.equal(one(JSON.stringify(value)), 'not_envelope', JSON.stringify(value));
  });
});
