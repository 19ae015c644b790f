import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLoaders } from '../../../loadtest/ladder/pod/loaders.ts';
import type { LoaderContext } from '../../../loadtest/ladder/pod/loaders.ts';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import { createLoaders as createAuctionLoaders } from '../../../examples/auction/context.ts';

for (const version of ['eager', 'lazy'] as const) {
  it(`has the loaders and primers of the auction graph in a context of the ladder, ${version}`, () => {
    const loaders = createLoaders(version, { backends: {} } as LoaderContext);
    const expected = createAuctionLoaders({} as ExecutionContext);
    assert.deepEqual(Object.keys(loaders), Object.keys(expected));
    assert.deepEqual(Object.keys(loaders.primers), Object.keys(expected.primers));
    assert.equal(Object.keys(loaders.primers).length, 50);
  });
}
