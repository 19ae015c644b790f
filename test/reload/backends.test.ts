import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { backendServer } from '../graph/context/backend-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { SCHEMA, reloadStage } from './stage.ts';

const ITEM = 'subscription { item(id: "a") { n label } }';

const files = (...names: readonly [string, ...string[]]) => ({
  'schema.graphql': SCHEMA.replace('own: Item', '').replace('type Query { version: String }', ''),
  'context.js': `export const backends = ${JSON.stringify(names)};`,
  'resolvers.js': `export const Item = { label: (item, args, { backends }) => backends.${names[0]}.get('/label') };`,
});

/** A backend that answers with its name, and counts its connections. */
async function namedBackend(t: TestContext, name: string) {
  const requests: ServerResponse[] = [];
  let isHolding = false;
  const sockets = new Set<unknown>();
  const answer = (response: ServerResponse) => response.end(JSON.stringify(name));
  const url = await backendServer(t, (request, response) => {
    sockets.add(request.socket);
    requests.push(response);
    if (!isHolding) answer(response);
  });
  return {
    url,
    requests: () => requests.length,
    sockets: () => sockets.size,
    hold: () => void (isHolding = true),
    release: () => requests.filter(({ writableEnded }) => !writableEnded).forEach(answer),
  };
}

describe('the backends of a graph across a reload', () => {
  it('are those of the new graph for the next event; a request that has begun is answered to the former one', async (t) => {
    const [one, two] = [await namedBackend(t, 'one'), await namedBackend(t, 'two')];
    const stage = await reloadStage(t, files('one'), { BACKEND_ONE_URL: one.url, BACKEND_TWO_URL: two.url });
    const live = stage.watch(ITEM);
    await waitFor('the subscription', async () => (await stage.metric('crier_channels')) === 1);
    one.hold();
    await stage.put('a', 0);
    await waitFor('the request', () => one.requests() === 1);
    await stage.change(files('two'));
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await stage.put('a', 1);
    one.release();
    await live.event(2);
    assert.deepEqual(live.events, [{ item: { n: 0, label: 'one' } }, { item: { n: 1, label: 'two' } }]);
    assert.deepEqual(live.failures, []);
  });

  it('keep their connections if both graphs have them', async (t) => {
    const [one, two] = [await namedBackend(t, 'one'), await namedBackend(t, 'two')];
    const stage = await reloadStage(t, files('one'), { BACKEND_ONE_URL: one.url, BACKEND_TWO_URL: two.url });
    const live = stage.watch(ITEM);
    await waitFor('the subscription', async () => (await stage.metric('crier_channels')) === 1);
    await stage.put('a', 0);
    await live.event(1);
    await stage.change(files('one', 'two'));
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await stage.put('a', 1);
    await live.event(2);
    assert.deepEqual([one.requests(), one.sockets()], [2, 1]);
  });

  it('fail field by field, and name the setting in the log, if a new one has no URL', async (t) => {
    const one = await namedBackend(t, 'one');
    const stage = await reloadStage(t, files('one'), { BACKEND_ONE_URL: one.url });
    await stage.change(files('three'));
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    const live = stage.watch(ITEM);
    await waitFor('the subscription', async () => (await stage.metric('crier_channels')) === 1);
    await stage.put('a', 0);
    await waitFor('the failure', () => live.failures.length > 0);
    assert.match(live.failures[0]!, /BACKEND_NOT_CONFIGURED/);
    assert.match(JSON.stringify(stage.lines), /BACKEND_THREE_URL/);
  });
});
