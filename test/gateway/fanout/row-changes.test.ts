import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Bus } from '../../../src/bus/bus.ts';
import { printChange } from '../../../src/bus/change-text.ts';
import type { Change } from '../../../src/bus/change-text.ts';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { logLines } from '../../bus/log-lines.ts';
import { PartitionPublisher } from '../../support/partition-publisher.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { EXECUTION_PATHS } from './execution-paths.ts';
import { COMPLETE, createStage, factsOf } from './stage.ts';
import type { StageOptions } from './stage.ts';

const ROWS = 'topic: "t", envelope: DEBEZIUM, history: {}';
const BY_ID = `${ROWS}, match: [{ arg: "id", path: "id" }]`;
const FILTERED = `${ROWS}, where: [{ arg: "min", path: "n", op: GTE }]`;
const SDL = `
  type Subscription {
    nulled(id: ID!): Row @kafka(${BY_ID}, tombstone: NULL)
    completed(id: ID!): Row @kafka(${BY_ID}, tombstone: COMPLETE)
    skipped(id: ID!): Row! @kafka(${BY_ID}, tombstone: SKIP)
    as_it_was(id: ID!): Row @kafka(${BY_ID}, tombstone: ROW)
    strict(id: ID!): Row! @kafka(${BY_ID}, tombstone: ROW)
    resolved(id: ID!): Row @kafka(${BY_ID}, tombstone: ROW)
    news(id: ID!): Row @kafka(${BY_ID}, state: {}, snapshots: STATE, tombstone: NULL)
    all(min: Int): Row @kafka(${FILTERED}, tombstone: ROW)
    all_nulled(min: Int): Row @kafka(${FILTERED}, tombstone: NULL)
    all_completed(min: Int): Row @kafka(${FILTERED}, tombstone: COMPLETE)
    all_skipped(min: Int): Row @kafka(${FILTERED}, tombstone: SKIP)
  }
  type Query { news(id: ID!): Row @state(of: "news") backend: Row }
  type Row {
    id: ID n: Int op: Op @change(field: OP) before: Before @change(field: BEFORE) at: String @change(field: SOURCE_TIMESTAMP)
    ms: Float @change(field: SOURCE_TIMESTAMP) tx: ID @change(field: TRANSACTION) read: Boolean @change(field: SNAPSHOT)
  }
  type Before { id: ID n: Int }
  enum Op { CREATE UPDATE DELETE READ }`;
const KEPT = { ...HISTORY_DEFAULTS, stateSeconds: 0 };

interface Row {
  readonly id: string;
  readonly n: number;
}

/** undefined: a record without a change. */
type Changed = Omit<Change, 'before'> & { readonly before?: Row };

const row = (n: number): Row => ({ id: '1', n });
const payloadOf = (now: Row | null, change?: Changed) => {
  if (!change) return JSON.stringify(now);
  const { before, ...facts } = change;
  return JSON.stringify(now) + printChange(facts, before && JSON.stringify(before));
};
const created = (now: Row) => payloadOf(now, { op: 'CREATE' });
const updated = (now: Row, before?: Row) => payloadOf(now, { op: 'UPDATE', ...(before && { before }) });
const deleted = (before?: Row) => payloadOf(null, { op: 'DELETE', ...(before && { before }) });
const read = (now: Row) => payloadOf(now, { op: 'READ', isSnapshot: true });

async function start(t: TestContext, options: Partial<StageOptions> = {}) {
  const resolvers = {
    Subscription: { resolved: ({ id, n }: Row) => ({ id, n: n * 10 }) },
    Query: { backend: () => row(1) },
  };
  const stage = await createStage(t, { sdl: SDL, resolvers, cursors: new Cursors('secret'), ...options });
  const prefix = options.bus?.prefix ?? '';
  const publisher = new PartitionPublisher(stage.bus, 't', 0);
  const publish = (...payloads: string[]) =>
    publisher.publish(
      payloads.flatMap((payload) =>
        [`${prefix}t{}`, `${prefix}t{id="1"}`].map((channel) => ({ channel, payload, history: KEPT })),
      ),
    );
  const join = async (
    field: string,
    args: string,
    selection = 'id n op',
    from?: { cursor?: string; replaysLast?: boolean; hasState?: boolean },
  ) => {
    const begin = from && { cursor: undefined, replaysLast: false, ...from };
    const listener = await stage.join(
      `subscription { ${field}(${args}) { ${selection} } }`,
      factsOf(field, {}),
      undefined,
      begin,
    );
    const data = () => listener.received.map((text) => text === COMPLETE ? text : (JSON.parse(text) as { data: Record<string, unknown> }).data[field]); // prettier-ignore
    const cursor = (index: number) =>
      (JSON.parse(listener.received[index]!) as { extensions: { cursor: string } }).extensions.cursor;
    return { ...listener, data, cursor };
  };
  const until = (...listeners: [{ readonly received: readonly string[] }, number][]) =>
    waitFor('all events', () => listeners.every(([{ received }, events]) => received.length >= events));
  return { stage, publish, join, until };
}

