/** What a database is told for a recipe of docs/recipes. */
export interface RecipeCase {
  /** Before the connector runs. */
  readonly tables: string;
  /** The changes in their order, each with how many records the connector writes for it. The first is the snapshot. */
  readonly changes: readonly (readonly [change: string, records: number])[];
}

const POSTGRESQL_ORDERS = `
create table orders (
  id bigint primary key, customer text, status text, amount numeric(12,2), placed timestamptz, due date, total numeric
);
alter table orders replica identity full;
insert into orders values (1, 'c1', 'NEW', 10.50, '2026-01-02T03:04:05.678901Z', '2026-02-01', 0.1);
`;

const POSTGRESQL_CHANGES: RecipeCase['changes'] = [
  ['', 1],
  [`insert into orders values (7, 'c1', 'NEW', 12.50, '2026-01-02T03:04:05.678901+02', '2026-02-01', 1e20)`, 1],
  [`insert into orders (id, customer, amount) values (9007199254740993, 'c2', 9999999999.99)`, 1],
  [`update orders set status = 'PAID' where id = 7`, 1],
  [`update orders set customer = 'c2' where id = 7`, 1],
  // A delete, its tombstone and an insert.
  [`update orders set id = 8 where id = 7`, 3],
  [`delete from orders where id = 8`, 2],
];

const MYSQL_ORDERS = `
create table orders (
  id bigint unsigned primary key, customer varchar(20), status enum('NEW', 'PAID'), amount decimal(12,2), is_gift boolean,
  placed datetime(6), updated timestamp(6) null, due date, slot time, vintage year, options set('wrap', 'card'), flags bit(12), details json, late time
);
insert into orders values (1, 'c1', 'NEW', 10.50, true, '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05.678901', '2026-02-01', '13:14:15', 2026,
  'wrap,card', b'000100000101', '{"note": "x"}', '-838:59:59');
`;

const MYSQL_CHANGES: RecipeCase['changes'] = [
  ['', 1],
  [`insert into orders (id, customer, status, amount) values (7, 'c1', 'NEW', 12.50)`, 1],
  [`insert into orders (id, customer) values (9007199254740993, 'c2'), (18446744073709551615, 'c3')`, 2],
  [`update orders set status = 'PAID' where id = 7`, 1],
  [`update orders set customer = 'c2' where id = 7`, 1],
  [`update orders set id = 8 where id = 7`, 3],
  [`alter table orders add column note text; update orders set note = 'noted' where id = 1`, 1],
  [`delete from orders where id = 8`, 2],
];

const id = (hex: string) => `{"$oid":"${hex}"}`;
const ORDER = '65a1b2c3d4e5f60718293a4b';
const SECOND = '65a1b2c3d4e5f60718293a4c';
const document = (fields: string) => `{"insert":"orders","documents":[{${fields}}]}`;
const update = (hex: string, change: string) =>
  `{"update":"orders","updates":[{"q":{"_id":${id(hex)}},"u":{"$set":{${change}}}}]}`;

/** By the name of the recording in test/kafka/fixtures/recipes. */
export const RECIPE_CASES = {
  postgresql: { tables: POSTGRESQL_ORDERS, changes: POSTGRESQL_CHANGES },
  types: { tables: POSTGRESQL_ORDERS, changes: POSTGRESQL_CHANGES },
  mysql: { tables: MYSQL_ORDERS, changes: MYSQL_CHANGES },
  mysql_schemas: { tables: MYSQL_ORDERS, changes: MYSQL_CHANGES },
  mongodb: {
    tables: document(
      `"_id":${id(ORDER)},"customer":"c1","status":"NEW","amount":{"$numberDecimal":"10.50"},"placed":{"$date":"2026-01-02T03:04:05.678Z"},"number":{"$numberLong":"9007199254740993"},"lines":[{"item":"a","count":2}]`,
    ),
    changes: [
      ['', 1],
      [document(`"_id":${id(SECOND)},"customer":"c1","status":"NEW"`), 1],
      [update(SECOND, '"status":"PAID"'), 1],
      [update(SECOND, '"customer":"c2"'), 1],
      [`{"delete":"orders","deletes":[{"q":{"_id":${id(SECOND)}},"limit":1}]}`, 2],
    ],
  },
  outbox: {
    tables: `create table outbox (id uuid primary key, aggregatetype text, aggregateid text, type text, payload jsonb);`,
    changes: [
      [
        `insert into outbox values
          ('6f1e2c34-0000-4000-8000-1234567890ab', 'order', '7', 'OrderPlaced', '{"orderId": 7, "status": "NEW", "totalCents": 9007199254740993}')`,
        1,
      ],
      [
        `insert into outbox values ('6f1e2c34-0000-4000-8000-1234567890ac', 'order', '7', 'OrderPaid', '{"orderId": 7, "status": "PAID"}');
        delete from outbox`,
        1,
      ],
    ],
  },
} as const satisfies Readonly<Record<string, RecipeCase>>;

export type RecipeName = keyof typeof RECIPE_CASES;
