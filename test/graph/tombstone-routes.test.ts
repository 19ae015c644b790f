import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STATES_OF_KEY } from '../../src/bus/bus-message.ts';
import { KEY_PART, headerPart, keyPathPart } from '../../src/graph/record-parts.ts';
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

  it('are those of a field with state, whose last payload they remove, and those whose state is of its key', () => {
    assert.deepEqual(channelsOf([binding({ tombstone: undefined as never, state: { seconds: 0 } })]), [
      'orders{id="7"}',
      STATES_OF_KEY,
    ]);
    assert.deepEqual(channelsOf([binding({ match: [], state: { seconds: 0 } })]), ['orders{}']);
    assert.deepEqual(channelsOf([binding({ match: [match(KEY_PART)], state: { seconds: 0 } })]), ['orders{.key="7"}']);
  });

  it('are those whose state is of its key, where the key might be the value at several paths, unless a field says which', () => {
    const stateful = { tombstone: undefined as never, state: { seconds: 0 } };
    const byId = binding(stateful);
    const byCustomer = binding({ ...stateful, field: 'of_customer', match: [match('customer')] });
    assert.deepEqual(channelsOf([byId, byCustomer]), [STATES_OF_KEY, STATES_OF_KEY]);
    assert.deepEqual(channelsOf([byId, byCustomer, binding({ field: 'deleted' })]), [
      'orders{id="7"}',
      STATES_OF_KEY,
      STATES_OF_KEY,
    ]);
    const router = new TopicRouter('orders', [byId, byCustomer], 'p:');
    const indexes = router.tombstoneChannels({ key: Buffer.from('7') }).map(({ history: kept }) => kept!.keyIndex);
    assert.deepEqual(indexes, ['p:orders[id=?]', 'p:orders[customer=?]']);
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
    assert.deepEqual(router.tombstones, { routed: 2, unrouted: 1, unreadable_key: 0 });
    assert.deepEqual([router.records, router.unrouted], [0, 0]);
  });

  it('are not named by a key that is binary or has a schema, which is counted and reported once', () => {
    const reports: unknown[] = [];
    const avro = Buffer.from([0, 0, 0, 0, 1, 0x0e]);
    const tombstonesOf = (bindings: readonly Binding[], keys: readonly Buffer[] = [avro, avro]) => {
      const router = new TopicRouter('orders', bindings, '', (topic, path) => void reports.push([topic, path]));
      const channels = keys.flatMap((key) => router.tombstoneChannels({ key }).map(({ channel }) => channel));
      return [channels, router.tombstones, reports.splice(0)];
    };
    const unreadable = { routed: 0, unrouted: 0, unreadable_key: 2 };
    assert.deepEqual(tombstonesOf([binding({})]), [[], unreadable, [['orders', undefined]]]);
    const long = Buffer.alloc(8);
    long.writeBigInt64BE(7n);
    const all = binding({ field: 'all', match: [match(KEY_PART, true)] });
    const everyKey = 'orders{.key=*}';
    assert.deepEqual(tombstonesOf([all], [long, Buffer.from([0xff])]), [
      [everyKey, everyKey],
      unreadable,
      [['orders', undefined]],
    ]);
    const routed = { routed: 2, unrouted: 0, unreadable_key: 0 };
    assert.deepEqual(tombstonesOf([binding({ state: { seconds: 0 } })]), [[STATES_OF_KEY, STATES_OF_KEY], routed, []]);
    assert.deepEqual(tombstonesOf([binding({ match: [] })]), [['orders{}', 'orders{}'], routed, []]);
  });

  it('are those of the members of a key that is a struct', () => {
    const reports: unknown[] = [];
    const routesOf = (bindings: readonly Binding[], keyValue: unknown) => {
      const router = new TopicRouter('orders', bindings, '', (_, ...report) => void reports.push(report));
      const routes = router.tombstoneChannels({ key: Buffer.from(JSON.stringify(keyValue)), keyValue });
      return [routes.map(({ channel }) => channel), router.tombstones.unreadable_key];
    };
    const byMembers = binding({ match: [match(keyPathPart('id')), match(keyPathPart('tenant'), true)] });
    const channels = ['orders{.key id="7",.key tenant="a"}', 'orders{.key id="7",.key tenant=*}'];
    assert.deepEqual(routesOf([byMembers], { tenant: 'a', id: 7 }), [channels, 0]);
    assert.deepEqual(routesOf([binding({})], { tenant: 'a', id: 7 }), [['orders{id="7"}'], 0]);
    assert.deepEqual(routesOf([binding({})], { no: 7 }), [['orders{id="7"}'], 0]);
    assert.deepEqual(routesOf([binding({})], 'x'), [['orders{id="x"}'], 0]);
    assert.deepEqual(reports, []);
    assert.deepEqual(routesOf([binding({})], { tenant: 'a', no: 7 }), [[], 1]);
    assert.deepEqual(routesOf([byMembers], { tenant: 'a' }), [[], 1]);
    assert.deepEqual(reports, [
      ['id', 'a key that is a struct of "tenant", "no"', undefined],
      ['.key id', 'a key that is a struct of "tenant"', undefined],
    ]);
  });

  it('follow no key that holds characters of a channel name', () => {
    assert.deepEqual(channelsOf([binding({})], Buffer.from('7"}')), ['orders{id="7\\"}"}']);
    assert.deepEqual(channelsOf([binding({ match: [match('id', true)] })], Buffer.from('*')), [
      'orders{id="*"}',
      'orders{id=*}',
    ]);
  });
});

