import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { inferGraph } from '../../../src/tools/init/inferred-graph.ts';
import { schemaText } from '../../../src/tools/init/schema-text.ts';
import { seenTopic } from '../../../src/tools/init/seen-topic.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { lived, schemaOf, seen } from './inferred.ts';

const bodyOf = (schema: string) => schema.slice(schema.indexOf('type Subscription')).trim();

const deep = (levels: number, inner: unknown = 1): unknown =>
  levels === 0 ? inner : { child: deep(levels - 1, inner), id: levels };

/** JSON of records that somebody has, or means harm with. */
const SHAPES: Readonly<Record<string, readonly string[]>> = {
  'plain fields': ['{"orderId":"7","total":1.5,"isPaid":true}', '{"orderId":"8","total":2,"isPaid":false}'],
  'an envelope of one object': ['{"order":{"orderId":7}}', '{"order":{"orderId":8,"note":"n"}}'],
  'keys with spaces, dots and dashes': ['{"Order Id":1,"a.b-c":{"x y":[{"d e":1}]}}'],
  'unicode in keys and values': ['{"名前":"x","été":"\u202e","😀":1,"ok":"\u2028\u200b"}'],
  'only keys that are no names': ['{"1":1,"名前":2,"":3}'],
  'no keys': ['{}', '{}'],
  'a key __proto__ and names of Object.prototype': [
    '{"__proto__":{"a":1},"constructor":1,"toString":"x","hasOwnProperty":{"valueOf":[1]},"__typename":"Query"}',
  ],
  'empty lists, lists of lists and of null': ['{"a":[],"b":[[1,null],[2.5]],"c":[null],"d":[{"e":[]},null]}'],
  'deep nesting': [JSON.stringify(deep(40))],
  'deep lists': [`{"a":${'['.repeat(40)}1${']'.repeat(40)}}`],
  'numbers of every size': ['{"a":1,"b":2147483648,"c":9007199254740993,"d":1e400,"e":-0,"f":1e21,"order_id":1e21}'],
  'one place with values of all kinds': [
    '{"a":1}',
    '{"a":"x"}',
    '{"a":{"b":1}}',
    '{"a":[1]}',
    '{"a":null}',
    '{"a":true}',
    '{}',
  ],
  'scalars of several kinds': ['{"a":1,"id":"x"}', '{"a":"x","id":1.5}', '{"a":false,"id":true}'],
  'null everywhere': ['{"a":null,"b":{"c":null}}'],
  'a hundred and one keys': [JSON.stringify(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, i])))],
  'types that are named like those of GraphQL and crier': [
    '{"query":{"a":1},"subscription":{"a":1},"string":{"a":1},"kafka":{"match":{"a":1}},"json":[{"a":1}],"int":{"a":1}}',
  ],
  'keys that become one name': ['{"foo_bar":{"a":1},"fooBar":"x","FooBar":[1]}'],
  'words of GraphQL as keys': ['{"type":"t","null":1,"true":{"on":1},"fragment":[1],"input":"\\"\\"\\"","_":1}'],
  'a long key, text and list': [
    JSON.stringify({ ['k'.repeat(5000)]: 1, order_id: 'x'.repeat(5000), list: Array(5000).fill('y') }),
  ],
};

