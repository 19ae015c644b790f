import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTopics } from '../../stack/topics.ts';
import { startPod } from '../end-to-end/pod-server.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { kafkaBrokers, randomName } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import { Capture } from './capture.ts';
import { CHANGES, TABLES } from './record-cases.ts';
import { EVENT_ROUTER, FLATTENED, json } from './record-connectors.ts';

const PATIENCE_MS = 60_000;
/** Behind all changes. */
const LAST = ['rows', 'keyed'].map((table) => `insert into ${table} (id, customer, name) values (99, 'last', 'last');`);

const schemaOf = (name: string) => `
extend schema @crier(keys: KEEP)
type Subscription {
  row(id: ID!): Row @kafka(topic: "${name}.public.rows", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }], tombstone: NULL)
  rows(customer: String): Row
    @kafka(topic: "${name}.public.rows", envelope: DEBEZIUM, before: WHOLE, match: [{ arg: "customer", path: "customer" }], tombstone: ROW)
  keyed(id: ID!): Row @kafka(topic: "${name}.public.keyed", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }], tombstone: NULL)
  keyed_of(customer: String): Row
    @kafka(topic: "${name}.public.keyed", envelope: DEBEZIUM, match: [{ arg: "customer", path: "customer" }], tombstone: ROW)
  kept_of(customer: String): Row
    @kafka(
      topic: "${name}_typed.public.keyed"
      envelope: DEBEZIUM
      match: [{ arg: "customer", path: "customer" }]
      tombstone: ROW
      state: {}
    )
  flat(id: ID!): Row @kafka(topic: "${name}_flat.public.rows", envelope: DEBEZIUM_FLAT, match: [{ arg: "id", path: "id" }], tombstone: NULL)
  flat_of(customer: String): Row
    @kafka(topic: "${name}_flat.public.rows", envelope: DEBEZIUM_FLAT, match: [{ arg: "customer", path: "customer" }], tombstone: ROW)
  news: Row @kafka(topic: "${name}.public.rows", envelope: DEBEZIUM, snapshots: STATE, state: {})
  text(id: ID!): Text @kafka(topic: "${name}.public.texts", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }])
  text_kept(id: ID!): Text @kafka(topic: "${name}_typed.public.texts", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }], state: {})
  text_full(id: ID!): Text @kafka(topic: "${name}_typed.public.texts_full", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }])
  types: Types @kafka(topic: "${name}_typed.public.types", envelope: DEBEZIUM)
  texts_of_types: Types @kafka(topic: "${name}.public.types", envelope: DEBEZIUM)
  order_event(order_id: ID!): OrderEvent @kafka(topic: "${name}_outbox.order", envelope: OUTBOX, keys: SNAKE, match: [{ arg: "order_id", path: "order_id" }])
}
type Row { id: ID! customer: String status: String name: String amount: String updated: String note: String op: String @change(field: OP) }
type Text { id: ID! title: String bio: String tags: [String] doc: String bytes: String }
type Types {
  id: ID! small: Int big: String float8: Float flag: Boolean amount: String free: String price: String
  at: String at3: String atz: String day: String clock: String clock3: String clockz: String span: String
  bits: String bit1: Boolean place: Place uid: String feeling: String doc: String docb: String bytes: String
  tags: [String] numbers: [Int] amounts: [String] days: [String] attributes: String code: String address: String
}
type Place { x: Float y: Float }
type OrderEvent { order_id: ID! status: String }
`;

