import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beginPost, openStream } from '../gateway/streams/stream-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { SCHEMA, reloadStage, resolversOf } from './stage.ts';

const ITEM = 'subscription ($id: ID!) { item(id: $id) { n } }';
const context = (claims: string) => `export const authenticate = ({ params }) => (${claims});`;
const authorizing = (rule: string) =>
  `${resolversOf('first')}\nSubscription.item = { authorize: ({ id }, context) => ${rule} };`;

describe('a live subscription when the reloaded graph has other rules', () => {
  it('ends with FORBIDDEN if the new authorize refuses it, and continues if it allows it', async (t) => {
    const stage = await reloadStage(t, { 'resolvers.js': authorizing('true') });
    const [a, b] = [stage.watch(ITEM, { id: 'a' }), stage.watch(ITEM, { id: 'b' })];
    await waitFor('the subscriptions', async () => (await stage.metric('crier_subscriptions')) === 2);
    await stage.change({ 'resolvers.js': authorizing('id === "a"') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await waitFor('the end', () => b.failures.length > 0);
    assert.match(b.failures[0]!, /FORBIDDEN/);
    await stage.put('a', 1);
    await stage.put('b', 1);
    assert.deepEqual(await a.event(1), { item: { n: 1 } });
    assert.deepEqual([b.events, b.failures.length], [[], 1]);
  });

  it('ends with EXECUTION_TIMEOUT if the new authorize does not answer', async (t) => {
    const files = { 'resolvers.js': authorizing('true') };
    const stage = await reloadStage(t, files, { EXECUTION_TIMEOUT_MS: '1000', BACKEND_TIMEOUT_MS: '500' });
    const one = stage.watch(ITEM, { id: 'a' });
    await waitFor('the subscription', async () => (await stage.metric('crier_subscriptions')) === 1);
    await stage.change({ 'resolvers.js': authorizing('new Promise(() => {})') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await waitFor('the end', () => one.failures.length > 0);
    assert.match(one.failures[0]!, /EXECUTION_TIMEOUT/);
  });

  it('ends without the claim that a new where demands, and else receives only events with its value', async (t) => {
    const bound = 'items: Item @kafka(topic: "items")';
    const open = SCHEMA.replace(/items\(group.*/, bound);
    const files = { 'schema.graphql': open, 'context.js': context('params') };
    const stage = await reloadStage(t, files);
    const query = 'subscription { items { n } }';
    const [red, none] = [stage.watch(query, undefined, { group: 'red' }), stage.watch(query)];
    await waitFor('the subscriptions', async () => (await stage.metric('crier_subscriptions')) === 2);
    await stage.put('a', 0, 'blue');
    await red.event(1);
    await stage.change({
      'schema.graphql': open.replace(bound, bound.replace(')', ' where: [{ claim: "group", path: "group" }])')),
    });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await waitFor('the end', () => none.failures.length > 0);
    assert.match(none.failures[0]!, /FORBIDDEN/);
    await stage.put('a', 1, 'blue');
    await stage.put('a', 2, 'red');
    await red.event(2);
    assert.deepEqual(
      red.events.map(({ items }) => (items as { n: number }).n),
      [0, 2],
    );
  });

  it('has the claims that the new authenticate returns; a connection that it refuses is closed with 4403', async (t) => {
    const group = `${resolversOf('first').replace(/export const Item.*/, '')}
      export const Item = { group: (item, args, { connection }) => connection.claims.group };`;
    const stage = await reloadStage(t, { 'resolvers.js': group, 'context.js': context("{ group: 'all' }") });
    const query = 'subscription { item(id: "a") { group } }';
    const [kept, banned] = [
      stage.watch(query, undefined, { user: 'ann' }),
      stage.watch(query, undefined, { user: 'bob' }),
    ];
    await waitFor('the subscriptions', async () => (await stage.metric('crier_subscriptions')) === 2);
    await stage.put('a', 1);
    assert.deepEqual(await kept.event(1), { item: { group: 'all' } });
    await stage.change({ 'context.js': context("params.user !== 'bob' && { group: 'own' }") });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    assert.equal(await banned.closed(), 4403);
    await stage.put('a', 2);
    assert.deepEqual(await kept.event(2), { item: { group: 'own' } });
    assert.equal(kept.closeCode, undefined);
  });

  it('is closed with 4403 if the new authenticate returns a claim that is revoked', async (t) => {
    const stage = await reloadStage(t, { 'context.js': context("{ sub: 'anyone' }") });
    const one = stage.watch('subscription { item(id: "a") { n } }', undefined, { user: 'bob' });
    await waitFor('the subscription', async () => (await stage.metric('crier_subscriptions')) === 1);
    const body = JSON.stringify({ sub: 'bob' });
    assert.equal((await fetch(`${stage.admin}/admin/connections/revoke`, { method: 'POST', body })).status, 200);
    await stage.change({ 'context.js': context('{ sub: params.user }') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    assert.equal(await one.closed(), 4403);
  });

  it('holds for streams over HTTP: one has the new claims, one that is refused ends', async (t) => {
    const group = `${resolversOf('first').replace(/export const Item.*/, '')}
      export const Item = { group: (item, args, { connection }) => connection.claims.group };`;
    const claims = (own: string) => `export const authenticate = ({ headers }) => (${own});`;
    const stage = await reloadStage(t, { 'resolvers.js': group, 'context.js': claims("{ group: 'all' }") });
    const open = (user: string) =>
      openStream(t, `http://127.0.0.1:${stage.server.port}/graphql`, {
        headers: { accept: 'text/event-stream', 'x-user': user },
        body: { query: 'subscription { item(id: "a") { group } }' },
      });
    const [kept, banned] = [await open('ann'), await open('bob')];
    await waitFor('the subscriptions', async () => (await stage.metric('crier_subscriptions')) === 2);
    await stage.change({ 'context.js': claims("headers['x-user'] !== 'bob' && { group: 'own' }") });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await banned.ended();
    await stage.put('a', 1);
    const [event] = await kept.take(1);
    assert.deepEqual((event!.data as { data: unknown }).data, { item: { group: 'own' } });
    kept.leave();
  });

  it('holds for a request whose body arrives after the reload', async (t) => {
    const claims = (answer: string) => `export const authenticate = ({ headers }) => (${answer});`;
    const stage = await reloadStage(t, { 'context.js': claims("{ group: 'all' }") });
    const url = `http://127.0.0.1:${stage.server.port}/graphql`;
    const stream = await beginPost(t, url, { query: 'subscription { item(id: "a") { n } }' });
    const query = await beginPost(t, url, { query: '{ version }' }, { accept: 'application/json' });
    await stage.change({ 'context.js': claims('false') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    assert.equal((await stream()).status, 403);
    assert.equal((await query()).status, 403);
    assert.equal(await stage.metric('crier_connections'), 0);
  });
});