describe('inferGraph', () => {
  for (const [shape, records] of Object.entries(SHAPES)) {
    it(`infers a graph that loads without warnings and delivers each record: ${shape}`, async (t) => {
      await lived(t, seen(records));
    });
  }

  it('infers one for any records', async (t) => {
    const key = fc.oneof(fc.constantFrom('id', 'orderId', 'a', 'b c', 'Query', '__proto__', 'payload'), fc.string());
    const { record } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(
          fc.string(),
          fc.integer(),
          fc.double({ noNaN: true }),
          fc.boolean(),
          fc.constant(null),
          fc.maxSafeInteger(),
        ),
        fc.array(tie('value'), { maxLength: 4 }),
        tie('record'),
      ),
      record: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((entries) => {
        const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
        return JSON.parse(`{${members.join(',')}}`) as unknown;
      }),
    }));
    const records = fc.array(
      record.map((value) => JSON.stringify(value)),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(records, async (values) => void (await lived(t, seen(values)))),
      { numRuns: 100 },
    );
  });

  it('names fields as records are converted, and types them by all records', () => {
    const schema = schemaOf([
      {
        orderId: '7',
        total: 1,
        createdAt: '2026-11-24T02:07:50Z',
        lines: [{ sku: 'a', qty: 1 }],
        customer: { customerId: 3 },
        units: 3_000_000_000,
        mixed: 1,
        tags: [],
      },
      { orderId: '8', total: 1.5, createdAt: '2026-11-24', lines: [], mixed: 'x', odd: { a: 1 }, '1st': 0 },
      { orderId: '9', odd: [1] },
    ]);
    assert.equal(
      bodyOf(schema),
      `
type Subscription {
  "The records of one order_id; without the argument, all records."
  order(order_id: ID): Order @kafka(topic: "shop.orders.v1", match: [{ arg: "order_id", path: "order_id" }])
}

type Order {
  order_id: ID!
  total: Float
  created_at: String
  lines: [OrderLine]
  customer: OrderCustomer
  # whole numbers that Int cannot hold
  units: Float
  # values of several kinds: number, string
  mixed: String
  # no items in any record that was read
  tags: [JSON]
  # values of several kinds: object, list
  odd: JSON
  # Left out, because GraphQL has no such names: "1st"
}

type OrderLine {
  sku: String
  qty: Int
}

type OrderCustomer {
  customer_id: ID
}

"Any JSON. Objects in it keep their keys."
scalar JSON`.trim(),
    );
  });

  it('writes BigInt for whole numbers beyond 2^53, and keeps their digits', async (t) => {
    const records = seen(
      [
        '{"account":9007199254740993,"big_int":{"a":1},"all":[1,9223372036854775808],"id":9007199254740993,"at":1761955200123,"mass":6e23,"sku":9007199254740993}',
        '{"account":7,"big_int":{"a":2},"all":[],"id":8,"at":1761955200124,"mass":1.5,"sku":"a"}',
      ],
      ['9007199254740993', '8'],
    );
    const { text } = await lived(t, records);
    assert.match(text, /# whole numbers beyond 2\^53, which clients receive as text\n {2}account: BigInt\n/);
    assert.match(
      text,
      /big_int: OrderBigInt\n[^]*all: \[BigInt\]\n {2}id: ID!\n[^]* at: Float\n {2}mass: Float\n {2}sku: String\n/,
    );
    assert.match(text, /\n"An integer, as text\."\nscalar BigInt\n$/);
    assert.match(text, /match: \[\{ arg: "id", path: "id" \}\]/);
  });

  it('matches on the field that equals the key of each record, however the key is written', () => {
    const match = (keys: string[]) =>
      /@kafka.*match: (.*?)\]/.exec(
        schemaOf(
          [
            { sku: 'a', number: 7, order_id: 1 },
            { sku: 'b', number: 8, order_id: 1 },
          ],
          keys,
        ),
      )?.[1];
    assert.equal(match(['a', 'b']), '[{ arg: "sku", path: "sku" }');
    assert.equal(match(['"a"', '"b"']), '[{ arg: "sku", path: "sku" }');
    assert.equal(match(['7', '8']), '[{ arg: "number", path: "number" }');
    assert.equal(match(['{"number":7}', '{"number":8}']), '[{ arg: "number", path: "number" }');
    assert.equal(
      match([7, 8].map((number) => `{"schema":{"type":"struct"},"payload":{"number":${number}}}`)),
      '[{ arg: "number", path: "number" }',
    );
    assert.equal(match(['a', 'c']), '[{ arg: "order_id", path: "order_id" }');
    assert.match(schemaOf([{ sku: 'a' }], ['a']), /sku is the key of the records/);
  });

  it('matches on a field inside an envelope that equals the key of each record, by its path', async (t) => {
    const events = [
      { id: 'e1', type: 'placed', data: { id: 7, total: 1 } },
      { id: 'e2', type: 'paid', data: { id: 8, total: 2 } },
    ];
    const records = seen(
      events.map((event) => JSON.stringify(event)),
      ['7', '8'],
    );
    const { text, example } = await lived(t, records);
    assert.match(text, /# data\.id is the key of the records, so the events of one subscription are in order\./);
    assert.match(text, /order\(data_id: ID\): Order @kafka\(.*match: \[\{ arg: "data_id", path: "data\.id" \}\]\)/);
    assert.match(text, /type OrderData \{\n {2}id: ID!\n/);
    assert.equal(example, 'subscription { order(data_id: "8") { id type } }');

    const match = (value: unknown, key: string) => /@kafka.*match: (.*?)\]/.exec(schemaOf([value], [key]))?.[1];
    assert.equal(match({ meta: { user_id: 'u' }, n: 1 }, 'u'), '[{ arg: "user_id", path: "meta.user_id" }');
    assert.equal(match({ sku: 'a', order: { id: 'a' } }, 'a'), '[{ arg: "sku", path: "sku" }');
    assert.equal(match({ a: { b: { c: 'k', e: 1 }, f: 1 }, g: 1 }, 'k'), '[{ arg: "c", path: "a.b.c" }');
    assert.equal(match({ lines: [{ id: 'k' }], n: 1 }, 'k'), undefined);
  });

  it('says that no field equals the keys, and how to match on them', () => {
    const none = schemaOf([{ type: 'x', data: { id: 1 } }], ['7']);
    assert.match(
      none,
      /# No field equals the key of each record\. To choose by the key: match: \[\{ arg: "key", key: true \}\]/,
    );
    assert.match(none, /All records of the topic/);
    const keyed = seen(['{"type":"x","data":{"id":1}}'], ['{"no":7,"order_id":8}']);
    const text = schemaText(inferGraph('orders', keyed), 'records');
    assert.match(
      text,
      /choose by a member of the key: match: \[\{ arg: "id", key: "order_id" \}\], and an argument id: ID/,
    );
    const named = schemaOf([{ order_id: 1 }], ['7']);
    assert.match(named, /# order_id was chosen for its name: no field equals the key of each record\./);
    assert.doesNotMatch(schemaOf([{ order_id: 1 }]), /key/);
  });

  it('matches on nothing where no field is in each record, or none is an id', () => {
    for (const records of [[{ order_id: 1 }, { a: 1 }], [{ a: 1 }], [{ order_id: { a: 1 } }], [{ order_id: null }]]) {
      const schema = schemaOf(records);
      assert.doesNotMatch(schema, /match/);
      assert.match(schema, /All records of the topic/);
    }
  });

  it('writes before: WHOLE only where an update has a whole row before, and none denies it', () => {
    const source = { connector: 'postgresql', ts_ms: 1 };
    const row = { id: 7, name: 'a', status: 'NEW' };
    const update = (before: unknown, connector = 'postgresql') => ({
      op: 'u',
      before,
      after: { ...row, name: 'b' },
      source: { ...source, connector },
    });
    const binding = (...values: unknown[]) => {
      const schema = schemaOf(
        values,
        values.map(() => '{"id":7}'),
      );
      return [schema.includes('DEBEZIUM, before: WHOLE, match'), /# .*REPLICA IDENTITY FULL/.test(schema)];
    };
    assert.deepEqual(binding(update(row)), [true, false]);
    assert.deepEqual(binding(update(row), update(null)), [false, true]);
    assert.deepEqual(binding(update({ id: 7, name: '', status: 'OLD' })), [false, true]);
    assert.deepEqual(binding(update({ id: 7, status: 'NEW' })), [false, true]);
    assert.deepEqual(binding({ op: 'c', before: null, after: row, source }), [false, true]);
    assert.deepEqual(binding(update(null, 'mysql')), [false, false]);
  });

  it("recognises Flink's changes, whose rows before are whole, and writes no source into their samples", async (t) => {
    const row = { id: 7, n: 1 };
    const changes = [
      { before: null, after: row, op: 'c' },
      { before: row, after: null, op: 'd' },
      { before: null, after: { id: 7, n: 2 }, op: 'c' },
    ].map((change) => JSON.stringify(change));
    const topic = seen(changes, ['{"id":7}', '{"id":7}', '{"id":7}']);
    const { text } = await lived(t, topic);
    assert.match(text, /order\(id: ID!\): Order @kafka\([^)]*envelope: DEBEZIUM, before: WHOLE, match: /);
    assert.match(text, /orders: Order @kafka\([^)]*envelope: DEBEZIUM, before: WHOLE, tombstone: ROW\)/);
    assert.deepEqual(
      topic.samples.map(({ value }) => (value as { op: string }).op),
      ['c', 'd', 'c', 'd', 'c'],
    );
    assert.ok(topic.samples.every(({ value }) => Object.keys(value!).join() === 'before,after,op'));
    const bare = seen(['{"before":null,"after":{"id":7},"op":"c","at":1}']);
    assert.equal(bare.envelope, undefined);
  });

  it('ends the samples of changed rows with an update and a delete, if there are none', () => {
    const source = { connector: 'mysql', ts_ms: 1 };
    const row = { id: 7, n: 1 };
    const document = { ...row, _id: 7 };
    const kinds: Readonly<Record<string, readonly [value: object, made: readonly unknown[]]>> = {
      DEBEZIUM: [
        { before: null, after: row, op: 'c', source },
        [
          { before: row, after: row, op: 'u' },
          { before: row, after: null, op: 'd' },
        ],
      ],
      MONGODB: [
        { before: null, after: JSON.stringify(document), op: 'c', source: { connector: 'mongodb', ts_ms: 1 } },
        [
          { before: null, after: document, op: 'u' },
          { before: null, after: null, op: 'd' },
        ],
      ],
      DEBEZIUM_FLAT: [
        { ...row, __op: 'c', __deleted: 'false' },
        [
          { ...row, __op: 'u', __deleted: 'false' },
          { ...row, __op: 'd', __deleted: 'true' },
        ],
      ],
      CONNECT: [{ schema: null, payload: row }, [row, null]],
      OUTBOX: [JSON.stringify(row) as unknown as object, []],
    };
    for (const [envelope, [value, made]] of Object.entries(kinds)) {
      const topic = seen([JSON.stringify(value)], ['{"id":7}']);
      assert.equal(topic.envelope, envelope);
      const values = topic.samples.map((sample) => sample.value);
      const text = JSON.stringify(values, (key, of: unknown) => (key === 'source' ? undefined : of));
      assert.deepEqual((JSON.parse(text) as unknown[]).slice(1), made, envelope);
    }
  });

  it('writes tombstone: NULL where a record has no value, and its key names the channel', async (t) => {
    const written = async (value: unknown, ...keys: string[]) => {
      const topic = seen([JSON.stringify(value)], keys);
      const text = schemaText(inferGraph('orders', topic, true), 'records');
      const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
      assert.deepEqual(graph.warnings, [], text);
      return /@kafka\(topic: "orders"(?:, )?(.*)\)$/m.exec(text)![1]!;
    };
    assert.equal(await written({ id: 7, n: 1 }, '7'), 'match: [{ arg: "id", path: "id" }], tombstone: NULL');
    assert.equal(
      await written({ tenant: 'a', no: 7, n: 1 }, '{"tenant":"a","no":7}'),
      'match: [{ arg: "tenant", key: "tenant" }, { arg: "no", key: "no" }], tombstone: NULL',
    );
    assert.equal(await written({ n: 1 }, 'k'), 'tombstone: NULL');
    assert.equal(await written({ id: 7, n: 1 }, 'k'), 'match: [{ arg: "id", path: "id" }]');
    assert.doesNotMatch(schemaOf([{ id: 7, n: 1 }], ['7']), /tombstone/);
  });

  it('gives each header of an outbox a field of its own', async (t) => {
    const headers = {
      id: '0b9d1fb5-7d3c-4d0f-9c1e-6a3f6a1c2b11',
      eventId: 'e',
      'event-type': 'a',
      event_type: 'b',
      n: 'c',
    };
    const topic = seenTopic([{ key: '7', headers, value: { order_id: 7, n: 1 } }], { maxBytes: 1000, maxDepth: 8 });
    const text = schemaText(inferGraph('orders', topic), 'records');
    await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
    assert.deepEqual(
      Array.from(text.matchAll(/(\w+): \w+ @record\(field: HEADER, name: "(.*)"\)/g), ([, name, header]) => [
        name,
        header,
      ]),
      [
        ['event_id', 'id'],
        ['header_event_id', 'eventId'],
        ['event_type', 'event-type'],
        ['header_event_type', 'event_type'],
        ['header_n', 'n'],
      ],
    );
  });

  it('finds the payload below objects of one key', () => {
    assert.match(
      schemaOf([{ data: { order: { id: 1 } } }]),
      /order\(id: ID\): Order @kafka\(.*path: "data.order.id".*payload: "data.order"\)/,
    );
    assert.doesNotMatch(schemaOf([{ type: 'x', order: { id: 1 } }]), /payload:/);
    assert.doesNotMatch(schemaOf([{ order: { id: 1 } }, { order: null }]), /payload:/);
  });

  it('shows what a record hides in the subscription that a person is to run', async (t) => {
    const { example } = await lived(t, seen([String.raw`{"id":"1\u202e\u009b2J\u00ad\ud83d\ude00","n":1}`]));
    assert.equal(example, String.raw`subscription { order(id: "1\u202e\u009b2J\u00ad😀") { id n } }`);
  });

  it('shortens samples, and keeps of __proto__ nothing', async (t) => {
    const { samples } = await lived(
      t,
      seen([`{"__proto__":{"a":1},"b":"${'x'.repeat(300)}","c":[1,2,3,4,5,6],"id":"\\u202e"}`]),
    );
    const { value } = samples[0]!;
    assert.deepEqual(Object.keys(value), ['b', 'c', 'id']);
    assert.equal((value['b'] as string).length, 201);
    assert.deepEqual(value['c'], [1, 2, 3, 4, 5]);
    assert.equal(value['id'], '\u202e');
  });
});
