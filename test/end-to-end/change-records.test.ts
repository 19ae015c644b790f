import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { openSocket } from '../support/socket.ts';
import type { ProtocolMessage } from '../support/socket.ts';
import { startPod } from './pod-server.ts';
import { podSettings } from './pod-settings.ts';

const GONE = '__debezium_unavailable_value';
const row = (id: number, name: string, customer = 'c1') => ({ id, customer, name });
const change = (op: string, before: unknown, after: unknown) => ({
  before,
  after,
  source: { connector: 'mysql', ts_ms: 1_700_000_000_000, snapshot: op === 'r' ? 'first' : 'false' },
  op,
});

/** What operations received, by their id: the field's value, or the message's type. */
function received(messages: readonly ProtocolMessage[]): Record<string, unknown[]> {
  const all: Record<string, unknown[]> = {};
  for (const { id, type, payload } of messages) {
    const data = (payload as { data?: Record<string, unknown> } | undefined)?.data;
    (all[id as string] ??= []).push(type === 'next' && data ? Object.values(data)[0] : type);
  }
  return all;
}

describe('change records', { timeout: 120_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  async function started(t: TestContext, schemaOf: (topic: string) => string, more: Record<string, string> = {}) {
    const topic = await outside.createTopic(undefined, 1);
    const settings = await podSettings(t, outside.brokers, schemaOf(topic));
    const pod = await startPod(t, { ...settings, KAFKA_FROM_BEGINNING: 'true', ...more });
    const socket = await openSocket(t, pod.url);
    await socket.init();
    const send = (...records: readonly (readonly [key: unknown, value: unknown, tenant?: string])[]) =>
      outside.send(
        topic,
        records.map(([key, value, tenant]) => ({
          partition: 0,
          ...(tenant !== undefined && { headers: { tenant } }),
          key: JSON.stringify(key),
          value: value === null ? null : JSON.stringify(value),
        })),
      );
    return { pod, socket, send };
  }

  it('of Debezium reach the subscribers of their rows, deletes and moves those that had them (B-1)', async (t) => {
    const { pod, socket, send } = await started(
      t,
      (topic) => `
        enum Op { CREATE UPDATE DELETE READ }
        type Row { id: ID! name: String customer: String op: Op @change(field: OP) }
        type Subscription {
          row(id: ID): Row @kafka(topic: "${topic}", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }], tombstone: NULL)
          ends(id: ID!): Row
            @kafka(topic: "${topic}", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }], tombstone: COMPLETE, state: {})
          of(customer: String!): Row
            @kafka(topic: "${topic}", envelope: DEBEZIUM, match: [{ arg: "customer", path: "customer" }], tombstone: ROW)
          named(name: String!): Row
            @kafka(topic: "${topic}", envelope: DEBEZIUM, where: [{ arg: "name", path: "name", op: EQ }], tombstone: ROW)
        }`,
    );
    const operations = {
      seven: 'row(id: 7) { id name op }',
      eight: 'row(id: 8) { id name op }',
      all: 'row { id name op }',
      ends: 'ends(id: 7) { name }',
      c1: 'of(customer: "c1") { id op }',
      c2: 'of(customer: "c2") { id op }',
      a: 'named(name: "a") { id name op }',
    };
    for (const [id, field] of Object.entries(operations)) socket.subscribe(id, `subscription { ${field} }`);
    await pod.counts('crier_channels', 6);
    const key = { id: 7 };
    await send(
      [key, change('c', null, row(7, 'a'))],
      [key, change('u', row(7, 'a'), row(7, 'b'))],
      [key, change('u', row(7, 'b'), row(7, 'b', 'c2'))],
      [key, change('d', row(7, 'b', 'c2'), null)],
      [key, null],
      [{ id: 9 }, change('r', null, row(9, 'last', 'c3'))],
    );
    const messages = await socket.take(4 + 5 + 4 + 3 + 2 + 2);
    assert.deepEqual(await socket.roundTrip(), []);
    assert.deepEqual(received(messages), {
      seven: [
        { id: '7', name: 'a', op: 'CREATE' },
        { id: '7', name: 'b', op: 'UPDATE' },
        { id: '7', name: 'b', op: 'UPDATE' },
        null,
      ],
      all: [
        { id: '7', name: 'a', op: 'CREATE' },
        { id: '7', name: 'b', op: 'UPDATE' },
        { id: '7', name: 'b', op: 'UPDATE' },
        null,
        { id: '9', name: 'last', op: 'READ' },
      ],
      ends: [{ name: 'a' }, { name: 'b' }, { name: 'b' }, 'complete'],
      c1: [
        { id: '7', op: 'CREATE' },
        { id: '7', op: 'UPDATE' },
        { id: '7', op: 'DELETE' },
      ],
      c2: [
        { id: '7', op: 'UPDATE' },
        { id: '7', op: 'DELETE' },
      ],
      a: [
        { id: '7', name: 'a', op: 'CREATE' },
        { id: '7', name: 'a', op: 'DELETE' },
      ],
    });
  });

  it('keep the last value of a column that the database did not log, where a state has it (B-4)', async (t) => {
    const { pod, socket, send } = await started(
      t,
      (topic) => `
        type Row { id: ID! name: String }
        type Subscription {
          row(id: ID!): Row @kafka(topic: "${topic}", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }], tombstone: NULL, state: {})
        }`,
    );
    for (const id of ['7', '8']) socket.subscribe(id, `subscription { row(id: ${id}) { id name } }`);
    await pod.counts('crier_channels', 2);
    await send(
      [{ id: 7 }, change('c', null, row(7, 'a'))],
      [{ id: 7 }, change('u', null, row(7, GONE))],
      [{ id: 8 }, change('u', null, row(8, GONE))],
      [{ id: 7 }, change('u', null, row(7, GONE, 'c2'))],
    );
    assert.deepEqual(received(await socket.take(4)), {
      7: [
        { id: '7', name: 'a' },
        { id: '7', name: 'a' },
        { id: '7', name: 'a' },
      ],
      8: [{ id: '8', name: null }],
    });
    await pod.counts('crier_unavailable_values_total', 1);
    const later = await openSocket(t, pod.url);
    await later.init();
    later.subscribe('7', 'subscription { row(id: 7) { name } }');
    assert.deepEqual(received(await later.take(1)), { 7: [{ name: 'a' }] });
  });

  it('leave the state of a channel with several rows until its own row is deleted, and reach the tenants of their headers', async (t) => {
    const { pod, socket, send } = await started(
      t,
      (topic) => `
        type Row { id: ID! name: String }
        type Subscription {
          last: Row @kafka(topic: "${topic}", envelope: DEBEZIUM, tombstone: NULL, state: {})
          of(tenant: ID!): Row @kafka(topic: "${topic}", envelope: DEBEZIUM, match: [{ arg: "tenant", header: "tenant" }], tombstone: NULL, state: {})
        }
        type Query { last: Row @state(of: "last") of(tenant: ID!): Row @state(of: "of") }`,
    );
    const fields = { last: 'last { id }', a: 'of(tenant: "a") { id }', b: 'of(tenant: "b") { id }' };
    for (const [id, field] of Object.entries(fields)) socket.subscribe(id, `subscription { ${field} }`);
    await pod.counts('crier_channels', 3);
    let asked = 0;
    const states = async () => {
      const id = `state ${asked++}`;
      socket.subscribe(id, `{ ${Object.entries(fields).map(([name, field]) => `${name}: ${field}`).join(' ')} }`); // prettier-ignore
      const [result] = (await socket.take(2)) as [ProtocolMessage, ProtocolMessage];
      return (result.payload as { data: Record<string, unknown> }).data;
    };
    await send([{ id: 3 }, change('c', null, row(3, 'a')), 'a'], [{ id: 7 }, change('c', null, row(7, 'a')), 'a']);
    await socket.take(4);
    await send([{ id: 3 }, change('d', row(3, 'a'), null), 'a']);
    assert.deepEqual(received(await socket.take(2)), { last: [null], a: [null] });
    assert.deepEqual(await states(), { last: { id: '7' }, a: { id: '7' }, b: null });
    await send([{ id: 7 }, change('u', row(7, 'a'), row(7, 'b')), 'b']);
    assert.deepEqual(received(await socket.take(3)), { last: [{ id: '7' }], a: [null], b: [{ id: '7' }] });
    assert.deepEqual(await states(), { last: { id: '7' }, a: null, b: { id: '7' } });
    await send([{ id: 7 }, change('d', row(7, 'b'), null), 'b'], [{ id: 7 }, null, 'b']);
    assert.deepEqual(received(await socket.take(2)), { last: [null], b: [null] });
    assert.deepEqual(await states(), { last: null, a: null, b: null });
    assert.deepEqual(await socket.roundTrip(), []);
  });

  it('of a row that PostgreSQL did not log as a whole reach no channel of what fills it, and the log says so once', async (t) => {
    const { pod, socket, send } = await started(
      t,
      (topic) => `
        type Row { id: ID! name: String customer: String }
        type Subscription {
          row(id: ID!): Row @kafka(topic: "${topic}", envelope: DEBEZIUM, match: [{ arg: "id", path: "id" }], tombstone: NULL)
          of(customer: String!): Row
            @kafka(topic: "${topic}", envelope: DEBEZIUM, match: [{ arg: "customer", path: "customer" }], tombstone: COMPLETE)
        }`,
      { UNAVAILABLE_VALUE: '__gone' },
    );
    socket.subscribe('7', 'subscription { row(id: 7) { name } }');
    socket.subscribe('of', 'subscription { of(customer: "default") { id } }');
    await pod.counts('crier_channels', 2);
    const of = (op: string, before: unknown, after: unknown) => ({
      ...{ before, after, op },
      source: { connector: 'postgresql', ts_ms: 1 },
    });
    await send(
      [{ id: 7 }, of('c', null, row(7, 'a'))],
      [{ id: 7 }, of('u', null, row(7, '__gone'))],
      [{ id: 7 }, of('d', row(7, '', 'default'), null)],
      [{ id: 7 }, null],
      [{ id: 8 }, of('d', row(8, '', 'default'), null)],
      [{ id: 9 }, of('c', null, row(9, 'last', 'default'))],
    );
    assert.deepEqual(received(await socket.take(4)), { 7: [{ name: 'a' }, { name: null }, null], of: [{ id: '9' }] });
    assert.equal(pod.log.split('a row before a change does not count').length, 2, pod.log);
    await pod.counts('crier_unavailable_values_total', 1);
  });
});
