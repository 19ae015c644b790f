import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Change } from '../../../../src/bus/change-text.ts';
import { splitChange } from '../../../../src/bus/change-text.ts';
import { headerPart, keyPathPart } from '../../../../src/graph/record-parts.ts';
import { createRouters } from '../../../../src/graph/router.ts';
import type { Binding } from '../../../../src/graph/schema/binding.ts';
import { Converter } from '../../../../src/kafka/decoding/converter.ts';
import type { EnvelopeOptions } from '../../../../src/kafka/decoding/envelopes/change-converter.ts';
import { envelopeOf } from '../../../../src/kafka/decoding/envelopes/envelopes.ts';
import { SnakeCase } from '../../../../src/kafka/decoding/snake-case.ts';
import { PendingConversion } from '../../../../src/kafka/batch.ts';
import { match, rowBinding as binding } from '../../../graph/support/row-binding.ts';
import { settled } from '../settled.ts';
import { changeProperty } from './random-changes.ts';

const LIMITS = { maxBytes: 100_000, maxDepth: 12 };
const DEMAND = { before: true, sourceTimestamp: true, transaction: true, isSnapshot: true };
const BY_ID = binding({});
const BY_CUSTOMER = binding({ field: 'of_customer', match: [match('customer_id', true)] });

interface Received {
  readonly row: unknown;
  readonly change: Change | undefined;
}

/** Converts records of one topic. Returns, by channel, what it receives; or the reason why the record is poison. */
function conversions(
  bindings: readonly Binding[],
  {
    hasRewriter = true,
    demand = DEMAND,
    read,
    onMistake,
    ...more
  }: Partial<Pick<EnvelopeOptions, 'hasWholeRows' | 'onFilled' | 'onLacking'>> & {
    hasRewriter?: boolean;
    demand?: typeof DEMAND;
    read?: never;
    onMistake?: (mistake: string) => void;
  } = {},
) {
  const envelope = envelopeOf({ name: bindings[0]!.envelope!, read }, onMistake);
  const options = { hasRewriter, envelopes: new Map([['rows', { envelope, demand, ...more }]]) };
  const converter = new Converter(createRouters(bindings, ''), LIMITS, new SnakeCase(), options);
  return (value: unknown, key: unknown = null) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const conversion = settled(
      converter.convert({
        topic: 'rows',
        key: key === null ? null : Buffer.from(typeof key === 'string' ? key : JSON.stringify(key)),
        value: value === null ? null : Buffer.from(text),
        ...(key !== null && { keyValue: key }),
      }),
    );
    if (conversion.poison !== undefined) return conversion.poison;
    const received: Record<string, Received> = {};
    for (const { channel, isDeparture, payload = conversion.payload } of conversion.destinations) {
      const { row, change } = splitChange(Buffer.from(isDeparture ? 'null' : payload));
      received[channel] = { row: JSON.parse(String(row)), change };
    }
    return received;
  };
}

const source = { connector: 'mysql', ts_ms: 1_700_000_000_000, snapshot: 'false', table: 'rows' };
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
      const { destinations, payload } = settled(converter.convert({ ...record, headers: { tenant: 'b' } }));
      return destinations!.map((one) => [
        one.channel,
        splitChange(Buffer.from(one.payload ?? payload!)).change?.before,
      ]);
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

