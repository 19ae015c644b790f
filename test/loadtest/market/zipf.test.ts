import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDice } from '../../../examples/auction/dice.ts';
import { Zipf } from '../../../loadtest/market/load/zipf.ts';

function draws(zipf: Zipf, seed: number, count: number): number[] {
  const dice = createDice(seed);
  return Array.from({ length: count }, () => zipf.draw(dice));
}

describe('Zipf', () => {
  it('draws equal ranks for equal seeds, and different ones for different seeds', () => {
    const zipf = new Zipf(500, 1);
    assert.deepEqual(draws(zipf, 7, 1000), draws(zipf, 7, 1000));
    assert.notDeepEqual(draws(zipf, 7, 1000), draws(zipf, 8, 1000));
  });

  it('draws ranks in proportion to 1 / rank', () => {
    const zipf = new Zipf(100, 1);
    assert.ok(Math.abs(zipf.share(0) / zipf.share(9) - 10) < 1e-9);
    const counts = new Array<number>(100).fill(0);
    for (const rank of draws(zipf, 1, 100_000)) counts[rank]!++;
    for (const rank of [0, 1, 4, 30]) {
      assert.ok(Math.abs(counts[rank]! / 100_000 / zipf.share(rank) - 1) < 0.1, `rank ${rank}: ${counts[rank]}`);
    }
    assert.equal(
      counts.reduce((a, b) => a + b),
      100_000,
    );
  });

  it('draws uniformly with an exponent of 0', () => {
    const zipf = new Zipf(10, 0);
    assert.ok(Math.abs(zipf.share(0) - 0.1) < 1e-9);
    assert.equal(new Set(draws(zipf, 3, 1000)).size, 10);
    assert.deepEqual(draws(new Zipf(1, 1), 3, 3), [0, 0, 0]);
  });
});
