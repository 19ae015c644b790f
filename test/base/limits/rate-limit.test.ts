import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RateLimit } from '../../../src/base/limits/rate-limit.ts';

describe('RateLimit', () => {
  it('admits a burst at once, then no more than the rate', () => {
    const limit = new RateLimit(20, 150);
    const taken = (nowMs: number, tries: number) => {
      let count = 0;
      for (let i = 0; i < tries; i++) if (limit.take(nowMs)) count++;
      return count;
    };
    assert.equal(taken(1_000_000, 200), 150);
    assert.equal(taken(1_000_500, 200), 10);
    assert.equal(taken(1_001_500, 200), 20);
    assert.equal(taken(9_999_999, 200), 150, 'an idle connection has its burst back, and not more');
  });

  it('keeps what was taken when its rate changes', () => {
    const limit = new RateLimit(1, 10);
    const now = 1_000_000;
    const taken = (tries: number) => Array.from({ length: tries }, () => limit.take(now)).filter(Boolean).length;
    assert.equal(taken(4), 4);
    limit.change(100, 1000);
    assert.equal(taken(2000), 996);
    limit.change(1, 10);
    assert.equal(taken(1), 0);
    limit.change(1, 20);
    assert.equal(taken(20), 10);
  });
});
