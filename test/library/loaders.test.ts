import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Backend } from '../../src/graph/context/backend.ts';
import { byId } from '../../src/library/graph.ts';

/** Answers `/things/batch` with `{ id: "thing <id>" }`, and counts. */
function contextOf(requests: unknown[]): { backends: Record<string, Backend> } {
  const post = (path: string, body: unknown) => {
    requests.push([path, body]);
    const { ids } = body as { ids: number[] };
    return Promise.resolve(Object.fromEntries(ids.filter((id) => id < 1000).map((id) => [id, `thing ${id}`])));
  };
  return { backends: { things: { post } as unknown as Backend } };
}

it('loads many ids with one request of at most 200, and absent ids as null', async () => {
  const requests: unknown[] = [];
  const loader = byId<number, string>(contextOf(requests), 'things', '/things');
  assert.deepEqual(await loader.loadMany([2, 1, 1000]), ['thing 2', 'thing 1', null]);
  assert.deepEqual(requests, [['/things/batch', { ids: [2, 1, 1000] }]]);
  await loader.loadMany(Array.from({ length: 201 }, (_, i) => 3 + i));
  assert.equal(requests.length, 3);
});

it('primes null, ignores undefined, and opens no backend for primed ids', async () => {
  const context = {
    get backends(): never {
      throw new Error('a backend was opened');
    },
  };
  const loader = byId<number, string>(context, 'things', '/things').prime(1, 'primed').prime(2, null);
  loader.prime(3, undefined);
  assert.deepEqual(await loader.loadMany([1, 2]), ['primed', null]);
  await assert.rejects(loader.load(3), /a backend was opened/);
});
