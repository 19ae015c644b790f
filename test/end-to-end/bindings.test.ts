import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import { startPod } from './pod-server.ts';
import { podSettings } from './pod-settings.ts';
import { kcatProducer } from './producers.ts';

describe('fields bound with @kafka', { timeout: 180_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('select records by lists, by topics of an enum, by key and header, and by filters', async (t) => {
    const orders = randomName('orders');
    const [eu, us] = [`${orders}-eu`, `${orders}-us`];
    for (const topic of [eu, us]) await outside.createTopic(topic, 1);
    const schema = `
      enum Region { eu us }
      enum Status { OPEN SOLD }
      type Order { order_id: ID! total: Int status: Status }
      type Subscription {
        orders(order_ids: [ID!]!, region: Region, min_total: Float, statuses: [Status!]): Order
          @kafka(
            topic: "${orders}-{region}"
            match: [{ arg: "order_ids", path: "order_id" }]
            where: [
              { arg: "min_total", path: "total", op: GTE }
              { arg: "statuses", path: "status", op: IN }
            ]
          )
        orders_of_customer(customer: ID!, tenant: ID!): Order
          @kafka(
            topics: ["${eu}", "${us}"]
            match: [{ arg: "customer", key: true }, { arg: "tenant", header: "tenant" }]
          )
      }`;
    const pod = await startPod(t, await podSettings(t, outside.brokers, schema));
    const subscribe = (field: string, variables = {}, declared = '') =>
      watch(t, pod.url, `subscription ${declared} { order: ${field} { order_id total status } }`, variables);

    const listed = subscribe('orders(order_ids: $ids, region: eu)', { ids: ['1', '2', '1'] }, '($ids: [ID!]!)');
    const inAllRegions = subscribe('orders(order_ids: ["1"])');
    const filtered = subscribe('orders(order_ids: ["1", "2"], region: eu, min_total: 10, statuses: [OPEN])');
    const ofCustomer = subscribe('orders_of_customer(customer: "ann", tenant: "acme")');
    // Orders 1 and 2 of eu, order 1 of us, and the customer in two topics.
    await pod.counts('crier_channels', 5);
    await pod.counts('crier_subscriptions', 4);

    const record = (key: string, tenant: string | undefined, order: object) => ({
      key,
      value: JSON.stringify(order),
      headers: tenant === undefined ? {} : { tenant },
    });
    await outside.send(eu, [
      record('ann', 'acme', { orderId: 1, total: 5, status: 'OPEN' }),
      record('ann', 'other', { orderId: '2', total: 20, status: 'OPEN' }),
      record('bob', 'acme', { orderId: 2, total: 30, status: 'SOLD' }),
      record('ann', 'acme', { orderId: 3, total: 40, status: 'OPEN' }),
      record('ann', 'acme', { orderId: 1, total: 99, status: 'OPEN' }),
    ]);
    await outside.send(us, [
      record('ann', undefined, { orderId: 1, total: 50, status: 'OPEN' }),
      record('ann', 'acme', { orderId: 2, total: 60, status: 'OPEN' }),
      record('ann', 'acme', { orderId: 1, total: 98, status: 'SOLD' }),
    ]);

    // Channels have an order each, and none between them.
    const totalsOf = async (watched: Watch, count: number) => {
      await watched.event(count, 30_000);
      return watched.events.map((event) => (event['order'] as { total: number }).total).sort((a, b) => a - b);
    };
    assert.deepEqual(await totalsOf(listed, 4), [5, 20, 30, 99]);
    assert.deepEqual(await totalsOf(inAllRegions, 4), [5, 50, 98, 99]);
    assert.deepEqual(await totalsOf(filtered, 2), [20, 99]);
    assert.deepEqual(await totalsOf(ofCustomer, 5), [5, 40, 60, 98, 99]);

    const refused = subscribe('orders(order_ids: [])');
    await assert.rejects(refused.event(), /BAD_USER_INPUT/);
    for (const watched of [listed, inAllRegions, filtered, ofCustomer]) assert.deepEqual(watched.failures, []);
  });

  it('name keys by the field, or by the default of the schema', async (t) => {
    const [snake, keep] = [await outside.createTopic(undefined, 1), await outside.createTopic(undefined, 1)];
    const byMail = { 'Ann.Lee@x.com': 1, 'ann-lee@x.com': { someKey: 2 } };
    const types = `
      scalar JSON
      type Snake { order_id: ID! id: ID line_1: String by_mail: JSON }
      type Keep { orderId: ID! _id: ID id: ID line1: String byMail: JSON }`;
    const fields = (ofSnake: string, ofKeep: string) => `type Subscription {
      snake(id: ID!): Snake @kafka(topic: "${snake}" ${ofSnake} match: [{ arg: "id", path: "order_id" }])
      keep(id: ID!): Keep @kafka(topic: "${keep}" ${ofKeep} match: [{ arg: "id", path: "orderId" }])
    }`;
    const schemas = [
      `${types} ${fields('', 'keys: KEEP')}`,
      `extend schema @crier(keys: KEEP) ${types} ${fields('keys: SNAKE', '')}`,
    ];
    const watched: Watch[][] = [];
    for (const schema of schemas) {
      const pod = await startPod(t, await podSettings(t, outside.brokers, schema));
      watched.push([
        watch(t, pod.url, 'subscription { order: snake(id: "7") { order_id id line_1 by_mail } }'),
        watch(t, pod.url, 'subscription { order: keep(id: "7") { orderId _id id line1 byMail } }'),
      ]);
      await pod.counts('crier_channels', 2);
    }

    const value = JSON.stringify({ orderId: 7, _id: 'of Mongo', id: 'own', line1: 'Main St', byMail });
    const produce = kcatProducer(outside.brokers);
    await produce([snake, keep].map((topic) => ({ topic, partition: 0, key: 'k', value })));
    for (const [ofSnake, ofKeep] of watched) {
      const inSnake = await ofSnake!.event(1, 30_000);
      assert.deepEqual(inSnake['order'], { order_id: '7', id: 'own', line_1: 'Main St', by_mail: byMail });
      const kept = await ofKeep!.event(1, 30_000);
      assert.deepEqual(kept['order'], { orderId: '7', _id: 'of Mongo', id: 'own', line1: 'Main St', byMail });
    }
  });
});
