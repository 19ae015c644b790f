import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { channelsFor } from '../../src/graph/channels.ts';
import type { Binding } from '../../src/graph/schema/binding.ts';

const orders: Binding = {
  field: 'orders_updated',
  topics: ['orders'],
  match: [
    { arg: 'ids', path: 'id', isOptional: false },
    { arg: 'currencies', path: 'price.currency', isOptional: true },
  ],
  where: [],
  payload: [],
  isShared: true,
};

const byRegion: Binding = {
  ...orders,
  match: [],
  topics: ['orders-EU', 'orders-US'],
  topicArgument: {
    arg: 'region',
    byValue: new Map([
      ['EU', 'orders-EU'],
      ['US', 'orders-US'],
    ]),
  },
};

function channelsOf(binding: Binding, args: Record<string, unknown>, maxChannels?: number) {
  const channels = channelsFor(binding, 'p:', { args, claims: {} }, maxChannels);
  if (channels && 'errors' in channels) return channels.errors.map(({ message, extensions }) => [extensions['code'], message]); // prettier-ignore
  return channels;
}

describe('channelsFor', () => {
  it('names one channel for each value of a list, each once', () => {
    assert.deepEqual(channelsOf(orders, { ids: ['7', '8', '7'] }), [
      'p:orders{id="7",price.currency=*}',
      'p:orders{id="8",price.currency=*}',
    ]);
  });

  it('names one channel for each combination of two lists', () => {
    assert.deepEqual(channelsOf(orders, { ids: [1, '1', 2], currencies: ['EUR', 'USD'] }), [
      'p:orders{id="1",price.currency="EUR"}',
      'p:orders{id="1",price.currency="USD"}',
      'p:orders{id="2",price.currency="EUR"}',
      'p:orders{id="2",price.currency="USD"}',
    ]);
  });

  it('refuses an empty list', () => {
    const [[code, message]] = channelsOf({ ...orders, where: [] }, { ids: [] }) as [[string, string]];
    assert.equal(code, 'BAD_USER_INPUT');
    assert.match(message, /^The list "ids" is empty, so no event would ever arrive/);
  });

  it('refuses more channels than allowed, before it names them', () => {
    const ids = Array.from({ length: 100_000 }, (_, id) => id);
    const [[code, message]] = channelsOf(orders, { ids, currencies: ids }, 100) as [[string, string]];
    assert.equal(code, 'BAD_USER_INPUT');
    assert.match(message, /more than 100 channels.*\(MAX_OPERATIONS_PER_CONNECTION\)/);
    assert.equal(channelsOf(orders, { ids: ids.slice(0, 10), currencies: ids.slice(0, 10) }, 100)?.length, 100);
  });

  it('refuses a value without a text, rather than to match every value', () => {
    const [[code, message]] = channelsOf(orders, { ids: ['1'], currencies: [{}] }) as [[string, string]];
    assert.equal(code, 'BAD_USER_INPUT');
    assert.match(message, /"currencies" must be a string, a number or a boolean/);
  });

  it('names channels by the serialized values of a custom scalar, whose values may be arrays', () => {
    const by = (isList: boolean, serialize: (value: unknown) => unknown): Binding => ({
      ...orders,
      match: [{ arg: 'day', path: 'day', isOptional: true, scalar: { isList, serialize } }],
    });
    const iso = (value: unknown) => (value as Date).toISOString();
    const day = new Date(0);
    assert.deepEqual(channelsOf(by(false, iso), { day }), ['p:orders{day="1970-01-01T00:00:00.000Z"}']);
    assert.deepEqual(channelsOf(by(true, iso), { day: [day, new Date(0)] })?.length, 1);
    assert.deepEqual(channelsOf(by(false, String), { day: ['a', 'b'] }), ['p:orders{day="a,b"}']);
    assert.deepEqual(
      channelsOf(
        by(false, (one) => BigInt(one as string)),
        { day: '9007199254740993' },
      ),
      ['p:orders{day="9007199254740993"}'],
    );
    assert.deepEqual(channelsOf(by(false, iso), { day: null }), ['p:orders{day=*}']);
    for (const [serialize, value] of [
      [iso, 'throws'],
      [(one: unknown) => one, {}],
      [(one: unknown) => one, ['a']],
      [() => null, 1],
    ] as const) {
      assert.match(String(channelsOf(by(false, serialize), { day: value })), /BAD_USER_INPUT.*"day" must be/);
    }
  });

  it('names one channel for each topic, or for those that the argument chooses', () => {
    assert.deepEqual(channelsOf(byRegion, {}), ['p:orders-EU{}', 'p:orders-US{}']);
    assert.deepEqual(channelsOf(byRegion, { region: null }), ['p:orders-EU{}', 'p:orders-US{}']);
    assert.deepEqual(channelsOf(byRegion, { region: 'US' }), ['p:orders-US{}']);
    assert.deepEqual(channelsOf(byRegion, { region: ['US', 'EU', 'US'] }), ['p:orders-US{}', 'p:orders-EU{}']);
    assert.match(String(channelsOf(byRegion, { region: [] })), /The list "region" is empty/);
  });
});
