import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flatnessOf } from '../../../loadtest/rollout/flatness.ts';

/** `perSecond` times in each of `seconds`, evenly. */
function evenTimes(perSecond: number, seconds: number): number[] {
  return Array.from({ length: perSecond * seconds }, (_, i) => 5000 + (i * 1000) / perSecond);
}

describe('flatnessOf', () => {
  it('finds no deviation in an even spread, from its first time on', () => {
    assert.deepEqual(flatnessOf(evenTimes(20, 3), 3000), { perSecond: [20, 20, 20], deviationPercent: 0, late: 0 });
  });

  it('reports the second that deviates most, in percent of an even share', () => {
    const { perSecond, deviationPercent } = flatnessOf([0, 100, 200, 1500, 2000, 2001], 3000);
    assert.deepEqual(perSecond, [3, 1, 2]);
    assert.equal(deviationPercent, 50);
  });

  it('counts a close that a client sees 200 ms late in the last second, and a later one as late', () => {
    const { perSecond, late } = flatnessOf([0, 1000, 2200, 2201], 2000);
    assert.deepEqual([perSecond, late], [[1, 2], 1]);
  });

  it('finds everything at once to deviate most', () => {
    assert.equal(
      flatnessOf(
        evenTimes(1, 40).map(() => 7),
        20_000,
      ).deviationPercent,
      1900,
    );
  });
});