const NOW = (n: number, op: string | null) => ({ id: '1', n, op });

for (const [title, options] of EXECUTION_PATHS) {
  describe(`the change of a row, ${title}`, () => {
    it('is an event with the row, and a delete is what each field says', async (t) => {
      const { publish, join, until } = await start(t, options);
      const fields = ['nulled', 'completed', 'skipped', 'as_it_was', 'strict', 'resolved'];
      const [nulled, completed, skipped, asItWas, strict, resolved] = await Promise.all(
        fields.map((field) => join(field, 'id: 1')),
      );
      await publish(created(row(1)), updated(row(2), row(1)), deleted(row(2)), created(row(3)));
      const live = [nulled!, asItWas!, strict!, resolved!];
      await until([skipped!, 3], [completed!, 3], ...live.map((one) => [one, 4] as [typeof one, number]));
      const [first, second, last] = [NOW(1, 'CREATE'), NOW(2, 'UPDATE'), NOW(3, 'CREATE')];
      assert.deepEqual(nulled!.data(), [first, second, null, last]);
      assert.deepEqual(completed!.data(), [first, second, COMPLETE]);
      assert.deepEqual(skipped!.data(), [first, second, last]);
      for (const one of [asItWas!, strict!]) assert.deepEqual(one.data(), [first, second, NOW(2, 'DELETE'), last]);
      assert.deepEqual(resolved!.data(), [NOW(10, 'CREATE'), NOW(20, 'UPDATE'), NOW(20, 'DELETE'), NOW(30, 'CREATE')]);
    });

    it('fills fields with @change, which are null where nothing is known', async (t) => {
      const { publish, join, until } = await start(t, options);
      const listener = await join('as_it_was', 'id: 1', 'op before { id n } at ms tx read');
      const facts = { sourceTimestamp: 1_763_720_000_123, transaction: '77' };
      await publish(payloadOf(row(2), { op: 'UPDATE', before: row(1), ...facts }), read(row(2)), payloadOf(row(3)), payloadOf(null, { op: 'DELETE', before: row(3), ...facts })); // prettier-ignore
      await until([listener, 4]);
      const told = { at: '2025-11-21T10:13:20.123Z', ms: 1_763_720_000_123, tx: '77', read: false };
      assert.deepEqual(listener.data(), [
        { op: 'UPDATE', before: row(1), ...told },
        { op: 'READ', before: null, at: null, ms: null, tx: null, read: true },
        { op: null, before: null, at: null, ms: null, tx: null, read: null },
        { op: 'DELETE', before: row(3), ...told },
      ]);
    });
  });
}

describe('the change of a row that several receive', () => {
  it('is executed once for all who share it, and repeated by the audit with the same result', async (t) => {
    const { publish, join, until, stage } = await start(t, { hasSharing: true, audit: 1 });
    const listeners = await Promise.all(['a', 'b', 'c'].map(() => join('as_it_was', 'id: 1', 'id n op before { n }')));
    for (const payload of [updated(row(2), row(1)), deleted(row(2))]) {
      const { executions } = stage;
      const received = listeners[0]!.received.length + 1;
      await publish(payload);
      await until(...listeners.map((one) => [one, received] as [typeof one, number]));
      assert.equal(stage.executions, executions + 1);
      await waitFor('the audit', () => stage.outcomes.length === 2 * received);
    }
    assert.deepEqual([...new Set(stage.outcomes)], ['same']);
    const [first] = listeners;
    assert.deepEqual(first!.data(), [
      { ...NOW(2, 'UPDATE'), before: { n: 1 } },
      { ...NOW(2, 'DELETE'), before: { n: 2 } },
    ]);
    for (const one of listeners) assert.deepEqual(one.data(), first!.data());
  });
});

describe('the delete of a row that nothing is known of', () => {
  for (const [what, payload] of [
    ['a delete without the row before', deleted()],
    ['a tombstone', 'null'],
  ] as const) {
    it(`is null for ROW, or skipped where the field cannot be, for ${what}`, async (t) => {
      const { log, lines } = logLines();
      const { publish, join, until } = await start(t, { log });
      const [asItWas, strict, resolved] = await Promise.all(
        ['as_it_was', 'strict', 'resolved'].map((field) => join(field, 'id: 1')),
      );
      const filtered = await join('all_nulled', 'min: 5');
      await publish(payload, payload, created(row(3)));
      await until([asItWas!, 3], [strict!, 1], [resolved!, 3], [filtered, 2]);
      assert.deepEqual(asItWas!.data(), [null, null, NOW(3, 'CREATE')]);
      assert.deepEqual(resolved!.data(), [null, null, NOW(30, 'CREATE')]);
      assert.deepEqual(strict!.data(), [NOW(3, 'CREATE')]);
      assert.deepEqual(filtered.data(), [null, null]);
      const warnings = lines.filter(({ msg }) => String(msg).includes('tombstone: ROW'));
      assert.equal(warnings.length, 1, 'once in a window');
      assert.match(String(warnings[0]!.msg), /REPLICA IDENTITY FULL/);
    });
  }
});

