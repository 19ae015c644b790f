import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { startGraph } from 'crier/testing';

const graph = await startGraph(import.meta.dirname);
after(() => graph.close());

it('begins an order with its last state, and completes it when the order is deleted', async () => {
  await graph.publish('orders', { orderId: '7', status: 'PLACED', total: '12.50' }, { key: '7' });
  const events = await graph.subscribe('subscription { orderUpdated(orderId: 7) { status } }');
  assert.deepEqual((await events.next()).value?.data, { orderUpdated: { status: 'PLACED' } });
  await graph.publish('orders', { orderId: '7', status: 'PAID', total: '12.50' }, { key: '7' });
  assert.deepEqual((await events.next()).value?.data, { orderUpdated: { status: 'PAID' } });
  await graph.publish('orders', null, { key: '7' });
  assert.equal((await events.next()).done, true);
});

it('delivers the orders of a least total only', async () => {
  const events = await graph.subscribe('subscription { ordersUpdated(minTotal: 100) { orderId } }');
  await graph.publish('orders', { orderId: '8', status: 'PLACED', total: '99.99' }, { key: '8' });
  await graph.publish('orders', { orderId: '9', status: 'PLACED', total: '100.00' }, { key: '9' });
  assert.deepEqual((await events.next()).value?.data, { ordersUpdated: { orderId: '9' } });
});

it('refuses a total that is no decimal', async () => {
  const { errors } = await graph.query('mutation { placeOrder(total: "1e9") { orderId } }');
  assert.equal(errors?.[0]?.extensions?.['code'], 'BAD_USER_INPUT');
});
