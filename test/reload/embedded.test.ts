import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { SCHEMA, reloadStage, resolversOf } from './stage.ts';

const ITEM = 'subscription ($id: ID!) { item(id: $id) { n label } }';

describe('a reload of the graph', () => {
  it('serves changed resolvers to the next query and to live subscriptions, which miss nothing', async (t) => {
    const stage = await reloadStage(t, {});
    const live = stage.watch(ITEM, { id: 'a' });
    await waitFor('the subscription', async () => (await stage.metric('crier_channels')) === 1);
    await stage.put('a', 1);
    assert.deepEqual(await live.event(1), { item: { n: 1, label: 'first' } });

    await stage.change({ 'resolvers.js': resolversOf('second') });
    const outcome = await stage.server.reload();
    assert.equal(outcome.outcome, 'swapped');
    assert.equal((await stage.ready())['graph_revision'], outcome.revision);
    assert.equal(await stage.metric('crier_graph_reloads_total{outcome="swapped"}'), 1);
    assert.deepEqual((await stage.query('{ version }')).data, { version: 'second' });
    await stage.put('a', 2);
    assert.deepEqual(await live.event(2), { item: { n: 2, label: 'second' } });
    assert.deepEqual(live.failures, []);
  });

  it('ends only the operations that select a field which is gone, with SCHEMA_CHANGED', async (t) => {
    const stage = await reloadStage(t, {});
    const selecting = stage.watch(ITEM, { id: 'a' });
    const other = stage.watch('subscription { item(id: "a") { n } }');
    await waitFor('the subscriptions', async () => (await stage.metric('crier_operations')) === 2);
    await stage.change({ 'schema.graphql': SCHEMA.replace('label: String', 'extra: String'), 'resolvers.js': '' });
    await stage.change({ 'resolvers.js': resolversOf('second').replace('label:', 'extra:') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await waitFor('the end', () => selecting.failures.length > 0);
    assert.match(selecting.failures[0]!, /SCHEMA_CHANGED/);
    assert.match(selecting.failures[0]!, /label/);
    await stage.put('a', 1);
    assert.deepEqual(await other.event(1), { item: { n: 1 } });
    const added = stage.watch('subscription { item(id: "a") { n extra } }');
    await waitFor('the subscription', async () => (await stage.metric('crier_operations')) === 2);
    await stage.put('a', 2);
    assert.deepEqual(await added.event(1), { item: { n: 2, extra: 'second' } });
    assert.deepEqual(selecting.failures.length, 1);
  });
});