describe('a filter', () => {
  it('receives the delete of a row that it accepted, and of one that it does not accept any more', async (t) => {
    const { publish, join, until, stage } = await start(t);
    const everything = await join('all', 'min: null');
    const high = await join('all', 'min: 5');
    const nulled = await join('all_nulled', 'min: 5');
    const skipped = await join('all_skipped', 'min: 5');
    const completed = await join('all_completed', 'min: 5');
    await publish(
      created(row(1)),
      updated(row(2), row(1)),
      updated(row(7), row(2)),
      updated(row(8), row(7)),
      updated(row(3), row(8)),
      deleted(row(3)),
      created(row(9)),
      deleted(row(9)),
    );
    await until([everything, 8], [high, 5], [nulled, 5], [skipped, 3], [completed, 3]);
    const passing = [NOW(7, 'UPDATE'), NOW(8, 'UPDATE')];
    assert.deepEqual(high.data(), [...passing, NOW(8, 'DELETE'), NOW(9, 'CREATE'), NOW(9, 'DELETE')]);
    assert.deepEqual(nulled.data(), [...passing, null, NOW(9, 'CREATE'), null]);
    assert.deepEqual(skipped.data(), [...passing, NOW(9, 'CREATE')]);
    assert.deepEqual(completed.data(), [...passing, COMPLETE]);
    assert.equal(everything.data().length, 8);
    assert.equal(stage.gapOperations, 0);
  });

  it('receives in a replay what it would have received live', async (t) => {
    const { publish, join, until } = await start(t);
    const fields = ['all', 'all_nulled', 'all_completed', 'all_skipped'];
    const live = await Promise.all(fields.map((field) => join(field, 'min: 5')));
    await publish(
      created(row(6)),
      updated(row(7), row(6)),
      updated(row(1), row(7)),
      deleted(row(1)),
      created(row(9)),
      deleted(row(9)),
    );
    await until([live[0]!, 5], [live[1]!, 5], [live[2]!, 3], [live[3]!, 3]);
    for (const [index, field] of fields.entries()) {
      const one = live[index]!;
      const back = await join(field, 'min: 5', 'id n op', { cursor: one.cursor(0) });
      await until([back, one.received.length - 1]);
      assert.deepEqual(back.data(), one.data().slice(1));
    }
  });

  it('has no row that could be gone when it begins', async (t) => {
    const { publish, join, until } = await start(t);
    await publish(created(row(6)), updated(row(1), row(6)));
    const begun = await Promise.all(
      ['all', 'all_nulled', 'all_completed'].map((field) => join(field, 'min: 5', 'id n op', { replaysLast: true })),
    );
    await publish(updated(row(8), row(1)));
    await until(...begun.map((one) => [one, 1] as [typeof one, number]));
    for (const one of begun) assert.deepEqual(one.data(), [NOW(8, 'UPDATE')]);
  });
});

