import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { createTopics } from '../../stack/topics.ts';
import { createClient } from '../../client/client.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { fromNow, signWith } from '../gateway/identity/identity-provider.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { startPod } from './pod-server.ts';

const SECRET = 'a secret of this test, of 32 bytes';
const MATCH = 'match: [{ arg: "order_id", path: "order_id" }]';

describe('a compacted topic', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  async function settingsOf(t: TestContext, topic: string) {
    const name = randomName('tombstones');
    return {
      GRAPH: await graphFolder(t, {
        'schema.graphql': `
          type Subscription {
            order(order_id: ID!): Order @kafka(topic: "${topic}", ${MATCH}, history: {}, tombstone: NULL)
            order_until_deleted(order_id: ID!): Order! @kafka(topic: "${topic}", ${MATCH}, history: {}, tombstone: COMPLETE)
            order_skipped(order_id: ID!): Order! @kafka(topic: "${topic}", ${MATCH}, history: {})
          }
          type Order { order_id: ID! status: String }
        `,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
    };
  }

  async function createCompacted(): Promise<string> {
    const topic = randomName('orders');
    const configEntries = [{ name: 'cleanup.policy', value: 'compact' }];
    await createTopics(outside.brokers, [{ topic, numPartitions: 1, configEntries }]);
    return topic;
  }

  const record = (orderId: string, status: string) => ({ key: orderId, value: JSON.stringify({ orderId, status }) });
  const tombstone = (orderId: string) => ({ key: orderId, value: null });

  it('delivers tombstones as null, as complete or not at all, also to clients that resume, and dead-letters none', async (t) => {
    const topic = await createCompacted();
    const settings = await settingsOf(t, topic);
    const pod = await startPod(t, settings);
    const socket = await openSocket(t, pod.url);
    await socket.init();
    for (const field of ['order', 'order_until_deleted', 'order_skipped']) {
      socket.subscribe(field, `subscription { ${field}(order_id: "1") { order_id status } }`);
    }
    await pod.counts('crier_channels', 1);
    await outside.send(topic, [record('1', 'PAID'), tombstone('2'), tombstone('1'), record('1', 'NEW')]);
    const messages = await socket.take(7);
    const of = (field: string) => messages.filter(({ id }) => id === field);
    const dataOf = (field: string) =>
      of(field).map(({ type, payload }) =>
        type === 'next' ? (payload as { data: Record<string, unknown> }).data[field] : type,
      );
    const [paid, fresh] = [
      { order_id: '1', status: 'PAID' },
      { order_id: '1', status: 'NEW' },
    ];
    assert.deepEqual(dataOf('order'), [paid, null, fresh]);
    assert.deepEqual(dataOf('order_until_deleted'), [paid, 'complete']);
    assert.deepEqual(dataOf('order_skipped'), [paid, fresh]);
    assert.deepEqual(await socket.roundTrip(), []);

    const { cursor } = (of('order')[0]!.payload as { extensions: { cursor: string } }).extensions;
    const other = await startPod(t, settings);
    const back = await openSocket(t, other.url);
    await back.init();
    const resume = { resume: { cursor } };
    back.subscribe('order', 'subscription { order(order_id: "1") { status } }', undefined, resume);
    back.subscribe('end', 'subscription { order_until_deleted(order_id: "1") { status } }', undefined, resume);
    const missed = await back.take(3);
    assert.deepEqual(
      missed.filter(({ id }) => id === 'order').map(({ payload }) => (payload as { data: unknown }).data),
      [{ order: null }, { order: { status: 'NEW' } }],
    );
    assert.deepEqual(
      missed.filter(({ id }) => id === 'end'),
      [{ id: 'end', type: 'complete' }],
    );

    const committed = async () => {
      const of = { groupId: settings.KAFKA_GROUP_ID, topics: [topic] };
      const [offsets] = await outside.ask((admin) => admin.fetchOffsets(of));
      return offsets?.partitions[0]?.offset;
    };
    await waitFor('the commit of all records', async () => (await committed()) === '4');
    const total = async (series: string) => (await pod.metric(series)) + (await other.metric(series));
    assert.equal(await total(`crier_tombstones_total{topic="${topic}",outcome="routed"}`), 2);
    assert.doesNotMatch(pod.log + other.log, /poison record not published/);
  });

  it('routes a tombstone to the channels whose last value is of its key, though the key names none of them', async (t) => {
    const topic = await createCompacted();
    const settings = await settingsOf(t, topic);
    const byCustomer = 'match: [{ arg: "customer", path: "customer" }], state: {}';
    const graph = await graphFolder(t, {
      'schema.graphql': `
        type Subscription {
          last_order(customer: ID!): Order @kafka(topic: "${topic}", ${byCustomer}, tombstone: NULL)
          last_order_until_deleted(customer: ID!): Order! @kafka(topic: "${topic}", ${byCustomer}, tombstone: COMPLETE)
          order(order_id: ID!): Order @kafka(topic: "${topic}", ${MATCH}, tombstone: NULL)
        }
        type Query { last_order(customer: ID!): Order @state(of: "last_order") }
        type Order { order_id: ID! customer: ID }
      `,
    });
    const orderOf = (orderId: string, customer: string) => ({
      key: orderId,
      value: JSON.stringify({ orderId, customer }),
    });
    await outside.send(topic, [orderOf('1', 'ann'), orderOf('2', 'bob'), orderOf('3', 'bob')]);
    const pod = await startPod(t, { ...settings, GRAPH: graph });
    await pod.counts(`crier_states_complete{topic="${topic}"}`, 1);
    const socket = await openSocket(t, pod.url);
    await socket.init();
    const [ann, bob] = ['ann', 'bob'].map((customer) => `last_order(customer: "${customer}") { order_id }`);
    socket.subscribe('ann', `subscription { ${ann} }`);
    socket.subscribe('end', 'subscription { last_order_until_deleted(customer: "ann") { order_id } }');
    socket.subscribe('bob', `subscription { ${bob} }`);
    socket.subscribe('one', 'subscription { order(order_id: "1") { order_id } }');
    const first = await socket.take(3);
    const of = (messages: typeof first, id: string) =>
      messages
        .filter((message) => message.id === id)
        .map(({ type, payload }) =>
          type === 'next' ? Object.values((payload as { data: Record<string, unknown> }).data)[0] : type,
        );
    assert.deepEqual(
      ['ann', 'end', 'bob'].map((id) => of(first, id)),
      [[{ order_id: '1' }], [{ order_id: '1' }], [{ order_id: '3' }]],
    );
    await pod.counts('crier_channels', 3);
    // Order 2 is no longer the last value of its customer.
    await outside.send(topic, [tombstone('2'), tombstone('1'), orderOf('4', 'ann')]);
    const then = await socket.take(4);
    assert.deepEqual(
      ['ann', 'end', 'bob', 'one'].map((id) => of(then, id)),
      [[null, { order_id: '4' }], ['complete'], [], [null]],
    );
    assert.deepEqual(await socket.roundTrip(), []);
    await outside.send(topic, [tombstone('3')]);
    assert.deepEqual(of(await socket.take(1), 'bob'), [null]);
    const response = await fetch(pod.url.replace('ws', 'http'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ ann: ${ann} bob: ${bob} }` }),
    });
    assert.deepEqual(await response.json(), { data: { ann: { order_id: '4' }, bob: null } });
    assert.doesNotMatch(pod.log, /the key of a record is not its value/);
  });

  it('ends the states of the customer and of the tenant that a row leaves, for those who follow them and those who begin', async (t) => {
    const topic = await outside.createTopic();
    const graph = await graphFolder(t, {
      'schema.graphql': `
        type Subscription {
          of_customer(customer: ID!): Order
            @kafka(topic: "${topic}", match: [{ arg: "customer", path: "customer" }], state: {}, tombstone: NULL)
          mine(id: ID!): Order!
            @kafka(
              topic: "${topic}", match: [{ arg: "id", path: "id" }], where: [{ claim: "tenant", path: "tenant" }]
              state: {}, tombstone: COMPLETE
            )
        }
        type Query {
          of_customer(customer: ID!): Order @state(of: "of_customer")
          mine(id: ID!): Order @state(of: "mine")
        }
        type Order { id: ID! customer: ID tenant: ID status: String }
      `,
    });
    const settings = { ...(await settingsOf(t, topic)), GRAPH: graph, JWT_SECRET: SECRET, JWT_AUDIENCE: 'crier' };
    const pod = await startPod(t, settings);
    await pod.counts(`crier_states_complete{topic="${topic}"}`, 1);
    const tokenOf = (tenant: string) =>
      signWith(new TextEncoder().encode(SECRET), { tenant, exp: fromNow(3600) }, { alg: 'HS256' });
    const row = (customer: string, tenant: string, status: string) => ({
      key: '7',
      value: JSON.stringify({ id: 7, customer, tenant, status }),
    });
    /** A socket of a tenant that follows the row, and its customers. */
    const follow = async (tenant: string) => {
      const socket = await openSocket(t, pod.url);
      await socket.init({ token: await tokenOf(tenant) });
      socket.subscribe('mine', 'subscription { mine(id: 7) { status } }');
      // 7 is the id of a customer, too, as it is the key of the row.
      for (const id of ['1', '7']) socket.subscribe(id, `subscription { of_customer(customer: ${id}) { status } }`);
      return async (count: number) => {
        const messages = await socket.take(count);
        assert.deepEqual(await socket.roundTrip(), []);
        const text = ({ payload }: (typeof messages)[0]) =>
          JSON.stringify((payload as { data: unknown } | undefined)?.data);
        return messages.map((message) => `${message.id} ${message.type} ${text(message)}`).sort();
      };
    };
    const statesOf = async (tenant: string) => {
      const response = await fetch(pod.url.replace('ws', 'http'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await tokenOf(tenant)}` },
        body: JSON.stringify({
          query:
            '{ mine(id: 7) { status } one: of_customer(customer: 1) { status } seven: of_customer(customer: 7) { status } }',
        }),
      });
      return ((await response.json()) as { data: unknown }).data;
    };
    const a = await follow('A');
    const b = await follow('B');
    await pod.counts('crier_channels', 4);
    await outside.send(topic, [row('1', 'A', 'NEW')]);
    const event = (status: string) => `next {"of_customer":{"status":"${status}"}}`;
    assert.deepEqual(await a(2), [`1 ${event('NEW')}`, 'mine next {"mine":{"status":"NEW"}}']);
    assert.deepEqual(await b(1), [`1 ${event('NEW')}`]);

    await outside.send(topic, [row('7', 'B', 'MOVED')]);
    assert.deepEqual(await a(3), ['1 next {"of_customer":null}', `7 ${event('MOVED')}`, 'mine complete undefined']);
    assert.deepEqual(await b(3), [
      '1 next {"of_customer":null}',
      `7 ${event('MOVED')}`,
      'mine next {"mine":{"status":"MOVED"}}',
    ]);
    assert.deepEqual(await statesOf('A'), { mine: null, one: null, seven: { status: 'MOVED' } });
    assert.deepEqual(await statesOf('B'), { mine: { status: 'MOVED' }, one: null, seven: { status: 'MOVED' } });
    assert.deepEqual(await (await follow('A'))(1), [`7 ${event('MOVED')}`], 'a subscription that begins');

    await outside.send(topic, [row('1', 'B', 'BACK')]);
    assert.deepEqual(await b(3), [
      `1 ${event('BACK')}`,
      '7 next {"of_customer":null}',
      'mine next {"mine":{"status":"BACK"}}',
    ]);
    assert.deepEqual(await statesOf('B'), { mine: { status: 'BACK' }, one: { status: 'BACK' }, seven: null });
  });

  it('counts tombstones whose key has a schema, names the fix, and shows nobody the bytes of such a key', async (t) => {
    const topic = await createCompacted();
    const graph = await graphFolder(t, {
      'schema.graphql': `
        type Subscription {
          order(order_id: ID!): Order! @kafka(topic: "${topic}", ${MATCH}, tombstone: COMPLETE)
        }
        type Order { order_id: ID! key: String @record(field: KEY) }
      `,
    });
    const settings = await settingsOf(t, topic);
    const pod = await startPod(t, { ...settings, GRAPH: graph });
    const socket = await openSocket(t, pod.url);
    await socket.init();
    socket.subscribe('1', 'subscription { order(order_id: 7) { order_id key } }');
    await pod.counts('crier_channels', 1);
    // The bytes of Avro's long 7 with the schema 1, all of which are ASCII.
    const key = Buffer.from([0, 0, 0, 0, 1, 0x0e]);
    await outside.send(topic, [
      { key, value: '{"orderId":7}' },
      { key, value: null },
    ]);
    const [event] = await socket.take(1);
    assert.deepEqual((event!.payload as { data: unknown }).data, { order: { order_id: '7', key: null } });
    await pod.counts(`crier_tombstones_total{topic="${topic}",outcome="unreadable_key"}`, 1);
    assert.equal(await pod.metric(`crier_tombstones_total{topic="${topic}",outcome="routed"}`), 0);
    const warnings = pod.lines.filter(({ msg }) => msg.startsWith('the key of a record cannot be read'));
    assert.deepEqual(
      warnings.map(({ topic: of, msg }) => [
        of,
        /; .*: set SCHEMA_REGISTRY_URL, or for AWS Glue npm install /.test(msg),
      ]),
      [[topic, true]],
    );
  });

  it('delivers deletes of Debezium to subscribers of the row, where the field has state', async (t) => {
    const topic = await createCompacted();
    const graph = await graphFolder(t, {
      'schema.graphql': `
        type Subscription {
          row(id: ID!): Row
            @kafka(topic: "${topic}", match: [{ arg: "id", path: "after.id" }], payload: "after", state: {}, tombstone: NULL)
        }
        type Query { row(id: ID!): Row @state(of: "row") }
        type Row { id: ID! name: String }
      `,
    });
    const pod = await startPod(t, { ...(await settingsOf(t, topic)), GRAPH: graph });
    const socket = await openSocket(t, pod.url);
    await socket.init();
    for (const id of ['7', '8']) socket.subscribe(id, `subscription { row(id: ${id}) { name } }`);
    await pod.counts('crier_channels', 2);
    const key = '{"id":7}';
    const [before, after] = [
      { id: 7, name: 'a' },
      { id: 7, name: 'b' },
    ];
    await outside.send(topic, [
      { key, value: JSON.stringify({ before: null, after: before, op: 'c' }) },
      { key, value: JSON.stringify({ before, after, op: 'u' }) },
      { key, value: JSON.stringify({ before: after, after: null, op: 'd' }) },
      { key, value: null },
    ]);
    const messages = await socket.take(3);
    assert.deepEqual(
      messages.map(({ id, payload }) => [id, (payload as { data: unknown }).data]),
      [
        ['7', { row: { name: 'a' } }],
        ['7', { row: { name: 'b' } }],
        ['7', { row: null }],
      ],
    );
    assert.deepEqual(await socket.roundTrip(), []);
  });

  it('ends an iteration of @crier/client', async (t) => {
    const topic = await createCompacted();
    const pod = await startPod(t, await settingsOf(t, topic));
    const client = createClient({ url: pod.url, webSocketImpl: WebSocket });
    t.after(() => client.dispose());
    const statuses: unknown[] = [];
    const query = 'subscription { order_until_deleted(order_id: "1") { status } }';
    const iteration = (async () => {
      for await (const { data } of client.iterate<{ order_until_deleted: { status: string } }>({ query })) {
        statuses.push(data?.order_until_deleted.status);
      }
    })();
    await pod.counts('crier_channels', 1);
    await outside.send(topic, [record('1', 'PAID'), tombstone('1')]);
    await iteration;
    assert.deepEqual(statuses, ['PAID']);
    await pod.counts('crier_channels', 0);
  });

  it('is warned of where its keys are not the values that tombstones take them for', async (t) => {
    const topic = await createCompacted();
    const pod = await startPod(t, await settingsOf(t, topic));
    await outside.send(topic, [
      { key: 'shop-1', value: JSON.stringify({ orderId: '1' }) },
      { key: 'shop-1', value: '{"orderId":"2"}' },
    ]);
    const warnings = () => pod.lines.filter(({ msg }) => msg.startsWith('the key of a record is not its value'));
    await waitFor('the warning', () => warnings().length > 0);
    assert.deepEqual(
      warnings().map(({ topic: of, path }) => [of, path]),
      [[topic, 'order_id']],
    );
    assert.doesNotMatch(pod.log, /shop-1/);
  });
});
