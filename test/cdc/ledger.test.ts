import assert from 'node:assert/strict';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { startRedisServer } from '../../stack/redis-server.ts';
import { createTopics } from '../../stack/topics.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { podSettings } from '../end-to-end/pod-settings.ts';
import { isFull } from '../faults/form.ts';
import { randomName, redisServer } from '../support/services.ts';
import { withKafka } from '../support/with-kafka.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { Capture } from './capture.ts';
import { CUSTOMERS, RandomChanges, STATUSES } from './random-changes.ts';
import { RowCopy } from './row-copy.ts';
import type { Followed, Row } from './row-copy.ts';

const CHANGES = isFull ? 10_000 : 500;
const ROWS = 200;
const BATCH = 50;
/** A restart in every so many batches; each kind in its turn. */
const RESTART_EVERY = isFull ? 12 : 2;
const PATIENCE_MS = 120_000;

/** The id of the row that is written behind the others of a batch; no subscriber but those of all rows follows it. */
const MARKER_ID = '1000000';

const TABLE = `
create table rows (id bigint primary key, customer text, status text, name text, amount numeric(10,2), updated timestamptz);
alter table rows replica identity full;
`;

const SELECT = `select id, customer, status, name, amount, to_char(updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
from rows where id <> ${MARKER_ID}`;

const CONNECTOR = {
  'table.include.list': 'public.rows',
  'decimal.handling.mode': 'string',
  'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'key.converter.schemas.enable': 'false',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
};

const schemaOf = (topic: string) => `type Subscription {
  row(id: ID!): Row
    @kafka(topic: "${topic}", envelope: DEBEZIUM, before: WHOLE, match: [{ arg: "id", path: "id" }], tombstone: NULL, history: {})
  rows(customer: String, status: String): Row
    @kafka(
      topic: "${topic}"
      envelope: DEBEZIUM
      before: WHOLE
      match: [{ arg: "customer", path: "customer" }]
      where: [{ arg: "status", path: "status", op: EQ }]
      tombstone: ROW
      history: {}
    )
}
type Row { id: ID! customer: String status: String name: String amount: String updated: String op: String @change(field: OP) }
`;

/** By row, by filter, and all. */
const FOLLOWED: readonly Followed[] = [
  ...Array.from({ length: 60 }, (_, i) => ({ id: `${1 + i * 3}` })),
  ...CUSTOMERS.flatMap((customer) => [{ customer }, ...STATUSES.map((status) => ({ customer, status }))]),
  ...[...STATUSES, ...STATUSES, ...STATUSES].map((status) => ({ status })),
  ...Array.from({ length: 11 }, () => ({})),
];

describe('PostgreSQL, Debezium, Kafka and crier', { timeout: 20 * 60_000 }, () => {
  let brokers: string;
  withKafka((started) => (brokers = started));

  async function startStage(t: TestContext) {
    const capture = await Capture.start(t, brokers);
    await capture.sql.query(TABLE);
    const name = randomName('db').replace('-', '_');
    const topic = `${name}.public.rows`;
    await createTopics(brokers, [{ topic, numPartitions: 1 }]);
    const flags = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', await temporaryFolder(t)];
    let redis = await redisServer(t, { flags });
    const settings = {
      ...(await podSettings(t, brokers, schemaOf(topic))),
      REDIS_URL: redis.url,
      KAFKA_SESSION_TIMEOUT_MS: '6000',
    };
    const gateway = spawnPod(t, { ...settings, ROLE: 'gateway' });
    let worker = spawnPod(t, { ...settings, ROLE: 'worker' });
    await Promise.all([gateway.started(), worker.started()]);
    await capture.write(name, CONNECTOR);
    const restarts = {
      Debezium: async () => {
        await capture.kill();
        await capture.start();
      },
      worker: async () => {
        worker.process.kill('SIGKILL');
        await worker.ended;
        worker = spawnPod(t, { ...settings, ROLE: 'worker' });
        await worker.started();
      },
      Redis: async () => {
        const gone = once(redis.process, 'exit');
        redis.process.kill('SIGKILL');
        await gone;
        const again = await startRedisServer({ port: redis.port, flags });
        t.after(() => again.stop());
        redis = again;
      },
    };
    return { sql: capture.sql, url: gateway.url, gateway, restarts };
  }

  it(`keep each subscriber's copy equal to its rows of the table: ${CHANGES} changes, ${FOLLOWED.length} subscribers, restarts in between`, async (t) => {
    const { sql, url, gateway, restarts } = await startStage(t);
    const copies = FOLLOWED.map((followed) => new RowCopy(t, url, followed));
    await gateway.counts('crier_subscriptions', copies.length);
    const seed = randomInt(2 ** 31);
    t.diagnostic(`seed ${seed}`);
    const changes = new RandomChanges(seed, ROWS);
    const followers = copies.filter(({ followed }) => Object.keys(followed).length === 0);
    let marker = 0;

    /** Resolves when the copies have everything that was written before. */
    const quiet = async () => {
      const name = `marker ${++marker}`;
      await sql.query(
        `insert into rows (id, name) values (${MARKER_ID}, '${name}') on conflict (id) do update set name = excluded.name`,
      );
      const isThere = () => followers.every((copy) => copy.rows().get(MARKER_ID)?.name === name);
      await waitFor(`${name} at the subscribers of all rows`, isThere, PATIENCE_MS);
      const table = (await sql.query(SELECT)).map(rowOf);
      const differences = () =>
        copies.map((copy) => copy.difference([...table, ...markers(name)])).filter((text) => text !== '');
      await waitFor('copies that equal the table', () => differences().length === 0).catch(() => undefined);
      assert.deepEqual(differences().slice(0, 5), []);
      return table.length;
    };

    const markers = (name: string): Row[] => [
      { id: MARKER_ID, customer: null, status: null, name, amount: null, updated: null },
    ];

    await sql.query(changes.fill().join('\n'));
    assert.equal(await quiet(), ROWS);
    const kinds = Object.entries(restarts);
    for (let batch = 1; batch <= CHANGES / BATCH; batch++) {
      const [kind, restart] = kinds[(batch / RESTART_EVERY) % kinds.length] ?? [];
      const statements = Array.from({ length: BATCH }, () => changes.next());
      await sql.query(statements.splice(0, BATCH / 2).join('\n'));
      const restarted = restart?.();
      await sql.query(statements.join('\n'));
      await restarted;
      await quiet();
      if (kind) t.diagnostic(`${kind} was restarted in batch ${batch}`);
    }
    assert.deepEqual(
      copies.flatMap(({ foreign }) => foreign.slice(0, 1)),
      [],
    );
    const events = copies.reduce((sum, copy) => sum + copy.events, 0);
    t.diagnostic(`${events} events at ${copies.length} subscribers`);
  });
});

function rowOf([id, ...texts]: readonly string[]): Row {
  const [customer, status, name, amount, updated] = texts as [string, string, string, string, string];
  return { id: id!, customer, status, name, amount, updated };
}