describe('a row that was read from a table', () => {
  const STATE = { replaysLast: true, hasState: true };

  it('is the state of a field with snapshots: STATE, and no event of it, live or replayed', async (t) => {
    const { publish, join, until } = await start(t);
    const [news, all] = [await join('news', 'id: 1'), await join('nulled', 'id: 1')];
    await publish(created(row(1)), read(row(1)), updated(row(2), row(1)), read(row(2)));
    await until([news, 2], [all, 4]);
    assert.deepEqual(news.data(), [NOW(1, 'CREATE'), NOW(2, 'UPDATE')]);
    assert.deepEqual(all.data(), [NOW(1, 'CREATE'), NOW(1, 'READ'), NOW(2, 'UPDATE'), NOW(2, 'READ')]);
    const back = await join('news', 'id: 1', 'id n op', { cursor: news.cursor(0) });
    const begun = await join('news', 'id: 1', 'id n op', STATE);
    const other = await join('nulled', 'id: 1', 'id n op', { cursor: all.cursor(0) });
    await until([back, 1], [begun, 1], [other, 3]);
    assert.deepEqual([back.data(), begun.data()], [[NOW(2, 'UPDATE')], [NOW(2, 'READ')]]);
    await publish(updated(row(3), row(2)));
    await until([back, 2], [begun, 2]);
    assert.deepEqual([back.data().at(-1), begun.data().at(-1)], [NOW(3, 'UPDATE'), NOW(3, 'UPDATE')]);
  });

  it('is what a query of the state reads, with its change', async (t) => {
    const { publish, stage } = await start(t);
    const ask = async (query: string) => {
      const operation = stage.runtime.prepare({ query }, undefined);
      assert.ok(!('errors' in operation));
      return JSON.parse(
        JSON.stringify((await stage.runtime.execute(operation, undefined, factsOf('a', {}))).data),
      ) as unknown;
    };
    const query = '{ news(id: 1) { id n op before { n } read } }';
    await publish(read(row(1)));
    assert.deepEqual(await ask(query), { news: { ...NOW(1, 'READ'), before: null, read: true } });
    await publish(updated(row(2), row(1)));
    assert.deepEqual(await ask(query), { news: { ...NOW(2, 'UPDATE'), before: { n: 1 }, read: false } });
    await publish(payloadOf(row(3)));
    assert.deepEqual(await ask(query), { news: { ...NOW(3, null), before: null, read: null } });
    await publish(deleted(row(3)));
    assert.deepEqual(await ask(query), { news: null });
    assert.deepEqual(await ask('{ backend { id op read } }'), { backend: { id: '1', op: null, read: null } });
  });
});

describe('the change of a row whose topic has no envelope in the graph of the gateway', () => {
  const PLAIN = 'topic: "t", history: {}, match: [{ arg: "id", path: "id" }]';
  const sdl = `
    type Subscription {
      plain(id: ID!): Row! @kafka(${PLAIN})
      high(id: ID!, min: Int): Row @kafka(${PLAIN}, where: [{ arg: "min", path: "n", op: GTE }])
      nulled(id: ID!): Row @kafka(${PLAIN}, tombstone: NULL)
      completed(id: ID!): Row! @kafka(${PLAIN}, tombstone: COMPLETE)
    }
    type Row { id: ID n: Int op: String }`;

  for (const [title, options] of EXECUTION_PATHS) {
    it(`is the row, and a delete is what a tombstone is for the field, live and replayed, ${title}`, async (t) => {
      const { publish, join, until, stage } = await start(t, { sdl, resolvers: {}, ...options });
      const fields = ['plain', 'nulled', 'completed', 'high'];
      const argsOf = (field: string) => (field === 'high' ? 'id: 1, min: 2' : 'id: 1');
      const live = await Promise.all(fields.map((field) => join(field, argsOf(field))));
      await publish(created(row(1)), updated(row(2), row(1)), deleted(row(2)), payloadOf(row(3)));
      const expected = [
        [NOW(1, null), NOW(2, null), NOW(3, null)],
        [NOW(1, null), NOW(2, null), null, NOW(3, null)],
        [NOW(1, null), NOW(2, null), COMPLETE],
        [NOW(2, null), NOW(3, null)],
      ];
      await until(...live.map((one, index) => [one, expected[index]!.length] as [typeof one, number]));
      for (const [index, field] of fields.entries()) {
        assert.deepEqual(live[index]!.data(), expected[index]);
        const back = await join(field, argsOf(field), 'id n op', { cursor: live[index]!.cursor(0) });
        await until([back, expected[index]!.length - 1]);
        assert.deepEqual(back.data(), expected[index]!.slice(1));
      }
      assert.deepEqual([stage.unrecognised, stage.gapOperations], [0, 0]);
    });
  }
});

describe('the change of a row over Redis', () => {
  it('reaches live subscriptions, those that resume, and those that begin', async (t) => {
    const { url } = await redisServer(t);
    const prefix = `${randomName()}:`;
    const bus: Bus = new RedisBus({ url, prefix, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const { publish, join, until } = await start(t, { bus: { of: bus, prefix } });
    const [all, high] = [await join('all', 'min: null'), await join('all', 'min: 5')];
    await publish(read(row(6)), updated(row(1), row(6)), updated(row(9007199254740991), row(1)), deleted(row(7)));
    await until([all, 4], [high, 4]);
    assert.deepEqual(high.data(), [
      NOW(6, 'READ'),
      NOW(6, 'DELETE'),
      { id: '1', n: null, op: 'UPDATE' },
      NOW(7, 'DELETE'),
    ]);
    const back = await join('all', 'min: 5', 'id n op', { cursor: high.cursor(0) });
    const begun = await join('all', 'min: 5', 'id n op', { replaysLast: true });
    await until([back, 3], [begun, 1]);
    assert.deepEqual([back.data(), begun.data()], [high.data().slice(1), [NOW(7, 'DELETE')]]);
    await publish(created(row(5)));
    await until([back, 4], [begun, 2], [all, 5]);
  });
});