describe('a row before of PostgreSQL, which may be filled', () => {
  const postgres = { ...source, connector: 'postgresql' };
  const filled = { id: 7, customerId: 'default', name: '' };
  const left = { row: null, change: { ...facts, op: 'DELETE' } };
  const deleted = (before: unknown, from: object | undefined = postgres) => ({
    before,
    after: null,
    source: from,
    op: 'd',
  });
  const TENANTS = [BY_ID, binding({ field: 'of_customer', match: [match('customer_id')] })];
  const told = (before: unknown) => ({ row: null, change: { ...facts, op: 'DELETE', before } });

  for (const hasRewriter of [true, false]) {
    const stage = (options = {}) => {
      const warnings: string[] = [];
      const note = (warning: string) => () => void warnings.push(warning);
      const one = conversions(TENANTS, {
        hasRewriter,
        onFilled: note('filled'),
        onLacking: note('lacking'),
        ...options,
      });
      return { one, warnings };
    };

    it(`names no channel and is not told, whatever updates have shown (KEY_REWRITER=${hasRewriter})`, () => {
      const { one, warnings } = stage();
      assert.deepEqual(one(deleted(filled), { id: 7 }), { 'rows{id="7"}': left });
      assert.deepEqual(warnings, ['filled']);
      assert.deepEqual(one(deleted(a, { ...source, connector: 'mysql' }), { id: 7 }), {
        'rows{id="7"}': told(rowA),
        'rows{customer_id="c1"}': told(rowA),
      });
      for (const from of [postgres, {}, undefined]) {
        one({ before: a, after: { ...a, customerId: 'c2' }, source: from, op: 'u' }, { id: 7 });
        assert.deepEqual(Object.keys(one(deleted(b, from), { id: 7 })), ['rows{id="7"}']);
      }
    });

    it(`is reported once, and not if the key has what channels depend on (KEY_REWRITER=${hasRewriter})`, () => {
      const demand = { ...DEMAND, before: false };
      const { one, warnings } = stage({ demand });
      one(deleted({ id: 7, name: '' }), { id: 7 });
      assert.deepEqual(warnings, []);
      for (let i = 0; i < 3; i++) one(deleted(filled), { id: 7 });
      assert.deepEqual(warnings, ['filled']);
      assert.deepEqual(Object.keys(one(deleted({ id: 7, customerId: 'c1' }), { id: 7, customer_id: 'c1' })), [
        'rows{id="7"}',
        'rows{customer_id="c1"}',
      ]);
    });

    it(`is whole if the graph says so; updates that have none are reported (KEY_REWRITER=${hasRewriter})`, () => {
      const { one, warnings } = stage({ hasWholeRows: true });
      const both = { 'rows{id="7"}': told(rowB), 'rows{customer_id="c2"}': told(rowB) };
      assert.deepEqual(one(deleted(b), { id: 7 }), both);
      assert.deepEqual(warnings, []);
      one({ before: null, after: a, source: postgres, op: 'u' }, { id: 7 });
      assert.deepEqual(one(deleted(b), { id: 7 }), both);
      assert.deepEqual(warnings, ['lacking']);
    });

    it(`is whole where the key has all columns (KEY_REWRITER=${hasRewriter})`, () => {
      const { one } = stage();
      const row = { id: 7, customer_id: 'c1' };
      assert.deepEqual(one(deleted(row), row), { 'rows{id="7"}': told(row), 'rows{customer_id="c1"}': told(row) });
    });

    it(`is not shown to be whole by the columns of an index (KEY_REWRITER=${hasRewriter})`, () => {
      const { one } = stage();
      const before = { id: 7, customerId: 'c1', name: '' };
      assert.deepEqual(Object.keys(one({ before, after: b, source: postgres, op: 'u' }, { id: 7 })), [
        'rows{id="7"}',
        'rows{customer_id="c2"}',
      ]);
    });
  }

  it('with a key that is no struct: nothing but the key names channels', () => {
    const one = conversions([BY_ID]);
    assert.deepEqual(one(deleted(filled), '7'), {});
    one({ before: null, after: a, source: postgres, op: 'c' }, '7');
    assert.deepEqual(one(deleted(filled), '7'), { 'rows{id="7"}': left });
  });

  it('flattened: counts if the graph says so, or the record names a connector that logs whole rows', () => {
    const flat = { ...a, __op: 'd', __deleted: 'true' };
    const bindings = TENANTS.map((one) => ({ ...one, envelope: 'DEBEZIUM_FLAT' }));
    const channels = (value: unknown, options = {}) => Object.keys(conversions(bindings, options)(value, { id: 7 }));
    const both = ['rows{id="7"}', 'rows{customer_id="c1"}'];
    assert.deepEqual(channels(flat), ['rows{id="7"}']);
    assert.deepEqual(channels(flat, { hasWholeRows: true }), both);
    assert.deepEqual(channels({ ...flat, __connector: 'mysql' }), both);
    assert.deepEqual(channels({ ...flat, __source_connector: 'postgresql' }), ['rows{id="7"}']);
  });
});

