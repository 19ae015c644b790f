import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STATES_OF_KEY } from '../../src/bus/bus-message.ts';
import { headerPart, keyPathPart } from '../../src/graph/record-parts.ts';
import type { RecordParts } from '../../src/graph/record-parts.ts';
import { TopicRouter } from '../../src/graph/router.ts';
import type { ChangeRoutes } from '../../src/graph/row-router.ts';
import type { Binding } from '../../src/graph/schema/binding.ts';
import { match, rowBinding as binding } from './support/row-binding.ts';

const BY_ID = binding({});
const BY_CUSTOMER = binding({ field: 'of_customer', match: [match('customer')] });
const STATE = { seconds: 0 };

const keyOf = (keyValue: unknown): RecordParts => ({ key: Buffer.from(JSON.stringify(keyValue)), keyValue });

function routerOf(...bindings: readonly Binding[]) {
  const reports: (string | undefined)[] = [];
  const router = new TopicRouter('rows', bindings, '', (_, path, found) => void reports.push(path ?? found));
  const rows = router.rows!;
  const change = (row: object | null, before: object | undefined, record: RecordParts) =>
    rows.changeRoutes(row && rows.valuesIn(row), before && rows.valuesIn(before), record);
  const tombstone = (record: RecordParts) => rows.tombstoneChannels(record).map(({ channel }) => channel);
  return { router, rows, change, tombstone, reports };
}

/** `-`: a departure; `#`: its state remembers the key. */
function namesOf(routes: ChangeRoutes): Record<keyof ChangeRoutes, string[]> {
  const names = (list: ChangeRoutes['left']) =>
    list.map(({ channel, keyHash, isDeparture }) => `${isDeparture ? '-' : ''}${channel}${keyHash ? '#' : ''}`);
  const { entered, stayed, left, untold } = routes;
  return { entered: names(entered), stayed: names(stayed), left: names(left), untold: names(untold) };
}

const NOWHERE = { entered: [], stayed: [], left: [], untold: [] };

describe('the row before a record whose channels a header names', () => {
  const tenant = headerPart('tenant');
  const ofTenant = binding({ match: [match('id'), match(tenant)] });
  const orAll = binding({ field: 'all', match: [match('id'), match(tenant, true)] });
  const record = (of: string) => ({ ...keyOf({ id: 7 }), headers: { tenant: Buffer.from(of) } });
  const b = 'rows{.header "tenant"="b",id="7"}';
  const any = 'rows{.header "tenant"=*,id="7"}';

  it('was in none of them for sure: they are entered, and none is left', () => {
    const { change } = routerOf(ofTenant);
    assert.deepEqual(namesOf(change({ id: 7 }, { id: 7 }, record('b'))), { ...NOWHERE, entered: [b] });
    assert.deepEqual(namesOf(change({ id: 7 }, { id: 8 }, record('b'))), { ...NOWHERE, entered: [b] });
  });

  it('is not shown to the channel that the header of its delete names', () => {
    const { change } = routerOf(ofTenant);
    assert.deepEqual(namesOf(change(null, { id: 7 }, record('b'))), { ...NOWHERE, untold: [b] });
    assert.deepEqual(namesOf(change(null, undefined, record('b'))), { ...NOWHERE, left: [b] });
  });

  it('is known where any header is matched', () => {
    const { change } = routerOf(orAll);
    assert.deepEqual(namesOf(change({ id: 7 }, { id: 7 }, record('b'))), { ...NOWHERE, entered: [b], stayed: [any] });
    assert.deepEqual(namesOf(change(null, { id: 7 }, record('b'))), { ...NOWHERE, left: [any], untold: [b] });
  });

  it('leaves the channels whose state is of its key, before which its delete reaches the others', () => {
    const { change } = routerOf({ ...ofTenant, state: STATE });
    assert.deepEqual(namesOf(change({ id: 7 }, { id: 7 }, record('b'))), { ...NOWHERE, entered: [`${b}#`] });
    const gone = namesOf(change(null, { id: 7 }, record('b')));
    assert.deepEqual(gone, { ...NOWHERE, left: [`-${STATES_OF_KEY}#`], untold: [`${b}#`] });
  });

  it('was in the channels that its key names', () => {
    const { change } = routerOf(binding({ match: [match(keyPathPart('id')), match('customer')] }));
    const channel = (customer: string) => `rows{.key id="7",customer="${customer}"}`;
    assert.deepEqual(namesOf(change({ customer: 'b' }, { customer: 'a' }, record('b'))), {
      ...NOWHERE,
      entered: [channel('b')],
      left: [channel('a')],
    });
  });
});

