import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { LoopLag } from '../../../src/gateway/http/loop-lag.ts';

/** A lag on mocked timers. The function returned lets one sample be `lagMs` late. */
function startLag(t: TestContext, maxLagMs?: number) {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const lag = new LoopLag(maxLagMs).start();
  t.after(() => lag.close());
  const sample = (lagMs: number, count = 1) => {
    for (let i = 0; i < count; i++) {
      nowMs += 500 + lagMs;
      t.mock.timers.tick(500);
    }
    return lag.isLate;
  };
  return { lag, sample };
}

describe('LoopLag', () => {
  it('is late after four late samples in a row, until ten in a row are below half of the bound', (t) => {
    const { lag, sample } = startLag(t, 1000);
    assert.equal(sample(1001, 3), false);
    assert.equal(lag.lagMs, 1001);
    assert.equal(sample(1000), false, 'not above the bound');
    assert.equal(sample(5000, 3), false, 'a row begins anew');
    assert.equal(sample(5000), true);
    assert.equal(sample(500, 9), true);
    assert.equal(sample(501), true, 'above half of the bound');
    assert.equal(sample(0, 9), true);
    assert.equal(sample(0), false);
  });

  it('is never late without a bound', (t) => {
    const { sample } = startLag(t);
    assert.equal(sample(60_000, 100), false);
  });
});
