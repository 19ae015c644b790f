import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { KEY_PART, headerPart } from '../../../src/graph/record-parts.ts';
import { createRouters } from '../../../src/graph/router.ts';
import type { KeyPlace } from '../../../src/base/json/key-place.ts';
import { Converter } from '../../../src/kafka/decoding/converter.ts';
import { KeyRewriter } from '../../../src/kafka/decoding/key-rewriter.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';
import { PLACES } from './random-records.ts';
import { settled } from './settled.ts';

const LIMITS = { maxBytes: 1000, maxDepth: 8 };
const history = { entries: 5, bytes: 100, seconds: 60 };
const bids = {
  field: 'bid_placed',
  topics: ['bids'],
  match: [{ arg: 'auction_id', path: 'bid.auction_id', isOptional: false }],
  payload: ['bid'],
  where: [],
  isShared: true,
  history,
};

function createConverter(hasRewriter = true, place?: KeyPlace) {
  const snakeCase = new SnakeCase();
  const keyPlaces = new Map(place && [['bids', place]]);
  const converter = new Converter(createRouters([bids], 'p:'), LIMITS, snakeCase, { hasRewriter, keyPlaces });
  const convert = (json: string | Buffer | null, topic = 'bids') => {
    const value = typeof json === 'string' ? Buffer.from(json) : json;
    const conversion = settled(converter.convert({ topic, key: null, value }));
    return conversion.poison === undefined ? { ...conversion, payload: String(conversion.payload) } : conversion;
  };
  return { converter, convert, snakeCase };
}

/** JSON text that both paths can meet: fit for the topic, poison, or any JSON. */
const anyRecord = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    '{"bid":{"auctionId":1}}',
    '{"bid":{"auctionId":"x"}}',
    '{"bid":{"auctionID":1,"auction_id":2}}',
    '{',
  ),
  fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 }).map((bid) => JSON.stringify({ bid, auctionId: 1 })),
);

