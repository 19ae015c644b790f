import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reloadStage, resolversOf } from '../../reload/stage.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CallbackRouter } from './callback-router.ts';

const QUERY = 'subscription { item(id: "a") { group } }';
const context = (claims: string) => `export const authenticate = ({ headers }) => (${claims});`;

describe('a callback whose graph is replaced', () => {
  it('has the claims that the new authenticate returns, or ends with 4403 if it refuses', async (t) => {
    const resolvers = `${resolversOf('first').replace(/export const Item.*/, '')}
      export const Item = { group: (item, args, { connection }) => connection.claims.group };`;
    const files = { 'resolvers.js': resolvers, 'context.js': context("{ group: 'all' }") };
    const { router, ...stage } = await CallbackRouter.beside(t, (url) => reloadStage(t, files, { CALLBACK_URLS: url }));
    const endpoint = `http://127.0.0.1:${stage.server.port}/graphql`;
    const subscribe = async (user: string) =>
      (await router.subscribe(endpoint, QUERY, { headers: { 'x-user': user } })).subscription;
    const [kept, banned] = [await subscribe('ann'), await subscribe('bob')];
    await waitFor('the subscriptions', async () => (await stage.metric('crier_operations')) === 2);
    await stage.put('a', 1);
    const [before] = await kept.next(1);
    assert.deepEqual(before!.data, { item: { group: 'all' } });
    await stage.change({ 'context.js': context("headers['x-user'] !== 'bob' && { group: 'own' }") });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    const { errors } = await banned.completed();
    assert.equal(errors![0]!.extensions!['closeCode'], 4403);
    await stage.put('a', 2);
    const [, after] = await kept.next(2);
    assert.deepEqual(after!.data, { item: { group: 'own' } });
    assert.equal(kept.completion, undefined);
  });
});
