import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Replacement } from '../../../src/ops/processes/replacement.ts';

const LATER = { isPodStarting: false };

describe('the replacement of a process that has ended', () => {
  it('follows at once, then after twice the time of the last one, and after 30 s at most', () => {
    const replacement = new Replacement();
    const delays = Array.from({ length: 9 }, () => replacement.delayAfter({ ...LATER, servedMs: 10 }));
    assert.deepEqual(delays, [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('follows at once after a process that has served for a minute', () => {
    const replacement = new Replacement();
    for (const servedMs of [10, 10, undefined]) replacement.delayAfter({ ...LATER, servedMs });
    assert.deepEqual([replacement.delayAfter({ ...LATER, servedMs: 60_000 }), replacement.ends], [0, 1]);
  });

  it('does not follow the third process that ends before it serves while the pod starts, and the tenth later', () => {
    const delaysOf = (isPodStarting: boolean) => {
      const replacement = new Replacement();
      return Array.from({ length: 10 }, () => replacement.delayAfter({ isPodStarting, servedMs: undefined }));
    };
    assert.equal(delaysOf(true).indexOf(undefined), 2);
    assert.equal(delaysOf(false).indexOf(undefined), 9);
  });

  it('counts early ends in a row', () => {
    const replacement = new Replacement();
    const serveds = [undefined, undefined, 5, undefined, undefined];
    const delays = serveds.map((servedMs) => replacement.delayAfter({ isPodStarting: true, servedMs }));
    assert.equal(delays.includes(undefined), false);
  });
});
