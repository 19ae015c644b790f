import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import type { TestContext } from 'node:test';
import { RefusalDelays } from '../../src/identity/refusal-delays.ts';

/** Delays with a clock that stands still until `tick`. */
function stage(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const delays = new RefusalDelays();
  let refused = 0;
  const refuse = (address = '203.0.113.5', failure: Parameters<RefusalDelays['run']>[1] = 'token_invalid') => {
    const before = refused;
    delays.run(address, failure, () => refused++);
    return refused > before;
  };
  return { refuse, refused: () => refused };
}

describe('RefusalDelays', () => {
  it('delays no refusal of an address that has few, and then each twice as long as the one before', (t) => {
    const { refuse, refused } = stage(t);
    for (let i = 0; i < 10; i++) assert.ok(refuse());
    for (const delayMs of [100, 200, 400, 800, 1600, 3200, 4000, 4000]) {
      assert.ok(!refuse());
      const before = refused();
      mock.timers.tick(delayMs - 1);
      assert.equal(refused(), before);
      mock.timers.tick(1);
      assert.equal(refused(), before + 1);
    }
    assert.ok(refuse('203.0.113.6'));
  });

  it('delays no refusal that the server or the graph has caused', (t) => {
    const { refuse } = stage(t);
    for (let i = 0; i < 20; i++)
      assert.ok(refuse('203.0.113.5', 'keys_unavailable') && refuse('203.0.113.5', 'timeout'));
  });

  it('lets a bounded number of refusals wait, and remembers a bounded number of addresses', (t) => {
    const { refuse } = stage(t);
    for (let i = 0; i < 1010; i++) refuse();
    assert.ok(refuse());
    mock.timers.tick(4000);
    assert.ok(!refuse());
    for (let i = 0; i < 10_000; i++) refuse(`2001:db8::${i.toString(16)}`);
    assert.ok(refuse());
  });
});