const ROW = '{ id customer status name amount updated op }';
const TYPES = `{
  id small big float8 flag amount free price at at3 atz day clock clock3 clockz span bits bit1 place { x y } uid feeling doc docb bytes tags
  numbers amounts days attributes code address
}`;
const QUERIES = {
  seven: `row(id: 7) ${ROW}`,
  eight: `row(id: 8) ${ROW}`,
  bigAbove: `row(id: "9007199254740993") { id }`,
  bigBelow: `row(id: "9007199254740992") { id }`,
  noted: `row(id: 1) { name note op }`,
  c1: `rows(customer: "c1") ${ROW}`,
  c2: `rows(customer: "c2") ${ROW}`,
  rows: `rows { id name op }`,
  keyedSeven: `keyed(id: 7) { name op }`,
  keyedC1: `keyed_of(customer: "c1") { id name op }`,
  keptC1: `kept_of(customer: "c1") { id name op }`,
  keyedRows: `keyed_of { id name op }`,
  flatSeven: `flat(id: 7) { name customer op }`,
  flatC1: `flat_of(customer: "c1") { id name op }`,
  news: `news { id op }`,
  text: `text(id: 1) { title bio tags doc bytes }`,
  textKept: `text_kept(id: 1) { title bio tags doc bytes }`,
  textFull: `text_full(id: 1) { title bio tags doc bytes }`,
  types: `types ${TYPES}`,
  textsOfTypes: `texts_of_types ${TYPES}`,
  order: `order_event(order_id: 7) { order_id status }`,
};

