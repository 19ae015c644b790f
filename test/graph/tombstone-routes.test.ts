import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEY_PART, headerPart } from '../../src/graph/record-parts.ts';
import { TopicRouter } from '../../src/graph/router.ts';
import type { Binding } from '../../src/graph/schema/binding.ts';

const history = { entries: 5, bytes: 100, seconds: 60 };
const match = (path: string, isOptional = false) => ({ arg: path, path, isOptional });
const binding = (parts: Partial<Binding>): Binding => ({
  field: 'order_updated',
  topics: ['orders'],
  match: [match('id')],
  where: [],
  payload: [],
  isShared: true,
  tombstone: 'NULL',
  ...parts,
});

function channelsOf(bindings: readonly Binding[], key: Buffer | null = Buffer.from('7'), headers = {}): string[] {
  return new TopicRouter('orders', bindings, '').tombstoneChannels({ key, headers }).map(({ channel }) => channel);
}

describe('the channels of a tombstone', () => {
  it('are those of its key, and those that need no value', () => {
    assert.deepEqual(channelsOf([binding({})]), ['orders{id="7"}']);
    assert.deepEqual(channelsOf([binding({ match: [] })]), ['orders{}']);
    assert.deepEqual(channelsOf([binding({ match: [match('id', true)] })]), ['orders{id="7"}', 'orders{id=*}']);
    assert.deepEqual(channelsOf([binding({ match: [match('id'), match('region', true)] })]), [
      'orders{id="7",region=*}',
    ]);
    assert.deepEqual(channelsOf([binding({ match: [match('id', true), match('region', true)] })]), [
      'orders{id=*,region=*}',
    ]);
  });

  it('are none of fields that skip tombstones, unless another field shares them', () => {
    const skipping = binding({ field: 'any', match: [], tombstone: undefined as never, history });
    assert.deepEqual(channelsOf([skipping]), []);
    assert.deepEqual(channelsOf([skipping, binding({})]), ['orders{id="7"}']);
    const router = new TopicRouter('orders', [skipping, binding({ match: [] })], '');
    assert.deepEqual(router.tombstoneChannels({ key: null }), [{ channel: 'orders{}', history }]);
  });

  it('are those of a field with state, whose last payload they remove', () => {
    assert.deepEqual(channelsOf([binding({ tombstone: undefined as never, state: { seconds: 0 } })]), [
      'orders{id="7"}',
    ]);
  });

  it('are none of fields with state whose values at different paths the key might be, unless a field says which', () => {
    const stateful = { tombstone: undefined as never, state: { seconds: 0 } };
    const byId = binding(stateful);
    const byCustomer = binding({ ...stateful, field: 'of_customer', match: [match('customer')] });
    assert.deepEqual(channelsOf([byId, byCustomer]), []);
    assert.deepEqual(channelsOf([byId, byCustomer, binding({ field: 'deleted' })]), ['orders{id="7"}']);
  });

  it('are only those that need no key, of a tombstone without a key or with one that is no text', () => {
    for (const key of [null, Buffer.from([0, 0xff])]) {
      assert.deepEqual(channelsOf([binding({}), binding({ field: 'any', match: [] })], key), ['orders{}']);
    }
  });

  it('are those of its key and its headers, where a match names them', () => {
    const key = binding({ match: [match(KEY_PART)] });
    assert.deepEqual(channelsOf([key]), ['orders{.key="7"}']);
    assert.deepEqual(channelsOf([binding({ match: [match(KEY_PART), match('region', true)] })]), [
      'orders{.key="7",region=*}',
    ]);
    const tenant = headerPart('tenant');
    const both = binding({ match: [match('id'), match(tenant)] });
    const headers = { tenant: Buffer.from('a') };
    assert.deepEqual(channelsOf([both], Buffer.from('7'), headers), ['orders{.header "tenant"="a",id="7"}']);
    assert.deepEqual(channelsOf([both]), [], 'without the header');
  });

  it('are counted by whether there are any', () => {
    const router = new TopicRouter('orders', [binding({})], '');
    for (const key of [Buffer.from('7'), null, Buffer.from('8')]) router.tombstoneChannels({ key });
    assert.deepEqual(router.tombstones, { routed: 2, unrouted: 1 });
    assert.deepEqual([router.records, router.unrouted], [0, 0]);
  });

  it('follow no key that holds characters of a channel name', () => {
    assert.deepEqual(channelsOf([binding({})], Buffer.from('7"}')), ['orders{id="7\\"}"}']);
    assert.deepEqual(channelsOf([binding({ match: [match('id', true)] })], Buffer.from('*')), [
      'orders{id="*"}',
      'orders{id=*}',
    ]);
  });
});

describe('the key of a topic whose tombstones are routed by it', () => {
  function reportsOf(bindings: readonly Binding[], ...records: [id: unknown, key: string | null][]): string[] {
    const reports: string[] = [];
    const router = new TopicRouter('orders', bindings, '', (topic, path) => void reports.push(`${topic} ${path}`));
    for (const [id, key] of records)
      router.count(router.valuesIn({ id }), { key: key === null ? null : Buffer.from(key) });
    return reports;
  }

  it('is reported once if it is not the value at the path', () => {
    assert.deepEqual(reportsOf([binding({})], [7, '7'], ['x', 'x'], [undefined, '9']), []);
    assert.deepEqual(reportsOf([binding({})], [7, '8'], [7, '9']), ['orders id']);
    assert.deepEqual(reportsOf([binding({})], [7, null]), ['orders id']);
  });

  it('is not looked at where no tombstone needs it', () => {
    assert.deepEqual(reportsOf([binding({ tombstone: undefined as never })], [7, '8']), []);
    assert.deepEqual(reportsOf([binding({ match: [] })], [7, '8']), []);
  });
});
