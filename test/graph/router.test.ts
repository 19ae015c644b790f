import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Binding } from '../../src/graph/schema/binding.ts';
import { channelsFor } from '../../src/graph/channels.ts';
import { TopicRouter, createRouters } from '../../src/graph/router.ts';
import { valueAt } from '../../src/base/json/value-at.ts';

const bids: Binding = {
  field: 'bid_placed',
  topics: ['bids'],
  match: [
    { arg: 'auction_id', path: 'bid.auction_id', isOptional: false },
    { arg: 'currency', path: 'bid.currency', isOptional: true },
  ],
  payload: ['bid'],
  where: [],
  isShared: true,
};

/** The only channel of a subscription; undefined: it lacks a claim. */
function channelFor(...input: Parameters<typeof channelsFor>): string | undefined {
  const channels = channelsFor(...input);
  assert.ok(channels === undefined || (!('errors' in channels) && channels.length === 1));
  return channels?.[0];
}

/** All channels that a payload belongs to, for bindings of one topic. */
function channelsOf(bindings: readonly Binding[], prefix: string, payload: unknown): readonly string[] {
  const router = new TopicRouter(bindings[0]!.topics[0]!, bindings, prefix);
  return router.channels(router.valuesIn(payload), { key: null }).map(({ channel }) => channel);
}