describe('the row of a record that has only a key', () => {
  it('has the values of the columns that the key names', () => {
    const { tombstone } = routerOf(BY_ID, BY_CUSTOMER);
    assert.deepEqual(tombstone(keyOf({ id: 7, region: 'x' })), ['rows{id="7"}']);
    assert.deepEqual(tombstone(keyOf({ customer: 'c', id: 7 })), ['rows{id="7"}', 'rows{customer="c"}']);
  });

  it('has the value of a key without names at the only path, once a row has shown it there', () => {
    const { change, tombstone, router } = routerOf(BY_ID);
    assert.deepEqual(tombstone(keyOf('x')), []);
    change({ id: 'y' }, undefined, keyOf('y'));
    for (const key of [keyOf('x'), { key: Buffer.from('x') }]) assert.deepEqual(tombstone(key), ['rows{id="x"}']);
    for (const key of [keyOf({ no: 'x' }), keyOf({ no: 7, region: 'x' }), keyOf(['x']), keyOf({ no: null }), keyOf({})])
      assert.deepEqual(tombstone(key), []);
    const next = routerOf(BY_ID);
    next.router.continueFrom(router);
    assert.deepEqual(next.tombstone(keyOf('x')), ['rows{id="x"}'], 'with the next graph, too');
  });

  it('has it at the path where rows have it, once they have shown that it is at no other', () => {
    for (const bindings of [
      [BY_ID, BY_CUSTOMER],
      [BY_CUSTOMER, BY_ID],
    ]) {
      const { change, tombstone } = routerOf(...bindings);
      assert.deepEqual(tombstone(keyOf('7')), [], 'it may be either');
      change({ id: 7, customer: 'c' }, undefined, keyOf('7'));
      assert.deepEqual(tombstone(keyOf('8')), ['rows{id="8"}']);
    }
  });

  it('has no value that rows have shown to be another one, with the next graph neither', () => {
    const { change, tombstone, reports, router } = routerOf(BY_CUSTOMER);
    for (const customer of [undefined, '7']) change({ id: 7, customer }, undefined, keyOf('7'));
    assert.deepEqual(tombstone(keyOf('c')), ['rows{customer="c"}']);
    change({ id: 7, customer: 'c' }, undefined, keyOf('7'));
    for (let i = 0; i < 2; i++) assert.deepEqual(tombstone(keyOf('7')), []);
    assert.deepEqual(reports, ['customer']);
    assert.deepEqual(router.tombstones, { routed: 1, unrouted: 0, unreadable_key: 2 });
    const next = routerOf(BY_CUSTOMER);
    next.router.continueFrom(router);
    next.change({ id: 7, customer: '7' }, undefined, keyOf('7'));
    assert.deepEqual(next.tombstone(keyOf('7')), []);
  });

  it('is never that of a column which its key, a struct, does not name', () => {
    const { change, tombstone } = routerOf({ ...BY_CUSTOMER, state: STATE });
    change({ id: 7, customer: '7' }, undefined, keyOf({ id: 7 }));
    assert.deepEqual(tombstone(keyOf({ id: 8 })), [STATES_OF_KEY]);
  });

  it('has none if the key cannot be decoded, which is counted and reported once', () => {
    const key = { key: Buffer.from('\0\0\0\0\x01x'), keyProblem: 'unknown_schema' };
    // The schema is named by a header.
    const text = { ...key, key: Buffer.from('x') };
    const { change, tombstone, reports, router } = routerOf(BY_ID, binding({ field: 'all', match: [] }));
    assert.deepEqual([tombstone(key), tombstone(text)], [['rows{}'], ['rows{}']]);
    assert.deepEqual(namesOf(change(null, undefined, key)).left, ['rows{}']);
    assert.deepEqual(reports, ['a key with a schema that cannot be decoded (unknown_schema)']);
    assert.deepEqual(router.tombstones, { routed: 0, unrouted: 0, unreadable_key: 3 });
  });

  it('needs none where no field with a tombstone is named by a value, or a state says it', () => {
    const key = { key: Buffer.from([0, 1]), keyProblem: 'unknown_schema' };
    const { tombstone, reports } = routerOf({ ...BY_ID, state: STATE }, binding({ field: 'all', match: [] }));
    assert.deepEqual(tombstone(key), ['rows{}', STATES_OF_KEY]);
    assert.deepEqual(reports, []);
  });
});

describe('the state of a channel with several rows', () => {
  const stateful = (paths: readonly string[], isOptional = false) =>
    binding({ match: paths.map((path) => match(path, isOptional)), state: STATE });
  const arrivals = (routes: ChangeRoutes) => namesOf(routes).entered;

  it('remembers the key of its row, which a delete names', () => {
    const { change, tombstone, rows } = routerOf(stateful([]));
    assert.deepEqual(arrivals(change({ id: 7 }, undefined, keyOf({ id: 7 }))), ['rows{}#']);
    assert.deepEqual(namesOf(change(null, { id: 7 }, keyOf({ id: 7 }))).left, ['rows{}#', `-${STATES_OF_KEY}#`]);
    assert.deepEqual(tombstone(keyOf({ id: 7 })), ['rows{}', STATES_OF_KEY]);
    const [channel] = rows.tombstoneChannels(keyOf({ id: 7 }));
    assert.ok(channel?.keyHash, 'the delete of one row');
  });

  it('remembers it also in a channel that the key names: another row may have its value', () => {
    const { change } = routerOf(stateful(['id'], true));
    assert.deepEqual(arrivals(change({ id: 7 }, undefined, keyOf({ id: 7 }))), ['rows{id="7"}#', 'rows{id=*}#']);
  });

  it('loses a row that has the value no more, though nobody knows what it was', () => {
    const { change } = routerOf(stateful(['customer']));
    assert.deepEqual(arrivals(change({ id: 7, customer: null }, undefined, keyOf({ id: 7 }))), [`-${STATES_OF_KEY}#`]);
  });

  it('remembers it where the name has one of several columns of the key, or a header', () => {
    const key = { ...keyOf({ tenant: 'a', id: 7 }), headers: { region: 'eu' } };
    const cases: [path: string, channel: string][] = [
      ['id', 'rows{id="7"}#'],
      [keyPathPart('id'), 'rows{.key id="7"}#'],
      [headerPart('region'), 'rows{.header "region"="eu"}#'],
      ['.key', 'rows{.key="{\\"tenant\\":\\"a\\",\\"id\\":7}"}'],
    ];
    for (const [path, channel] of cases) {
      const { change } = routerOf(stateful([path]));
      assert.deepEqual(arrivals(change({ id: 7 }, undefined, key)), [channel]);
      assert.equal(namesOf(change(null, { id: 7 }, key))[path.startsWith('.header') ? 'untold' : 'left'][0], channel);
    }
  });
});