describe('a tombstone whose delete was compacted away', () => {
  for (const envelope of ['DEBEZIUM', 'MONGODB']) {
    it(`deletes the row that its key names (${envelope})`, () => {
      const one = conversions([binding({ envelope })]);
      const key = envelope === 'MONGODB' ? { id: '7' } : { id: 7 };
      assert.deepEqual(one(null, key), { 'rows{id="7"}': { row: null, change: { op: 'DELETE' } } });
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
      const pending = await converter.convert(recordOf(id));
      assert.ok(pending instanceof PendingConversion);
      assert.equal(pending.channel, `rows{id="${id}"}`);
      const { destinations, payload } = await pending.finish();
      const text = String(destinations!.find(({ channel }) => channel.startsWith('rows{id='))!.payload ?? payload);
      return (JSON.parse(text.split('\n')[0]!) as { name: unknown }).name;
    };
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
  it('makes what parsing makes, and refuses what parsing refuses', () => {
    fc.assert(changeProperty(), { numRuns: 2000 });
  });

  it('refuses what is no JSON in members that nobody reads, and rows that are none', () => {
    const one = conversions([BY_ID]);
    const change = (members: string) => one(`{"before":null,"after":{"id":7},${members},"op":"c"}`);
    for (const value of ['{"a":tru}', '{"a" 1}', '{"a":01}', '{"a":1,}', '[1 2]', '{"a":"\\x"}', '{"a":}'])
      for (const member of ['source', 'transaction', 'other'])
        assert.equal(change(`"${member}":${value}`), 'not_json', `${member} ${value}`);
    for (const before of ['[1]', '7', '"x"', 'true'])
      assert.equal(one(`{"before":${before},"after":null,"op":"d"}`), 'not_envelope', before);
  });
});

describe('other envelopes', () => {
  const byId = (envelope: string) => conversions([binding({ envelope })]);

  it('CONNECT: rows, with and without a schema', () => {
    const expected = { 'rows{id="7"}': { row: rowA, change: undefined } };
    assert.deepEqual(byId('CONNECT')(a), expected);
    assert.deepEqual(byId('CONNECT')({ schema: { type: 'struct' }, payload: a }), expected);
    const column = { type: 'struct' };
    for (const own of [
      { id: 7, schema: 'public', payload: 'x' },
      { id: 7, schema: null, payload: { id: 8 } },
      { id: 7, schema: column, payload: { id: 8 } },
    ])
      assert.deepEqual(byId('CONNECT')(own), { 'rows{id="7"}': { row: own, change: undefined } });
    const all = conversions([binding({ envelope: 'CONNECT', match: [] })]);
    for (const schema of ['public', { type: 'order' }, {}, []])
      assert.deepEqual(all({ schema, payload: a }), {
        'rows{}': { row: { schema, payload: rowA }, change: undefined },
      });
    assert.deepEqual(all({ schema: null, payload: a }), { 'rows{}': { row: rowA, change: undefined } });
  });

  it('DEBEZIUM_FLAT: a deleted row is told once, though a tombstone follows', () => {
    const one = conversions([binding({ envelope: 'DEBEZIUM_FLAT' })], { hasWholeRows: true });
    const flat = { ...a, __op: 'u', __deleted: 'false', __source_ts_ms: 5 };
    const kept = { __op: 'u', __deleted: 'false', __source_ts_ms: 5 };
    const change = { sourceTimestamp: 5 };
    assert.deepEqual(one(flat), { 'rows{id="7"}': { row: { ...rowA, ...kept }, change: { ...change, op: 'UPDATE' } } });
    assert.deepEqual(one({ ...flat, __op: 'd', __deleted: 'true' }, { id: 7 }), {
      'rows{id="7"}': { row: null, change: { ...change, op: 'DELETE', before: rowA } },
    });
    one({ ...flat, id: 8, __deleted: 'true' }, { id: 8 });
    assert.deepEqual(one(null, { id: 7 }), {});
    assert.deepEqual(one(null, { id: 8 }), {});
    assert.deepEqual(one(null, { id: 9 }), { 'rows{id="9"}': { row: null, change: { op: 'DELETE' } } });
    one(flat, { id: 7 });
    assert.deepEqual(one(null, { id: 7 }), { 'rows{id="7"}': { row: null, change: { op: 'DELETE' } } });
  });

  it('DEBEZIUM_FLAT without op: has the other facts', () => {
    const kept = { __source_ts_ms: 5, __transaction_id: 't' };
    assert.deepEqual(byId('DEBEZIUM_FLAT')({ ...a, ...kept }), {
      'rows{id="7"}': { row: { ...rowA, ...kept }, change: { sourceTimestamp: 5, transaction: 't' } },
    });
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

  it('of a graph: what is wrong with a change is named, without its values', () => {
    const mistakes: string[] = [];
    const mistakeOf = (read: (value: unknown) => unknown) => {
      const options = { read: read as never, onMistake: (mistake: string) => void mistakes.push(mistake) };
      assert.equal(conversions([binding({ envelope: 'MAXWELL' })], options)(a), 'not_envelope');
      return mistakes.pop();
    };
    for (const [change, mistake] of [
      [7, 'returns no object: it must return a change, or undefined'],
      [Promise.resolve({ row: a }), 'returns a promise: it must return the change'],
      [{}, 'returns row: nothing; it must be an object, or null'],
      [{ row: [a] }, 'returns row: an array; it must be an object, or null'],
      [{ row: a, before: 'secret' }, 'returns before: a string; it must be an object, or null'],
      [{ row: a, op: 'insert' }, 'returns op: a string; it must be one of CREATE, UPDATE, DELETE, READ'],
      [{ row: a, sourceTimestamp: NaN }, 'returns sourceTimestamp: NaN; it must be a finite number of ms since 1970'],
      [{ row: a, transaction: 7 }, 'returns transaction: a number; it must be a string'],
      [{ row: a, isSnapshot: 'yes' }, 'returns isSnapshot: a string; it must be a boolean'],
      [{ row: { total: [7n] } }, 'returns row with a BigInt in "total"; it must have values of JSON'],
      [{ row: null, before: { tags: new Set() } }, 'returns before with a Set in "tags"; it must have values of JSON'],
    ] as const)
      assert.equal(
        mistakeOf(() => change),
        `MAXWELL ${mistake}`,
      );
    const boom = mistakeOf(() => {
      throw new RangeError('secret');
    });
    assert.equal(boom, 'MAXWELL throws RangeError');
  });
});
