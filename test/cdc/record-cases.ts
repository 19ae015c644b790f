/**
 * What the recorded tables are. `rows` and `texts_full` have REPLICA IDENTITY FULL; `keyed`, `strict` and `texts` have the default: the primary key;
 * `indexed` has an index with more columns.
 */
export const TABLES = `
create extension hstore;
create type mood as enum ('sad', 'happy');
create table markers (id serial primary key, label text);
create table rows (id bigint primary key, customer text, status text, name text, amount numeric(10,2), updated timestamptz);
alter table rows replica identity full;
create table keyed (like rows including all);
create table strict (
  id int primary key, tenant int not null, customer text not null, flag boolean not null, at timestamptz not null, amount numeric(10,2) not null,
  uid uuid not null, tags text[] not null, doc jsonb not null, day date not null, status text not null default 'NEW', maybe text default 'OLD',
  made timestamptz not null default now()
);
create table strict_full (like strict including all);
alter table strict_full replica identity full;
create table indexed (id int primary key, tenant int not null, name text not null, status text not null default 'NEW');
create unique index by_tenant on indexed (tenant, id);
alter table indexed replica identity using index by_tenant;
create table pairs (tenant text, number int, name text, primary key (tenant, number));
create table texts (id int primary key, title text, bio text, tags text[], doc jsonb, bytes bytea);
alter table texts alter bio set storage external, alter tags set storage external;
alter table texts alter doc set storage external, alter bytes set storage external, set (toast_tuple_target = 128);
create table texts_full (like texts including all);
alter table texts_full set (toast_tuple_target = 128), replica identity full;
create table types (
  id int primary key, small smallint, big bigint, float4 real, float8 double precision, flag boolean,
  amount numeric(10,4), free numeric, price money,
  at timestamp, at3 timestamp(3), atz timestamptz, day date, clock time, clock3 time(3), clockz timetz, span interval,
  bits bit(5), bit1 bit(1), place point, uid uuid, feeling mood, doc json, docb jsonb, bytes bytea,
  tags text[], numbers int[], amounts numeric(6,2)[], days date[], attributes hstore, code char(4), address inet, span4 int4range
);
alter table types replica identity full;
create table events (id uuid primary key, aggregatetype text, aggregateid text, type text, payload jsonb);
insert into rows values (1, 'c1', 'NEW', 'in the snapshot', 10.50, '2026-01-02T03:04:05.678901Z');
insert into keyed select * from rows;
`;

const insertText = (table: string) => `insert into ${table} values
  (1, 'first', repeat('b', 700), array[repeat('t', 400), 'u'], jsonb_build_object('k', repeat('j', 500)), decode(repeat('ab', 500), 'hex'));`;

/** The changes in their order, by what each shows. */
export const CHANGES: Readonly<Record<string, string>> = {
  insert: `insert into rows values (7, 'c1', 'NEW', 'a', 12.50, '2026-01-02T03:04:05.678901Z');
    insert into keyed values (7, 'c1', 'NEW', 'a', 12.50, '2026-01-02T03:04:05.678901Z');`,
  'insert of a null and of a number beyond 2^53': `insert into rows values (9007199254740993, 'c2', null, null, null, null);`,
  update: `update rows set name = 'b' where id = 7; update keyed set name = 'b' where id = 7;`,
  'update of another column than the key, which is matched': `update rows set customer = 'c2' where id = 7; update keyed set customer = 'c2' where id = 7;`,
  'update of the primary key': `update rows set id = 8 where id = 7; update keyed set id = 8 where id = 7;`,
  delete: `delete from rows where id = 8; delete from keyed where id = 8;`,
  'delete of a row whose columns may not be null': ['strict', 'strict_full']
    .map(
      (table) => `insert into ${table} values
        (7, 4, 'c4', true, now(), 5, gen_random_uuid(), array['x'], '{"a": 1}', '2026-01-01', 'PAID', 'x', now());
        update ${table} set customer = 'c5' where id = 7; delete from ${table};`,
    )
    .join(''),
  'delete of a row that an index identifies': `insert into indexed values (7, 4, 'a', 'PAID');
    update indexed set name = 'b'; update indexed set tenant = 6; delete from indexed;`,
  'key of two columns': `insert into pairs values ('A', 1, 'a'); delete from pairs;`,
  'insert of long values': insertText('texts') + insertText('texts_full'),
  'update that leaves long values unchanged': `update texts set title = 'second'; update texts_full set title = 'second';`,
  types: `insert into types values
    (1, -32768, 9223372036854775807, 1.5, 0.1, true, 1234.5678, 12345678901234567890.123456789, 1234.56,
    '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05.678', '2026-01-02 03:04:05.678901+02', '2026-01-02', '03:04:05.678901', '03:04:05.678',
    '03:04:05.678901+02', '1 year 2 months 3 days 04:05:06.789', B'10110', B'1', '(1.5,-2)', '6f1e2c34-0000-4000-8000-1234567890ab', 'happy',
    '{"a": [1, 2.50]}', '{"a": [1, 2.50]}', '\\x00ff10', array['x', null, 'y,z'], array[1, null, 3], array[1.10, -2.25], array['2026-01-02'::date],
    'color=>red, size=>NULL', 'ab', '10.0.0.1/8', '[1,5)');`,
  'types, all null': `insert into types (id) values (2);`,
  'types, negative and before 1970': `insert into types (id, amount, free, price, at, atz, day, span, bits, numbers, doc) values
    (3, -0.0001, -1e20, -0.01, '1969-12-31 23:59:59.999999', '0099-01-01 00:00:00Z', '1969-12-31', '-1 day -02:00:00', B'00001', '{}', 'null');`,
  'added column': `alter table rows add column note text default 'none'; update rows set note = 'noted' where id = 1;`,
  truncate: `truncate rows;`,
  outbox: `insert into events values ('6f1e2c34-0000-4000-8000-1234567890ab', 'order', '7', 'OrderCreated', '{"orderId": 7, "status": "NEW"}');
    delete from events;`,
};
