import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import { startPod } from './pod-server.ts';

const QUERY = 'order(order_id: "1") { order_id key tenant by }';

describe('the key and headers of records', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('arrive live, resumed on another pod and as a state, and neither undeclared nor too large ones travel', async (t) => {
    const topic = randomName('orders');
    const name = randomName('record');
    await outside.createTopic(topic, 1);
    const redis = await redisServer(t);
    const settings = {
      GRAPH: await graphFolder(t, {
        'schema.graphql': `
          type Subscription {
            order(order_id: ID!): Order
              @kafka(topic: "${topic}", match: [{ arg: "order_id", path: "order_id" }], history: {}, state: {}, record: { headers: ["by"] })
          }
          type Order {
            order_id: ID!
            key: ID @record(field: KEY)
            tenant: String @record(field: HEADER, name: "tenant")
            by: String
          }
        `,
        'resolvers.ts': `export const Order = { by: (_: unknown, __: unknown, { record }: any) => record.headers.by };`,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: `${name}:`,
    };
    const pod = await startPod(t, settings);
    const socket = await openSocket(t, pod.url);
    await socket.init();
    socket.subscribe('live', `subscription { ${QUERY} }`);
    await pod.counts('crier_channels', 1);
    const value = JSON.stringify({ orderId: '1' });
    const send = (key: string | Buffer | null, headers: Record<string, string | string[]>) =>
      outside.send(topic, [{ key, value, headers }]);
    await send('k\n"1"\r\né', { tenant: 'acme\r\n@0 1 2 3', by: ['first', 'last'], secret: 'hidden' });
    await send(Buffer.from([0xff, 0x00]), { secret: 'hidden' });
    await send('1', { tenant: 'x'.repeat(500_000) });
    await send('1', { tenant: 'after' });
    const live = await socket.take(4);
    const dataOf = ({ payload }: { payload?: unknown }) =>
      (payload as { data: { order: Record<string, unknown> } }).data.order;
    const rows = [
      { order_id: '1', key: 'k\n"1"\r\né', tenant: 'acme\r\n@0 1 2 3', by: 'last' },
      { order_id: '1', key: null, tenant: null, by: null },
      { order_id: '1', key: null, tenant: null, by: null },
      { order_id: '1', key: '1', tenant: 'after', by: null },
    ];
    assert.deepEqual(live.map(dataOf), rows);
    const errorsOf = ({ payload }: { payload?: unknown }) =>
      (payload as { errors?: { path: unknown }[] }).errors?.length ?? 0;
    assert.deepEqual(live.map(errorsOf), [0, 0, 3, 0]);
    assert.equal(await pod.metric(`crier_record_parts_omitted_total{topic="${topic}"}`), 1);

    const { cursor } = (live[0]!.payload as { extensions: { cursor: string } }).extensions;
    const other = await startPod(t, settings);
    const back = await openSocket(t, other.url);
    await back.init();
    back.subscribe('resumed', `subscription { ${QUERY} }`, undefined, { resume: { cursor } });
    assert.deepEqual((await back.take(3)).map(dataOf), rows.slice(1));
    back.subscribe('state', `subscription { ${QUERY} }`);
    const [state] = await back.take(1);
    assert.deepEqual(dataOf(state!), rows[3]);
    assert.doesNotMatch(pod.log + other.log, /acme|hidden|xxxx/);
  });

  it('add nothing to the messages of a graph that does not ask for them', async (t) => {
    const topic = randomName('orders');
    const name = randomName('plain');
    const redis = await redisServer(t);
    await outside.createTopic(topic, 1);
    const pod = await startPod(t, {
      GRAPH: await graphFolder(t, {
        'schema.graphql': `type Subscription { order: Order @kafka(topic: "${topic}", history: {}, state: {}) } type Order { id: ID at: String @record(field: TIMESTAMP) }`,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: `${name}:`,
    });
    const socket = await openSocket(t, pod.url);
    await socket.init();
    socket.subscribe('live', 'subscription { order { id } }');
    await pod.counts('crier_channels', 1);
    await outside.send(topic, [{ key: 'secret-key', value: '{"id":1}', headers: { tenant: 'secret' } }]);
    await socket.take(1);
    const client = new Redis(redis.url);
    t.after(() => client.disconnect());
    const channel = `${name}:${topic}{}`;
    assert.doesNotMatch((await client.get(`${channel}.state`)) ?? '', /record=/);
    assert.doesNotMatch(JSON.stringify(await client.xrange(channel, '-', '+')), /record=|"r"/);
  });
});
