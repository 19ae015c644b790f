import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { SCHEMA, reloadStage, resolversOf } from './stage.ts';

describe('sources of events across a reload', () => {
  it('returns the iterator of the former graph and follows that of the new one', async (t) => {
    const own = (version: string) => `
      globalThis.returned ??= [];
      export const Item = { label: () => '${version}' };
      export const Subscription = { own: { subscribe: async function* () {
        try { yield { own: { id: '${version}', n: 0 } }; for (;;) await new Promise((resolve) => setTimeout(resolve, 5)), yield { own: { id: '${version}', n: 1 } }; }
        finally { globalThis.returned.push('${version}'); }
      } } };`;
    const stage = await reloadStage(t, { 'resolvers.js': own('first') });
    const one = stage.watch('subscription { own { id label } }');
    await one.event(3);
    await stage.change({ 'resolvers.js': own('second') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await waitFor('an event of the new source', () =>
      one.events.some(({ own: event }) => (event as { id: string }).id === 'second'),
    );
    const ids = one.events.map(
      ({ own: event }) => `${(event as { id: string; label: string }).id} ${(event as { label: string }).label}`,
    );
    assert.deepEqual(ids, ids.toSorted());
    assert.ok(
      ids.every((id) => id === 'first first' || id === 'second second'),
      ids.join(),
    );
    await waitFor('the return', () => (globalThis as { returned?: string[] }).returned!.includes('first'));
    assert.deepEqual(one.failures, []);
    assert.equal(await stage.metric('crier_gaps_total{reason="moved"}'), 1);
  });

  it('keeps what context.pubsub publishes: each event comes once, from the graph that listens', async (t) => {
    const schema = SCHEMA.replace('type Mutation {', 'type Mutation { say(n: Int!): Boolean');
    const pubsub = (version: string) => `
      export const Item = { label: () => '${version}' };
      export const Mutation = { say: async (_, { n }, { pubsub }) => { await pubsub.publish('own', { own: { id: 'a', n } }); return true; } };
      export const Subscription = { own: { subscribe: (_, args, { pubsub }) => pubsub.asyncIterableIterator('own') } };`;
    const stage = await reloadStage(t, { 'schema.graphql': schema, 'resolvers.js': pubsub('first') });
    const one = stage.watch('subscription { own { n label } }');
    await waitFor('the subscription', async () => (await stage.metric('crier_pubsub_triggers')) === 1);
    let n = 0;
    const say = async () => assert.equal((await stage.query(`mutation { say(n: ${n++}) }`)).errors, undefined);
    for (let i = 0; i < 5; i++) await say();
    await one.event(5);
    await stage.change({ 'resolvers.js': pubsub('second') });
    const reloading = stage.server.reload();
    let isReloading = true;
    void reloading.then(() => (isReloading = false));
    while (isReloading) await say();
    assert.equal((await reloading).outcome, 'swapped');
    await say();
    const last = n - 1;
    await waitFor('the last event', () => one.events.some(({ own }) => (own as { n: number }).n === last));
    const numbers = one.events.map(({ own }) => (own as { n: number }).n);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((a, b) => a - b),
      'none is doubled',
    );
    assert.equal((one.events.at(-1)!['own'] as { label: string }).label, 'second');
    assert.equal(await stage.metric('crier_pubsub_triggers'), 1);
  });

  it('moves a subscription of @redis, of several channels, and one that shares with nobody, without a gap', async (t) => {
    const schema = SCHEMA.replace(
      'own: Item',
      `own: Item
       plain: Item @redis(channel: "plain")
       listed(ids: [ID!]!): Item @kafka(topic: "items", match: [{ arg: "ids", path: "id" }])
       alone(id: ID!): Item @kafka(topic: "items", shared: false, match: [{ arg: "id", path: "id" }])
       filtered(min: Int): Item @kafka(topic: "items", where: [{ arg: "min", path: "n", op: GTE }])`,
    ).replace('type Mutation {', 'type Mutation { say(n: Int!): Boolean');
    const resolvers = (version: string) => `${resolversOf(version)}
      export const Mutation = { say: async (_, { n }, { pubsub }) => { await pubsub.publish('plain', { id: 'a', n }); return true; } };`;
    const stage = await reloadStage(t, { 'schema.graphql': schema, 'resolvers.js': resolvers('first') });
    const fields = ['plain', 'listed(ids: ["a", "b", "c"])', 'alone(id: "a")', 'filtered(min: 0)', 'item(id: "a")'];
    const watched = fields.map((field) => stage.watch(`subscription { item: ${field} { n label } }`));
    await waitFor('the subscriptions', async () => (await stage.metric('crier_subscriptions')) === fields.length);
    let n = 0;
    const put = async () => {
      await stage.put('a', n);
      assert.equal((await stage.query(`mutation { say(n: ${n++}) }`)).errors, undefined);
    };
    await put();
    for (const version of ['second', 'third']) {
      await stage.change({ 'resolvers.js': resolvers(version) });
      const reloading = stage.server.reload();
      let isReloading = true;
      void reloading.then(() => (isReloading = false));
      while (isReloading) await put();
      assert.equal((await reloading).outcome, 'swapped');
      await put();
    }
    for (const [i, one] of watched.entries()) {
      await one.event(n, 20_000);
      const numbers = one.events.map(({ item }) => (item as { n: number }).n);
      assert.deepEqual(
        numbers,
        Array.from({ length: n }, (_, k) => k),
        fields[i],
      );
      const labels = one.events.map(({ item }) => (item as { label: string }).label);
      assert.deepEqual([labels[0], labels.at(-1)], ['first', 'third'], fields[i]);
      assert.deepEqual(one.failures, []);
    }
    assert.equal(await stage.metric('crier_gaps_total'), 0);
  });
});