for (const hasRewriter of [true, false]) {
  describe(`Converter with KEY_REWRITER=${hasRewriter}`, () => {
    it('routes by the key and a header of a record, which no value of its payload replaces', () => {
      const match = [KEY_PART, headerPart('tenant'), 'key'].map((path, index) => ({
        arg: `a${index}`,
        path,
        isOptional: index > 0,
      }));
      const snakeCase = new SnakeCase();
      const routers = createRouters([{ ...bids, match, payload: [] }], 'p:');
      const converter = new Converter(routers, LIMITS, snakeCase, { hasRewriter });
      const channelsOf = (key: string | null, headers: Record<string, string>) => {
        const value = Buffer.from('{"key":"other","header":{"tenant":"other"}}');
        const record = { topic: 'bids', key: key === null ? null : Buffer.from(key), value, headers };
        return settled(converter.convert(record)).destinations?.map(({ channel }) => channel);
      };
      assert.deepEqual(channelsOf('7', { tenant: 'acme' }), [
        'p:bids{.header "tenant"="acme",.key="7",key="other"}',
        'p:bids{.header "tenant"="acme",.key="7",key=*}',
        'p:bids{.header "tenant"=*,.key="7",key="other"}',
        'p:bids{.header "tenant"=*,.key="7",key=*}',
      ]);
      assert.deepEqual(channelsOf('7', {}), [
        'p:bids{.header "tenant"=*,.key="7",key="other"}',
        'p:bids{.header "tenant"=*,.key="7",key=*}',
      ]);
      assert.deepEqual(channelsOf(null, { tenant: 'acme' }), []);
      const { matched, unmatched } = routers.get('bids')!.tallies[0]!;
      assert.deepEqual([matched, unmatched.match_absent], [2, 1]);
    });

    it('returns the payload text and the channels of a record', () => {
      const { convert } = createConverter(hasRewriter);
      assert.deepEqual(convert('{ "bid": {"auctionId":7, "maxPrice":1.0} }'), {
        payload: '{"bid":{"auction_id":7,"max_price":1}}',
        destinations: [{ channel: 'p:bids{bid.auction_id="7"}', history }],
      });
    });

    it('returns no text for a record without channels', () => {
      const { convert } = createConverter(hasRewriter);
      for (const json of ['{"bid":{}}', '{"bid":{"auctionId":null}}', '{"bid":[{"auctionId":7}]}', '{"0":{}}']) {
        assert.deepEqual(convert(json), { payload: '', destinations: [] });
      }
      assert.deepEqual(convert('{"bid":{"auctionId":7}}', 'another topic'), { payload: '', destinations: [] });
    });

    it('returns the reason of a poison record', () => {
      const { convert } = createConverter(hasRewriter);
      const deep = `${'{"a":'.repeat(8)}{}${'}'.repeat(8)}`;
      assert.deepEqual(
        [`"${'x'.repeat(1000)}"`, '{"\\', '[]', deep].map((json) => convert(json).poison),
        ['too_large', 'not_json', 'not_object', 'too_deep'],
      );
      assert.equal(convert(Buffer.from([0xff])).poison, 'invalid_utf8');
    });

    it('counts unmatched records, both rewritten and parsed', () => {
      const whole = { ...bids, field: 'whole', match: [] };
      const router = createRouters([bids, whole], 'p:').get('bids')!;
      const converter = new Converter(new Map([['bids', router]]), LIMITS, new SnakeCase(), { hasRewriter });
      const records = [
        '{"bid":{"auctionId":7}}',
        '{"bid":{"auctionId":null}}',
        '{"bid":null}',
        '{"bit":{}}',
        '{"bid":[]}',
      ];
      // The rewriter declines integer keys.
      for (const json of [...records, ...records.map((json) => json.replace('{', '{"0":0,'))]) {
        void converter.convert({ topic: 'bids', key: null, value: Buffer.from(json) });
      }
      assert.deepEqual(
        router.tallies.map(({ field, matched, unmatched }) => [field, matched, unmatched]),
        [
          ['bid_placed', 2, { match_absent: 8, payload_absent: 0 }],
          ['whole', 6, { match_absent: 0, payload_absent: 4 }],
        ],
      );
      assert.deepEqual([router.records, router.unrouted], [10, 0]);
    });

    it('counts properties that SnakeCase drops', () => {
      const { convert, snakeCase } = createConverter(hasRewriter);
      for (let i = 0; i < 10; i++) {
        const conversion = convert('{"bid":{"auctionId":7,"auction_id":8,"__proto__":9}}');
        assert.equal(conversion.poison === undefined && conversion.payload, '{"bid":{"auction_id":8}}');
      }
      assert.equal(snakeCase.collisions, 10);
      assert.equal(snakeCase.droppedProtos, 10);
    });

    const payloadOf = ({ convert }: ReturnType<typeof createConverter>, json: string) => {
      const conversion = convert(json);
      return conversion.poison === undefined && conversion.payload;
    };

    it('keeps the last value of a repeated key; of different keys of one name the one that has it, else the first (S-70)', () => {
      for (const [json, payload] of [
        ['{"bid":{"auctionId":7,"a":1,"a":2}}', '{"bid":{"auction_id":7,"a":2}}'],
        ['{"bid":{"auctionId":7,"fooBar":1,"FooBar":2}}', '{"bid":{"auction_id":7,"foo_bar":1}}'],
        ['{"bid":{"auctionId":7,"fooBar":1,"FooBar":2,"fooBar":3}}', '{"bid":{"auction_id":7,"foo_bar":3}}'],
        ['{"bid":{"auctionId":7,"fooBar":1,"foo_bar":2,"fooBar":3}}', '{"bid":{"auction_id":7,"foo_bar":2}}'],
      ]) {
        const one = createConverter(hasRewriter);
        assert.equal(payloadOf(one, json!), payload);
        // The rewriter pauses: this record is parsed at once.
        assert.equal(payloadOf(one, json!), payload);
      }
    });

    it('routes by the key that has the name, not by one that is converted to it', () => {
      for (const json of ['{"bid":{"_auctionId":8,"auction_id":7}}', '{"bid":{"auction_id":7,"_auctionId":8}}']) {
        const { convert, snakeCase } = createConverter(hasRewriter);
        const { payload, destinations } = convert(json);
        assert.equal(payload, '{"bid":{"auction_id":7}}');
        assert.deepEqual(
          destinations?.map(({ channel }) => channel),
          ['p:bids{bid.auction_id="7"}'],
        );
        assert.equal(snakeCase.collisions, 1);
      }
    });

    it('prints a number beyond a double as null, counts it, and does not route by it', () => {
      for (const number of ['1e400', '-1e400', `${'9'.repeat(400)}.5`]) {
        const one = createConverter(hasRewriter);
        const json = `{"bid":{"auctionId":7,"max":${number},"all":[1,${number}]}}`;
        const payload = '{"bid":{"auction_id":7,"max":null,"all":[1,null]}}';
        for (let i = 1; i <= 3; i++) {
          assert.equal(payloadOf(one, json), payload);
          assert.equal(one.snakeCase.overflows, 2 * i);
        }
        const routed = createConverter(hasRewriter);
        for (let i = 0; i < 2; i++) assert.equal(payloadOf(routed, `{"bid":{"auctionId":${number}}}`), '');
      }
    });

    it('keeps the digits of an integer that has them, and routes by them', () => {
      for (const digits of ['9007199254740993', '10000000000000000000000', '9'.repeat(400)]) {
        const { convert } = createConverter(hasRewriter);
        const { payload, destinations } = convert(`{"bid":{"auctionId":${digits}}}`);
        assert.equal(String(payload), `{"bid":{"auction_id":"${digits}"}}`);
        assert.deepEqual(
          destinations?.map(({ channel }) => channel),
          [`p:bids{bid.auction_id="${digits}"}`],
        );
      }
    });

    it('routes equal integers alike, however they are written', () => {
      const channelsOf = (number: string) =>
        createConverter(hasRewriter)
          .convert(`{"bid":{"auctionId":${number}}}`)
          .destinations?.map(({ channel }) => channel);
      for (const [one, ...others] of [
        [
          '9007199254740993',
          '9007199254740993.0',
          '9.007199254740993e15',
          '900719925474099300E-2',
          '"9007199254740993"',
        ],
        ['10000000000000000000000', '1e22', '1.0E+22', '1e+22', '"10000000000000000000000"'],
      ])
        for (const other of others) assert.deepEqual(channelsOf(other), channelsOf(one!), other);
    });

    it('returns the same result whatever records came before', () => {
      fc.assert(
        fc.property(fc.array(anyRecord, { maxLength: 12 }), (records) => {
          const { convert } = createConverter(hasRewriter);
          for (const one of records) assert.deepEqual(convert(one), createConverter(hasRewriter).convert(one));
        }),
      );
    });
  });
}