describe('the channels of a record', () => {
  const stateful = { tombstone: undefined as never, state: { seconds: 0 } };

  function hashesOf(bindings: readonly Binding[], payload: unknown, key: Buffer | null): Record<string, string> {
    const router = new TopicRouter('orders', bindings, '');
    const routes = router.channels(router.valuesIn(payload), { key });
    return Object.fromEntries(routes.map(({ channel, keyHash }) => [channel, keyHash ?? '']));
  }

  it('have the hash of its key where they keep a state and the key is not the value that names them', () => {
    const payload = { id: 7, customer: 'x' };
    const byCustomer = binding({ ...stateful, field: 'of_customer', match: [match('customer')] });
    const any = binding({ ...stateful, field: 'any', match: [] });
    const withoutState = binding({ field: 'deleted' });
    const channels = hashesOf([byCustomer, any, withoutState], payload, Buffer.from('7'));
    const { 'orders{customer="x"}': hash, ...others } = channels;
    assert.match(hash!, /^[\w-]{22}$/);
    assert.deepEqual(others, { 'orders{}': '', 'orders{id="7"}': '' });
    const byId = binding(stateful);
    assert.deepEqual(hashesOf([byId], payload, Buffer.from('7')), { 'orders{id="7"}': '' });
    assert.deepEqual(hashesOf([byId], payload, null), { 'orders{id="7"}': '' });
    const other = hashesOf([byId], payload, Buffer.from('8'))['orders{id="7"}'];
    assert.match(other!, /^[\w-]{22}$/);
    assert.notEqual(other, hash);
    const router = new TopicRouter('orders', [byId], '');
    assert.deepEqual(
      router.tombstoneChannels({ key: Buffer.from('8') }).map(({ keyHash }) => keyHash),
      [undefined, other],
    );
  });
});