describe('from SQL to a stock client', { timeout: 5 * 60_000 }, () => {
  const ends: (() => unknown)[] = [];
  const scope = { after: (end: () => unknown) => void ends.unshift(end) };
  const clients = {} as Record<keyof typeof QUERIES, Watch>;

  before(async () => {
    const brokers = await kafkaBrokers(scope);
    const name = randomName('db').replace('-', '_');
    const [redis, capture] = await Promise.all([startRedisServer(), Capture.start(scope, brokers)]);
    scope.after(() => redis.stop());
    const topics = [
      ...['rows', 'keyed', 'texts', 'types'].map((table) => `${name}.public.${table}`),
      ...['keyed', 'texts', 'texts_full', 'types'].map((table) => `${name}_typed.public.${table}`),
      ...[`${name}_flat.public.rows`, `${name}_outbox.order`],
    ];
    await createTopics(
      brokers,
      topics.map((topic) => ({ topic, numPartitions: 1 })),
    );
    const pod = await startPod(scope, {
      GRAPH: await graphFolder(scope, { 'schema.graphql': schemaOf(name) }),
      KAFKA_BROKERS: brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: name,
    });
    for (const [client, query] of Object.entries(QUERIES)) {
      clients[client as keyof typeof QUERIES] = watch(scope, pod.url, `subscription { event: ${query} }`);
    }
    await pod.counts('crier_subscriptions', Object.keys(QUERIES).length);

    await capture.sql.query(TABLES);
    await capture.write(name, {
      'table.include.list': 'public.rows,public.keyed,public.texts,public.types',
      'skipped.operations': 'none',
      'decimal.handling.mode': 'string',
      'time.precision.mode': 'isostring',
      'interval.handling.mode': 'string',
      ...json(false),
    });
    await capture.write(`${name}_typed`, {
      'table.include.list': 'public.keyed,public.types,public.texts,public.texts_full',
      ...json(true),
    });
    await capture.write(`${name}_flat`, { 'table.include.list': 'public.rows', ...FLATTENED, ...json(false) });
    await capture.write(`${name}_outbox`, {
      'table.include.list': 'public.events',
      ...EVENT_ROUTER,
      'transforms.outbox.route.topic.replacement': `${name}_outbox.\${routedByValue}`,
      'transforms.outbox.table.expand.json.payload': 'false',
      ...json(false),
    });
    // What was in the tables before comes as a snapshot.
    await waitFor('the snapshot', () => clients.noted.events.length > 0, PATIENCE_MS);
    for (const change of Object.values(CHANGES)) await capture.sql.query(change);
    await capture.sql.query(LAST.join(' '));
    for (const last of [clients.rows, clients.keyedRows]) {
      const isLast = () => (eventsOf(last).at(-1) as { name?: string } | null | undefined)?.name === 'last';
      await waitFor('the last row', isLast, PATIENCE_MS);
    }
  });

  after(async () => {
    for (const end of ends) await end();
  });

  /** Resolves with the events of a client when it has that many. It has no more: those of the last rows came after them. */
  async function received(client: keyof typeof QUERIES, count: number): Promise<unknown[]> {
    await clients[client].event(count, PATIENCE_MS).catch(() => undefined);
    assert.deepEqual(clients[client].failures, []);
    return eventsOf(clients[client]);
  }

  const row = (id: string, customer: string, name: string, op: string) => ({
    ...{ id, customer, status: 'NEW', name, amount: '12.50', updated: '2026-01-02T03:04:05.678901Z', op },
  });

  it('a row is inserted, updated and deleted by its key: null, once', async () => {
    assert.deepEqual(await received('seven', 4), [
      row('7', 'c1', 'a', 'CREATE'),
      row('7', 'c1', 'b', 'UPDATE'),
      row('7', 'c2', 'b', 'UPDATE'),
      null,
    ]);
  });

  it('a row whose primary key changes is deleted under the old one, and created under the new one', async () => {
    assert.deepEqual(await received('eight', 2), [row('8', 'c2', 'b', 'CREATE'), null]);
  });

  it('a row that moves to another customer leaves the one with its last row, and enters the other', async () => {
    assert.deepEqual((await received('c1', 4)).slice(1, 4), [
      row('7', 'c1', 'a', 'CREATE'),
      row('7', 'c1', 'b', 'UPDATE'),
      row('7', 'c1', 'b', 'DELETE'),
    ]);
    assert.deepEqual((await received('c2', 5)).slice(1), [
      row('7', 'c2', 'b', 'UPDATE'),
      row('7', 'c2', 'b', 'DELETE'),
      row('8', 'c2', 'b', 'CREATE'),
      row('8', 'c2', 'b', 'DELETE'),
    ]);
  });

  it('two ids beyond 2^53 are two channels', async () => {
    assert.deepEqual(await received('bigAbove', 1), [{ id: '9007199254740993' }]);
    assert.deepEqual(eventsOf(clients.bigBelow), []);
  });

  it('a snapshot is read, a column that is added later arrives, and truncate tells nobody', async () => {
    assert.deepEqual(await received('noted', 2), [
      { name: 'in the snapshot', note: null, op: 'READ' },
      { name: 'in the snapshot', note: 'noted', op: 'UPDATE' },
    ]);
    assert.deepEqual(eventsOf(clients.rows).slice(-2), [
      { id: '1', name: 'in the snapshot', op: 'UPDATE' },
      { id: '99', name: 'last', op: 'CREATE' },
    ]);
  });

  it('without REPLICA IDENTITY FULL: a delete reaches its key, but neither it nor a move the old customer, unless a state knows it', async () => {
    assert.deepEqual(await received('keyedSeven', 4), [
      { name: 'a', op: 'CREATE' },
      { name: 'b', op: 'UPDATE' },
      { name: 'b', op: 'UPDATE' },
      null,
    ]);
    assert.deepEqual(eventsOf(clients.keyedC1), [
      { id: '1', name: 'in the snapshot', op: 'READ' },
      { id: '7', name: 'a', op: 'CREATE' },
      { id: '7', name: 'b', op: 'UPDATE' },
    ]);
    assert.deepEqual(await received('keptC1', 4), [...eventsOf(clients.keyedC1), null]);
  });

  it('a snapshot is no news where a field asks for that', () => {
    assert.deepEqual(eventsOf(clients.news)[0], { id: '7', op: 'CREATE' });
  });

  it('flattened rows are deleted, too, but a move does not reach the old customer', async () => {
    assert.deepEqual(await received('flatSeven', 4), [
      { name: 'a', customer: 'c1', op: 'CREATE' },
      { name: 'b', customer: 'c1', op: 'UPDATE' },
      { name: 'b', customer: 'c2', op: 'UPDATE' },
      null,
    ]);
    assert.deepEqual(eventsOf(clients.flatC1).slice(0, 3), [
      { id: '1', name: 'in the snapshot', op: 'READ' },
      { id: '7', name: 'a', op: 'CREATE' },
      { id: '7', name: 'b', op: 'UPDATE' },
    ]);
    assert.deepEqual(eventsOf(clients.flatC1).slice(3), [{ id: '1', name: 'in the snapshot', op: 'UPDATE' }]);
  });

  it('long values that an update leaves unchanged are null, the last known ones with a state, and there with REPLICA IDENTITY FULL', async () => {
    const long = { bio: 'b'.repeat(700), tags: ['t'.repeat(400), 'u'], doc: JSON.stringify({ k: 'j'.repeat(500) }) };
    const first = { title: 'first', ...long, doc: long.doc.replace(':', ': '), bytes: 'q6ur'.repeat(166) + 'q6s=' };
    assert.deepEqual(await received('text', 2), [
      first,
      { title: 'second', bio: null, tags: null, doc: null, bytes: null },
    ]);
    assert.deepEqual(await received('textKept', 2), [first, { ...first, title: 'second' }]);
    assert.deepEqual(await received('textFull', 2), [first, { ...first, title: 'second' }]);
  });

  it('an event of the outbox is the JSON text of its payload', async () => {
    assert.deepEqual(await received('order', 1), [{ order_id: '7', status: 'NEW' }]);
  });

  const EXACT = {
    ...{ id: '1', small: -32768, big: '9223372036854775807', float8: 0.1, flag: true, price: '1234.56', bit1: true },
    ...{ amount: '1234.5678', free: '12345678901234567890.123456789', amounts: ['1.10', '-2.25'] },
    ...{ at: '2026-01-02T03:04:05.678901Z', at3: '2026-01-02T03:04:05.678Z', atz: '2026-01-02T01:04:05.678901Z' },
    ...{ clockz: '01:04:05.678901Z', place: { x: 1.5, y: -2 }, uid: '6f1e2c34-0000-4000-8000-1234567890ab' },
    ...{ feeling: 'happy', doc: '{"a": [1, 2.50]}', docb: '{"a": [1, 2.50]}', bytes: 'AP8Q', code: 'ab  ' },
    ...{
      tags: ['x', null, 'y,z'],
      numbers: [1, null, 3],
      attributes: '{"size":null,"color":"red"}',
      address: '10.0.0.1/8',
    },
  };
  const NEGATIVE = {
    ...{ id: '3', amount: '-0.0001', free: '-100000000000000000000', price: '-0.01', numbers: [], doc: 'null' },
    ...{ at: '1969-12-31T23:59:59.999999Z', atz: '0099-01-01T00:00:00.000000Z' },
  };

  it('types are exact texts with schemas, whatever the modes of the connector are', async () => {
    const [first, empty, negative] = await received('types', 3);
    assert.deepEqual(first, {
      ...EXACT,
      ...{ day: '2026-01-02', clock: '03:04:05.678901', clock3: '03:04:05.678', days: ['2026-01-02'] },
      ...{ span: 'PT37091106.789S', bits: '10110' },
    });
    assert.deepEqual(withoutNulls(empty), { id: '2' });
    assert.deepEqual(withoutNulls(negative), { ...NEGATIVE, day: '1969-12-31', span: '-PT93600S', bits: '00001' });
  });

  it('types are exact texts without schemas by three settings of the connector', async () => {
    const [first, empty, negative] = await received('textsOfTypes', 3);
    assert.deepEqual(first, {
      ...EXACT,
      ...{ day: '2026-01-02Z', clock: '03:04:05.678901Z', clock3: '03:04:05.678Z', days: ['2026-01-02Z'] },
      ...{ span: 'P1Y2M3DT4H5M6.789S', bits: 'Fg==' },
    });
    assert.deepEqual(withoutNulls(empty), { id: '2' });
    assert.deepEqual(withoutNulls(negative), {
      ...NEGATIVE,
      day: '1969-12-31Z',
      span: 'P0Y0M-1DT-2H0M0S',
      bits: 'AQ==',
    });
  });
});

const withoutNulls = (event: unknown) =>
  Object.fromEntries(Object.entries(event as object).filter(([, value]) => value !== null));

const eventsOf = ({ events }: Watch) => events.map(({ event }) => event);
