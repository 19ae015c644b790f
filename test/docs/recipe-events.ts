/** A record as a recording has it. */
export interface RecipeRecord {
  readonly topic: string;
  readonly key: string | Buffer | null;
  readonly value: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A section of docs/recipes, and what its graph delivers. */
export interface RecipeTest {
  readonly title: string;
  /** What is shown, and by whose records. */
  readonly name: string;
  /** In test/kafka/fixtures/recipes. */
  readonly recording?: string;
  /** Where no program wrote a recording. */
  readonly records?: readonly RecipeRecord[];
  /** Written before the pod starts. */
  readonly early?: readonly RecipeRecord[];
  /** True: the events of an operation come from several topics. */
  readonly isUnordered?: true;
  readonly operations: Readonly<Record<string, string>>;
  /** That these subscribe to. */
  readonly channels: number;
  readonly events: Readonly<Record<string, readonly unknown[]>>;
  /** Metrics of the pod that reach these values, by name and labels; `TOPIC` stands for the topic. */
  readonly counts?: Readonly<Record<string, number>>;
}

const PLACED = '2026-01-02T03:04:05.678901Z';
const MOVED = '2026-01-02T01:04:05.678901Z';
const BIG = '9007199254740993';

const MYSQL_ROW = `id customer status amount is_gift placed updated due slot late vintage options flags details note op`;
const mysqlFirst = {
  ...{ id: '1', customer: 'c1', status: 'NEW', amount: '10.50', is_gift: true, placed: PLACED, updated: PLACED },
  ...{ slot: '13:14:15', vintage: 2026, options: 'wrap,card', details: '{"note": "x"}', note: null, op: 'READ' },
};
const mysqlOperations = {
  seven: 'order(id: 7) { id status customer op }',
  eight: 'order(id: 8) { id op }',
  big: `order(id: "${BIG}") { id }`,
  first: `order(id: 1) { ${MYSQL_ROW} }`,
  c1: 'orders(customer: "c1") { id status op }',
  c2: 'orders(customer: "c2") { id status op }',
  c3: 'orders(customer: "c3") { id }',
};
const mysqlEvents = {
  seven: [
    { id: '7', status: 'NEW', customer: 'c1', op: 'CREATE' },
    { id: '7', status: 'PAID', customer: 'c1', op: 'UPDATE' },
    { id: '7', status: 'PAID', customer: 'c2', op: 'UPDATE' },
    null,
  ],
  eight: [{ id: '8', op: 'CREATE' }, null],
  big: [{ id: BIG }],
  c1: [
    { id: '1', status: 'NEW', op: 'READ' },
    { id: '7', status: 'NEW', op: 'CREATE' },
    { id: '7', status: 'PAID', op: 'UPDATE' },
    { id: '7', status: 'PAID', op: 'DELETE' },
    { id: '1', status: 'NEW', op: 'UPDATE' },
  ],
  c2: [
    { id: BIG, status: null, op: 'CREATE' },
    { id: '7', status: 'PAID', op: 'UPDATE' },
    { id: '7', status: 'PAID', op: 'DELETE' },
    { id: '8', status: 'PAID', op: 'CREATE' },
    { id: '8', status: 'PAID', op: 'DELETE' },
  ],
};

/** As a BIGINT of the KAFKA format: 8 bytes, the highest first. */
function rawLong(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

const totals = (key: string | Buffer, value: string | null): RecipeRecord => ({ topic: 'customer-totals', key, value });
const price = (key: string, value: string | null): RecipeRecord => ({ topic: 'prices', key, value });
const order = (topic: string, id: number, customer: string): RecipeRecord => ({
  topic,
  key: `${id}`,
  value: JSON.stringify({ id, customer }),
});

export const RECIPES: readonly RecipeTest[] = [
  {
    title: 'PostgreSQL with Debezium',
    channels: 4,
    name: 'PostgreSQL: a row reaches those that follow it, whatever changes (records of Debezium)',
    recording: 'postgresql',
    operations: {
      seven: 'order(id: 7) { id status op }',
      big: `order(id: "${BIG}") { id amount }`,
      c1: 'orders(customer: "c1") { id op }',
      c2: 'orders(customer: "c2", status: "PAID") { id op }',
    },
    events: {
      seven: [
        { id: '7', status: 'NEW', op: 'CREATE' },
        { id: '7', status: 'PAID', op: 'UPDATE' },
        { id: '7', status: 'PAID', op: 'UPDATE' },
        null,
      ],
      big: [{ id: BIG, amount: '9999999999.99' }],
      c1: [
        { id: '1', op: 'READ' },
        { id: '7', op: 'CREATE' },
        { id: '7', op: 'UPDATE' },
        { id: '7', op: 'DELETE' },
      ],
      c2: [
        { id: '7', op: 'UPDATE' },
        { id: '7', op: 'DELETE' },
        { id: '8', op: 'CREATE' },
        { id: '8', op: 'DELETE' },
      ],
    },
  },
  {
    title: 'MySQL and MariaDB with Debezium',
    channels: 8,
    name: 'MariaDB: rows move and leave, types are texts by two settings (records of Debezium)',
    recording: 'mysql',
    operations: { ...mysqlOperations, negative: 'order(id: -1) { id }' },
    events: {
      ...mysqlEvents,
      first: [
        { ...mysqlFirst, due: '2026-02-01Z', slot: '13:14:15Z', late: null, flags: 'BQE=' },
        {
          ...mysqlFirst,
          due: '2026-02-01Z',
          slot: '13:14:15Z',
          late: null,
          flags: 'BQE=',
          note: 'noted',
          op: 'UPDATE',
        },
      ],
      negative: [{ id: '-1' }],
      c3: [{ id: '-1' }],
    },
  },
  {
    title: 'MySQL and MariaDB with Debezium',
    channels: 8,
    name: 'MariaDB: types are exact with schemas, and unsigned ids beyond 2^63 (records of Debezium)',
    recording: 'mysql_schemas',
    operations: { ...mysqlOperations, unsigned: 'order(id: "18446744073709551615") { id }' },
    events: {
      ...mysqlEvents,
      first: [
        { ...mysqlFirst, due: '2026-02-01', late: '-838:59:59', flags: '000100000101' },
        { ...mysqlFirst, due: '2026-02-01', late: '-838:59:59', flags: '000100000101', note: 'noted', op: 'UPDATE' },
      ],
      unsigned: [{ id: '18446744073709551615' }],
      c3: [{ id: '18446744073709551615' }],
    },
  },
  {
    title: 'MongoDB with Debezium',
    channels: 4,
    name: 'MongoDB: documents are plain JSON, and deletes are told by the key (records of Debezium on mongo-java-server)',
    recording: 'mongodb',
    operations: {
      first: 'order(id: "65a1b2c3d4e5f60718293a4b") { id amount placed number lines { item count } }',
      second: 'order(id: "65a1b2c3d4e5f60718293a4c") { status customer }',
      c1: 'orders(customer: "c1") { id status }',
      c2: 'orders(customer: "c2") { id status }',
    },
    events: {
      first: [
        {
          ...{ id: '65a1b2c3d4e5f60718293a4b', amount: '10.50', placed: '2026-01-02T03:04:05.678Z', number: BIG },
          lines: [{ item: 'a', count: 2 }],
        },
      ],
      second: [
        { status: 'NEW', customer: 'c1' },
        { status: 'PAID', customer: 'c1' },
        { status: 'PAID', customer: 'c2' },
        null,
      ],
      c1: [
        { id: '65a1b2c3d4e5f60718293a4b', status: 'NEW' },
        { id: '65a1b2c3d4e5f60718293a4c', status: 'NEW' },
        { id: '65a1b2c3d4e5f60718293a4c', status: 'PAID' },
        null,
      ],
      c2: [{ id: '65a1b2c3d4e5f60718293a4c', status: 'PAID' }, null],
    },
  },
  {
    title: 'Outbox with Debezium',
    channels: 1,
    name: 'Outbox: the payload is read from its text, the type from a header (records of Debezium)',
    recording: 'outbox',
    operations: { seven: 'order_events(order_id: 7) { order_id status total_cents type event_id }' },
    events: {
      seven: [
        {
          ...{ order_id: '7', status: 'NEW', total_cents: BIG, type: 'OrderPlaced' },
          event_id: '6f1e2c34-0000-4000-8000-1234567890ab',
        },
        {
          ...{ order_id: '7', status: 'PAID', total_cents: null, type: 'OrderPaid' },
          event_id: '6f1e2c34-0000-4000-8000-1234567890ac',
        },
      ],
    },
  },
  {
    title: 'Flink (upsert-kafka)',
    channels: 2,
    name: 'Flink: each update is an event, a delete null (records of Flink)',
    recording: 'flink',
    operations: {
      c1: 'customer_total(customer_id: "c1") { customer_id order_count total last_order }',
      c2: 'customer_total(customer_id: "c2") { total }',
    },
    events: {
      c1: [
        { customer_id: 'c1', order_count: 1, total: '10.5', last_order: '2026-01-02T03:04:06.678Z' },
        { customer_id: 'c1', order_count: 2, total: '10.6', last_order: '2026-01-02T03:04:07.678Z' },
        { customer_id: 'c1', order_count: 1, total: '10.5', last_order: '2026-01-02T03:04:06.678Z' },
        { customer_id: 'c1', order_count: 2, total: '10.7', last_order: '2026-01-02T03:04:07.678Z' },
      ],
      c2: [{ total: '9999999999.99' }, null],
    },
  },
  {
    title: 'ksqlDB',
    channels: 2,
    name: 'ksqlDB: the key is not in the value, and a raw BIGINT key is no text (records by its documentation)',
    records: [
      totals('c1', '{"ORDER_COUNT":1,"TOTAL":10.50,"LAST_ORDER":1767323046678}'),
      totals(rawLong(7n), '{"ORDER_COUNT":9,"TOTAL":1.00,"LAST_ORDER":1767323046678}'),
      totals(rawLong(7n), null),
      totals('c1', '{"ORDER_COUNT":2,"TOTAL":10.60,"LAST_ORDER":1767323047678}'),
      totals('c1', null),
    ],
    operations: {
      c1: 'customer_total(customer_id: "c1") { customer_id order_count total last_order }',
      seven: 'customer_total(customer_id: "7") { order_count }',
    },
    events: {
      c1: [
        { customer_id: 'c1', order_count: 1, total: '10.5', last_order: 1767323046678 },
        { customer_id: 'c1', order_count: 2, total: '10.6', last_order: 1767323047678 },
        null,
      ],
    },
    counts: { 'crier_tombstones_total{topic="TOPIC",outcome="unreadable_key"}': 1 },
  },
  {
    title: 'Compacted topics',
    channels: 2,
    name: 'Compacted topics: a client begins with the last value, and a tombstone is null',
    early: [
      price('a', '{"sku":"a","cents":1}'),
      price('a', '{"sku":"a","cents":2}'),
      price('b', '{"sku":"b","cents":3}'),
      price('b', null),
    ],
    records: [price('a', '{"sku":"a","cents":4}'), price('a', null)],
    operations: { a: 'price_changed(sku: "a") { sku cents }', b: 'price_changed(sku: "b") { sku cents }' },
    events: { a: [{ sku: 'a', cents: 2 }, { sku: 'a', cents: 4 }, null], b: [null] },
  },
  {
    title: 'Several topics to one field',
    channels: 6,
    name: 'Several topics: an argument chooses one of them, or all feed a field',
    isUnordered: true,
    records: [order('orders-eu', 1, 'c1'), order('orders-us', 2, 'c1'), order('orders-archive', 3, 'c2')],
    operations: {
      eu: 'orders(region: eu) { id topic }',
      c1: 'orders(customer: "c1") { id }',
      all: 'all_orders { id customer }',
    },
    events: {
      eu: [{ id: '1', topic: 'orders-eu' }],
      c1: [{ id: '1' }, { id: '2' }],
      all: [
        { id: '1', customer: 'c1' },
        { id: '2', customer: 'c1' },
        { id: '3', customer: 'c2' },
      ],
    },
  },
  {
    title: 'Dates, decimals and big ids',
    channels: 4,
    name: 'Dates, decimals and big ids are exact texts, and filters compare them (records of Debezium)',
    recording: 'types',
    operations: {
      one: `order(id: "1") { id amount total placed due }`,
      seven: `order(id: "7") { id amount total placed due }`,
      big: `order(id: "${BIG}") { id amount }`,
      large: 'orders(min_amount: 12.5) { id op }',
      late: `orders(placed_from: "2026-01-02T02:00:00Z") { id op }`,
    },
    events: {
      one: [{ id: '1', amount: '10.50', total: '0.1', placed: PLACED, due: '2026-02-01' }],
      seven: [
        ...Array.from({ length: 3 }, () => ({
          id: '7',
          amount: '12.50',
          total: '100000000000000000000',
          placed: MOVED,
          due: '2026-02-01',
        })),
        null,
      ],
      big: [{ id: BIG, amount: '9999999999.99' }],
      large: [
        { id: '7', op: 'CREATE' },
        { id: BIG, op: 'CREATE' },
        { id: '7', op: 'UPDATE' },
        { id: '7', op: 'UPDATE' },
        { id: '7', op: 'DELETE' },
        { id: '8', op: 'CREATE' },
        { id: '8', op: 'DELETE' },
      ],
      late: [{ id: '1', op: 'READ' }],
    },
  },
];
