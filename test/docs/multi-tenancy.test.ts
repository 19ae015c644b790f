import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { SignJWT } from 'jose';
import { startGraph } from '../../src/library/testing.ts';
import { backendServer } from '../graph/context/backend-server.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { filesOfPage, replaced } from './page-files.ts';

const SECRET = 'a secret of at least thirty-two bytes';
const WHERE = 'where: [{ claim: "tenant", path: "tenant" }]';

function tokenOf(sub: string, tenant: unknown): Promise<string> {
  const token = new SignJWT({ sub, tenant }).setProtectedHeader({ alg: 'HS256' }).setIssuedAt().setExpirationTime('5m');
  return token.sign(new TextEncoder().encode(SECRET));
}

/** The graph of the page. @param edit changes its schema */
async function stage(t: TestContext, edit: (schema: string) => string = (schema) => schema) {
  const files = Object.fromEntries(
    Array.from(filesOfPage('docs/recipes/multi-tenancy.md'), ([path, text]) => [path.replace('my-graph/', ''), text]),
  );
  const asked: string[] = [];
  const prices = await backendServer(t, ({ url }, response) => {
    asked.push(url!);
    response.end(JSON.stringify({ cents: url!.includes('/north/') ? 100 : 200 }));
  });
  const folder = await graphFolder(t, { ...files, 'schema.graphql': edit(files['schema.graphql']!) });
  // An audit executes a shared delivery again, and asks the backend once more.
  const options = { jwtSecret: SECRET, backends: { prices }, sharingAudit: 0, patienceMs: 2000 };
  const graph = await startGraph(folder, options);
  t.after(() => graph.close());
  const publish = (order_id: string, tenant: string) =>
    graph.publish('orders', { order_id, tenant, status: `of ${tenant}` }, { key: order_id });
  const as = async (sub: string, tenant: unknown) => {
    const token = await tokenOf(sub, tenant);
    return {
      subscribe: (query: string) => graph.subscribe(query, { connectionParams: { token } }),
      query: (query: string) => graph.query(query, { headers: { authorization: `Bearer ${token}` } }),
    };
  };
  return { publish, as, asked };
}

const ORDERS = 'subscription { orders { order_id status } }';
const ORDER_2 = 'subscription { order_updated(order_id: "2") { status } }';

describe('two tenants of the graph of docs/recipes/multi-tenancy.md', { concurrency: 2 }, () => {
  it('each receive their own orders, in events, states and queries, and nothing of the other', async (t) => {
    const { publish, as } = await stage(t);
    const [north, south] = [await as('ann', 'north'), await as('bob', 'south')];
    await publish('2', 'south');
    const events = { north: await north.subscribe(ORDERS), south: await south.subscribe(ORDERS) };
    const [spy, owner] = [await north.subscribe(ORDER_2), await south.subscribe(ORDER_2)];
    await publish('1', 'north');
    await publish('2', 'south');
    assert.deepEqual((await events.north.next()).value?.data, { orders: { order_id: '1', status: 'of north' } });
    assert.deepEqual((await events.south.next()).value?.data, { orders: { order_id: '2', status: 'of south' } });
    for (let i = 0; i < 2; i++)
      assert.deepEqual((await owner.next()).value?.data, { order_updated: { status: 'of south' } });
    const order = '{ order(order_id: "2") { status } }';
    assert.deepEqual(await south.query(order), { data: { order: { status: 'of south' } } });
    assert.deepEqual(await north.query(order), { data: { order: null } });
    // Events of a topic are published in order, so what precedes these would have arrived.
    await publish('3', 'north');
    assert.deepEqual((await events.north.next()).value?.data, { orders: { order_id: '3', status: 'of north' } });
    assert.deepEqual([spy.waiting, events.north.waiting, events.south.waiting], [[], [], []]);
  });

  it('receive what belongs to the other if the rule is removed (twin)', async (t) => {
    const { publish, as } = await stage(t, (schema) =>
      replaced(schema, [
        [`, ${WHERE}`, ''],
        [WHERE, ''],
      ]),
    );
    const north = await as('ann', 'north');
    await publish('2', 'south');
    const [events, spy] = [await north.subscribe(ORDERS), await north.subscribe(ORDER_2)];
    await publish('2', 'south');
    assert.deepEqual((await events.next()).value?.data, { orders: { order_id: '2', status: 'of south' } });
    assert.deepEqual((await spy.next()).value?.data, { order_updated: { status: 'of south' } });
    const leaked = await north.query('{ order(order_id: "2") { status } }');
    assert.deepEqual(leaked, { data: { order: { status: 'of south' } } });
  });

  it('are refused without one tenant in the claim', async (t) => {
    const { as } = await stage(t);
    for (const tenant of [undefined, null, ['north', 'south'], { name: 'north' }]) {
      const stranger = await as('eve', tenant);
      await assert.rejects(stranger.subscribe(ORDERS), /FORBIDDEN/);
    }
  });

  it('share what a resolver reads of the tenant with their own users only', async (t) => {
    // All tenants share each event here, so that only the reads of the resolver keep their results apart.
    const { publish, as, asked } = await stage(t, (schema) => schema.replaceAll(WHERE, '').replace('where: []', ''));
    const query = 'subscription { orders { price { cents } } }';
    const users = [['ann', 'north'] as const, ['amy', 'north'] as const, ['bob', 'south'] as const];
    const subscriptions = await Promise.all(users.map(async ([sub, of]) => (await as(sub, of)).subscribe(query)));
    await publish('1', 'north');
    const cents = await Promise.all(
      subscriptions.map(
        async (events) =>
          ((await events.next()).value?.data as { orders: { price: { cents: number } } }).orders.price.cents,
      ),
    );
    assert.deepEqual(cents, [100, 100, 200]);
    assert.deepEqual(asked.toSorted(), ['/tenants/north/orders/1', '/tenants/south/orders/1']);
  });
});
