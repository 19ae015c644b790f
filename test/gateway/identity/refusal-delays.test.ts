import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import type { TestContext } from 'node:test';
import type { AuthenticationFailure } from '../../../src/gateway/identity/authenticator.ts';
import { RefusalDelays } from '../../../src/gateway/identity/refusal-delays.ts';

/** Delays with a clock that stands still until `tick`. */
function stage(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const delays = new RefusalDelays();
  let refused = 0;
  const refuse = (address = '203.0.113.5', failure: AuthenticationFailure = 'token_invalid', subject?: string) => {
    const before = refused;
    delays.run({ address, subject }, failure, () => refused++);
    return refused > before;
  };
  return { refuse, refused: () => refused };
}

describe('RefusalDelays', () => {
  it('delays no refusal of an address that has few, and then each twice as long as the one before (S-21)', (t) => {
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

  it('delays refusals of a subject, whatever its addresses, and of an address, whatever its subjects', (t) => {
    const { refuse } = stage(t);
    for (let i = 0; i < 10; i++) assert.ok(refuse(`203.0.113.${i}`, 'token_expired', '["i","ida"]'));
    assert.ok(!refuse('203.0.113.99', 'token_expired', '["i","ida"]'));
    for (let i = 0; i < 10; i++) assert.ok(refuse('198.51.100.1', 'token_expired', `["i",${i}]`));
    assert.ok(!refuse('198.51.100.1', 'token_expired', '["i","ben"]'));
    assert.ok(refuse('198.51.100.2', 'token_expired', '["i","ben"]'));
  });

  it('remembers no subject that is longer than all together may be, and of long ones few', (t) => {
    const { refuse } = stage(t);
    const subject = (i: number, length: number) => `${i}`.padEnd(length, 'x');
    for (let i = 0; i < 20; i++) assert.ok(refuse(`203.0.113.${i}`, 'denied', subject(0, 2_000_000)));
    for (let i = 0; i < 10; i++) refuse(`198.51.100.${i}`, 'denied', subject(0, 60_000));
    for (let i = 1; i < 40; i++) refuse(`192.0.2.${i}`, 'denied', subject(i, 60_000));
    assert.ok(refuse('192.0.2.99', 'denied', subject(0, 60_000)), 'forgotten');
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