describe('Converter', () => {
  it('tries the rewriter rarely while it declines, and for each record once it succeeds', (t) => {
    const { mock } = t.mock.method(KeyRewriter.prototype, 'rewrite');
    const { convert } = createConverter();
    for (let i = 0; i < 6400; i++) convert('{"1":1}');
    assert.ok(mock.callCount() > 90 && mock.callCount() < 110, `${mock.callCount()}`);
    for (let i = 0; i < 64; i++) convert('{"bid":{}}');
    mock.resetCalls();
    for (let i = 0; i < 100; i++) convert('{"bid":{}}');
    assert.equal(mock.callCount(), 100);
  });

  it('never tries the rewriter with KEY_REWRITER=false', (t) => {
    const { mock } = t.mock.method(KeyRewriter.prototype, 'rewrite');
    createConverter(false).convert('{"bid":{}}');
    assert.equal(mock.callCount(), 0);
  });

  it('returns the same results and counts with the rewriter on and off', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 12 }), fc.constantFrom(...PLACES), (records, place) => {
        const on = createConverter(true, place);
        const off = createConverter(false, place);
        for (const one of records) assert.deepEqual(on.convert(one), off.convert(one));
        const countsOf = ({ snakeCase: { collisions, droppedProtos, overflows } }: typeof on) => [
          collisions,
          droppedProtos,
          overflows,
        ];
        assert.deepEqual(countsOf(on), countsOf(off));
      }),
    );
  });
});