describe('router', () => {
  it('routes a record to the channel of its values and to those without optional matches', () => {
    assert.deepEqual(channelsOf([bids], 'p:', { bid: { auction_id: 7, currency: 'EUR' } }), [
      'p:bids{bid.auction_id="7",bid.currency="EUR"}',
      'p:bids{bid.auction_id="7",bid.currency=*}',
    ]);
  });

  it('omits a match without a plain value, and drops the record if the match is required', () => {
    for (const currency of [null, {}, ['EUR'], undefined]) {
      const payload = { bid: { auction_id: 7, currency } };
      assert.deepEqual(channelsOf([bids], 'p:', payload), ['p:bids{bid.auction_id="7",bid.currency=*}']);
    }
    for (const payload of [{}, null, 5, [], { bid: null }, { bid: [{ auction_id: 7 }] }]) {
      assert.deepEqual(channelsOf([bids], 'p:', payload), []);
    }
  });

  it('names a channel once for fields that match the same paths, in whatever order', () => {
    const other: Binding = { ...bids, field: 'other', match: bids.match.toReversed() };
    const everything: Binding = { ...bids, field: 'everything', match: [] };
    const channels = channelsOf([bids, other, everything], 'p:', { bid: { auction_id: 7, currency: 'EUR' } });
    assert.equal(new Set(channels).size, channels.length);
    assert.equal(channels.length, 3);
    assert.equal(
      channelFor(other, 'p:', { args: { currency: 'EUR', auction_id: '7' }, claims: {} }),
      channelFor(bids, 'p:', { args: { auction_id: 7, currency: 'EUR' }, claims: {} }),
    );
  });

  it('routes a record to the channel of the claims that its values equal, whatever their types', () => {
    const orders: Binding = { ...bids, match: [], where: [{ claim: 'org.id', path: 'order.tenant' }] };
    const channel = channelFor(orders, 'p:', { args: {}, claims: { org: { id: 7 } } });
    assert.equal(channel, 'p:bids{order.tenant="7"}');
    assert.deepEqual(channelsOf([orders], 'p:', { order: { tenant: '7' } }), [channel]);
    assert.deepEqual(channelsOf([orders], 'p:', { order: {} }), []);
  });

  it('finds a claim whose own name has dots before a path of that spelling', () => {
    const orders: Binding = { ...bids, match: [], where: [{ claim: 'https://a.example/tenant', path: 'tenant' }] };
    const claims = { 'https://a.example/tenant': 'acme', 'https://a': { 'example/tenant': 'other' } };
    assert.equal(channelFor(orders, 'p:', { args: {}, claims }), 'p:bids{tenant="acme"}');
  });

  it('has no channel for claims that are absent, inherited, of no single value, or longer than 256 characters', () => {
    const where = (claim: string): Binding => ({ ...bids, match: [], where: [{ claim, path: 'tenant' }] });
    const channelOf = (claim: string, claims: Record<string, unknown>) =>
      channelFor(where(claim), 'p:', { args: { tenant: 'x' }, claims });
    for (const tenant of [undefined, null, ['acme'], { id: 'acme' }, 'x'.repeat(257)]) {
      assert.equal(channelOf('tenant', tenant === undefined ? {} : { tenant }), undefined);
    }
    for (const claim of ['constructor', 'constructor.name', '__proto__', 'org.id', 'tenant.length']) {
      assert.equal(channelOf(claim, { tenant: 'acme', org: 'acme' }), undefined, claim);
    }
    assert.ok(channelOf('tenant', { tenant: 'x'.repeat(256) }));
  });

  it('names a channel that no claim can escape from', () => {
    const orders: Binding = { ...bids, match: [], where: [{ claim: 'tenant', path: 'tenant' }] };
    const hostile = 'a"},tenant="b"}{*\n';
    const channel = channelFor(orders, 'p:', { args: {}, claims: { tenant: hostile } });
    assert.deepEqual(channelsOf([orders], 'p:', { tenant: hostile }), [channel]);
    for (const tenant of ['a', 'b', '*']) assert.ok(!channelsOf([orders], 'p:', { tenant }).includes(channel!));
  });

  it('counts records that have no value for a required match, or nothing where the payload should be', () => {
    const meta: Binding = { ...bids, field: 'meta', match: [{ arg: 'id', path: 'meta.id', isOptional: false }] };
    const router = new TopicRouter('bids', [bids, meta], 'p:');
    for (const payload of [
      { bid: { auction_id: 7 } },
      { meta: { id: 1 } },
      { meta: { id: 1 }, bid: {} },
      { bid: {} },
      {},
    ]) {
      router.count(router.valuesIn(payload), { key: null });
    }
    assert.deepEqual(
      router.tallies.map(({ field, paths, matched, unmatched }) => ({ field, ...paths, matched, unmatched })),
      [
        {
          field: 'bid_placed',
          match_absent: 'bid.auction_id',
          payload_absent: '',
          matched: 1,
          unmatched: { match_absent: 4, payload_absent: 0 },
        },
        {
          field: 'meta',
          match_absent: 'meta.id',
          payload_absent: 'bid',
          matched: 1,
          unmatched: { match_absent: 3, payload_absent: 1 },
        },
      ],
    );
    assert.deepEqual([router.records, router.unrouted], [5, 2]);
  });

  it('has no channel for a value that is too long to subscribe to, and counts it as absent', () => {
    const keyed: Binding = { ...bids, tombstone: 'NULL' };
    const router = new TopicRouter('bids', [keyed], 'p:', undefined, 10);
    const routesOf = (id: string) => {
      const values = router.valuesIn({ bid: { auction_id: id } });
      router.count(values, { key: null });
      return router.channels(values, { key: null }).length;
    };
    assert.deepEqual([routesOf('x'.repeat(10)), routesOf('x'.repeat(11))], [1, 0]);
    assert.deepEqual(router.tallies[0]!.unmatched, { match_absent: 1, payload_absent: 0 });
    const tombstones = (key: string) => router.tombstoneChannels({ key: Buffer.from(key) }).length;
    assert.deepEqual([tombstones('x'.repeat(10)), tombstones('x'.repeat(11))], [1, 0]);
  });

  it('uses the largest history that any field of a channel configures, and none if no field does', () => {
    const kept = { ...bids, history: { entries: 5, bytes: 100, seconds: 60 } };
    const other = { ...bids, field: 'other', history: { entries: 1, bytes: 900, seconds: 90 } };
    const payload = { bid: { auction_id: 7 } };
    const historyOf = (...bindings: Binding[]) => {
      const router = createRouters(bindings, 'p:').get('bids');
      return router?.channels(router.valuesIn(payload), { key: null })[0]?.history;
    };
    assert.deepEqual(historyOf(kept, bids, other), { entries: 5, bytes: 900, seconds: 90 });
    assert.equal(historyOf(bids), undefined);
    const stateFor = (seconds: number) => ({ ...bids, state: { seconds } });
    assert.deepEqual(historyOf(stateFor(60), bids), {
      entries: 0,
      bytes: 0,
      seconds: 0,
      stateSeconds: 60,
      keyIndex: 'p:bids[bid.auction_id=?,bid.currency=*]',
    });
    assert.equal(historyOf(kept, stateFor(60), stateFor(90))?.stateSeconds, 90);
    assert.equal(historyOf(stateFor(60), stateFor(0))?.stateSeconds, 0, 'for ever');
  });

  it('routes only topics that a field is bound to', () => {
    assert.deepEqual([...createRouters([bids], 'p:').keys()], ['bids']);
  });

  it('returns the paths that it needs of a topic, each once, and their values in a payload as texts', () => {
    const everything: Binding = { ...bids, field: 'everything', match: bids.match.toReversed() };
    const router = createRouters([bids, everything], 'p:').get('bids');
    assert.deepEqual(router?.paths, [
      ['bid', 'auction_id'],
      ['bid', 'currency'],
    ]);
    assert.deepEqual(router.valuesIn({ bid: { auction_id: 7, currency: true } }), ['7', 'true']);
    assert.deepEqual(router.valuesIn({ bid: { auction_id: {}, currency: null } }), [undefined, undefined]);
  });

  it('reads own properties only', () => {
    assert.equal(valueAt({}, ['constructor', 'name']), undefined);
    assert.equal(valueAt({ a: 'text' }, ['a', 'length']), undefined);
    assert.equal(valueAt(JSON.parse('{"__proto__":{"a":1}}'), ['__proto__', 'a']), 1);
    assert.deepEqual(valueAt([1], []), [1]);
  });

  it('matches arguments with a payload exactly if they equal its values', () => {
    const value = fc.oneof(
      fc.constantFrom(null, undefined, {}, [], Number.NaN),
      fc.constantFrom(7, '7', 0, -0, '0', true, 'true', '', '*', '"', 'a,b="c"', '\ud800'),
      fc.integer(),
      fc.string({ unit: 'binary' }),
    );
    const path = fc.constantFrom('a', 'b', 'c.d', 'c.e', 'constructor');
    const key = fc.record({ path, isOptional: fc.boolean(), isClaim: fc.boolean() });
    const binding = fc.uniqueArray(key, { selector: (one) => one.path, maxLength: 4 }).map((keys): Binding => {
      const match = keys.filter(({ isClaim }) => !isClaim);
      const where = keys.filter(({ isClaim }) => isClaim);
      return {
        field: 'f',
        topics: ['t'],
        match: match.map((one) => ({ arg: `${one.path} argument`, path: one.path, isOptional: one.isOptional })),
        where: where.map((one) => ({ claim: `${one.path} claim`, path: one.path })),
        payload: [],
        isShared: true,
      };
    });
    const payload = fc.record(
      { a: value, b: value, c: fc.oneof(value, fc.record({ d: value, e: value })) },
      { requiredKeys: [] },
    );
    const isKey = (candidate: unknown): candidate is string | number | boolean =>
      typeof candidate === 'string' || typeof candidate === 'boolean' || Number.isFinite(candidate);
    fc.assert(
      fc.property(
        binding,
        payload,
        fc.array(binding, { maxLength: 3 }),
        fc.array(value),
        fc.nat(),
        (bound, body, others, pool, seed) => {
          // Names of arguments and claims differ.
          const given: Record<string, string | number | boolean> = {};
          const parts = [
            ...bound.match.map(({ arg, ...match }) => ({ name: arg, ...match })),
            ...bound.where.map(({ claim, ...where }) => ({ name: claim, ...where, isOptional: false })),
          ];
          parts.forEach(({ name, path: at, isOptional }, index) => {
            // Half of the values are taken from the payload, so that matches are common.
            const own = valueAt(body, at.split('.'));
            const random = pool[(seed + index) % Math.max(1, pool.length)];
            const chosen = (seed >> index) % 2 === 0 ? own : random;
            if (isKey(chosen)) given[name] = chosen;
            else if (!isOptional) given[name] = 'x';
          });
          const isMatch = parts.every(({ name, path: at }) => {
            const own = valueAt(body, at.split('.'));
            return given[name] === undefined || (isKey(own) && String(own) === String(given[name]));
          });
          const channel = channelFor(bound, 'p:', { args: given, claims: given });
          assert.ok(channel !== undefined);
          const channels = channelsOf([...others, bound], 'p:', body);
          assert.equal(channelsOf([bound], 'p:', body).includes(channel), isMatch);
          assert.equal(new Set(channels).size, channels.length);
          if (isMatch) assert.ok(channels.includes(channel));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
