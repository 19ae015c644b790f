import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { top } from '../../../src/ops/debug/top.ts';

describe('top', () => {
  it('has the largest values in their order, and none of 0', async () => {
    const items = [3, 0, 9, 1, 9, 7];
    assert.deepEqual(await top(items, (item) => item, 4), [9, 9, 7, 3]);
    assert.deepEqual(await top(items, (item) => item, 100), [9, 9, 7, 3, 1]);
    assert.deepEqual(await top([], (item) => item, 4), []);
  });

  it('lets the event loop turn after 1,000 items', async () => {
    let turns = 0;
    const count = () => void (turns++, (immediate = setImmediate(count)));
    let immediate = setImmediate(count);
    const items = Array.from({ length: 10_000 }, (_, i) => i);
    assert.deepEqual(await top(items, (item) => item, 2), [9999, 9998]);
    clearImmediate(immediate);
    assert.ok(turns >= 9, `${turns}`);
  });
});