describe('the channels that a record leaves', () => {
  const stateful = { tombstone: undefined as never, state: { seconds: 0 } };
  const byCustomer = binding({ ...stateful, match: [match('customer')] });

  function routerOf(...bindings: readonly Binding[]) {
    const router = new TopicRouter('orders', bindings, '', undefined, 10);
    return (payload: unknown, key: Buffer | null = Buffer.from('7')) =>
      router
        .channels(router.valuesIn(payload), { key })
        .map(({ channel, keyHash, isDeparture }) => `${isDeparture ? '-' : '+'}${channel}${keyHash ? ' by key' : ''}`);
  }

  it('are that which its key names, and those of its key, from the first record on whose key is not the value', () => {
    const routes = routerOf(byCustomer);
    assert.deepEqual(routes({ customer: 7 }), ['+orders{customer="7"}']);
    assert.deepEqual(routes({ customer: 5 }), ['-orders{customer="7"} by key', '+orders{customer="5"} by key']);
    assert.deepEqual(routes({ customer: 7 }), ['+orders{customer="7"} by key']);
  });

  it('are that which the member of its key names, where it is a struct', () => {
    const router = new TopicRouter('orders', [byCustomer], '');
    const keyValue = { customer: 7 };
    const routes = router.channels(router.valuesIn({ customer: 5 }), { key: Buffer.from('{"customer":7}'), keyValue });
    assert.deepEqual(
      routes.map(({ channel, isDeparture }) => [channel, isDeparture]),
      [
        ['orders{customer="7"}', true],
        ['orders{customer="5"}', undefined],
      ],
    );
  });

  it('are none of a record without a key, with a key that is no text, or without a value there', () => {
    const routes = routerOf(byCustomer);
    assert.deepEqual(routes({ customer: 5 }, null), ['+orders{customer="5"}']);
    assert.deepEqual(routes({ customer: 5 }, Buffer.from([0xff])), ['+orders{customer="5"} by key']);
    assert.deepEqual(routes({ note: 'of another kind' }), []);
    assert.deepEqual(routes({ customer: null }, Buffer.from([0xff])), []);
  });

  it('are all of its key if its value is too long to subscribe to', () => {
    assert.deepEqual(routerOf(byCustomer)({ customer: 'x'.repeat(11) }), ['-* by key', '-orders{customer="7"} by key']);
  });

  it('are only of its key where its name needs a claim, too', () => {
    const mine = binding({ ...stateful, where: [{ claim: 'tenant', path: 'tenant' }] });
    assert.deepEqual(routerOf(mine)({ id: 7, tenant: 'A' }), ['+orders{id="7",tenant="A"} by key']);
    assert.deepEqual(routerOf(mine)({ id: 7 }), []);
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

  it('is reported without a path if it is no text', () => {
    const reports: unknown[] = [];
    const router = new TopicRouter('orders', [binding({})], '', (_, path) => void reports.push(path));
    const record = { key: Buffer.from([0, 0, 0, 0, 1, 0x0e]) };
    router.count(router.valuesIn({ id: 7 }), record);
    router.tombstoneChannels(record);
    assert.deepEqual(reports, [undefined]);
  });

  it('is compared by the member of a struct, and reported with the members that it has', () => {
    const reports: unknown[] = [];
    const router = new TopicRouter('orders', [binding({})], '', (...report) => void reports.push(report));
    const count = (keyValue: unknown) => router.count(router.valuesIn({ id: 7 }), { key: Buffer.from('{'), keyValue });
    for (const same of [{ id: 7 }, { order_no: '7' }, { tenant: 'a', id: 7 }, '7']) count(same);
    assert.deepEqual(reports, []);
    count({ tenant: 'a', no: 7 });
    assert.deepEqual(reports, [['orders', 'id', 'a key that is a struct of "tenant", "no"', undefined]]);
  });

  it('is reported once where a field matches it and it cannot be decoded', () => {
    const reports: unknown[] = [];
    const byMember = binding({ match: [match(keyPathPart('id'))], tombstone: undefined as never });
    const router = new TopicRouter('orders', [byMember], '', (...report) => void reports.push(report));
    const record = { key: Buffer.from([0, 0, 0, 0, 1]), keyProblem: 'unknown_schema' };
    for (let i = 0; i < 2; i++) router.count([undefined], record);
    const found = 'a key with a schema that cannot be decoded (unknown_schema)';
    assert.deepEqual(reports, [['orders', undefined, found, 'unknown_schema']]);
    assert.equal(router.tallies[0]!.unmatched.match_absent, 2);
  });

  it('is not looked at where no tombstone needs it', () => {
    assert.deepEqual(reportsOf([binding({ state: { seconds: 0 } })], [7, '8']), []);
    assert.deepEqual(reportsOf([binding({ tombstone: undefined as never })], [7, '8']), []);
    assert.deepEqual(reportsOf([binding({ match: [] })], [7, '8']), []);
  });
});
