import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LookupCooldown } from '../../../src/gateway/identity/lookup-cooldown.ts';

const HOUR_MS = 3_600_000;

/** When lookups begin if a client names another unknown key in each millisecond. */
function lookupsIn(durationMs: number, onLookup: (cooldown: LookupCooldown) => void = () => undefined): number[] {
  const cooldown = new LookupCooldown();
  const begun: number[] = [];
  for (let now = 0; now < durationMs; now = Math.max(now + 1, now + cooldown.waitMs(now))) {
    cooldown.start(now);
    begun.push(now);
    onLookup(cooldown);
  }
  return begun;
}

describe('the cooldown of lookups', () => {
  it('doubles with each lookup that finds nothing, up to 30 s (S-13)', () => {
    const begun = lookupsIn(100_000);
    const waits = begun.slice(1).map((at, i) => at - begun[i]!);
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    assert.ok(lookupsIn(HOUR_MS).length < 130);
  });

  it('would allow 3,600 lookups in an hour if they did not count (twin of S-13)', () => {
    assert.equal(lookupsIn(HOUR_MS, (cooldown) => cooldown.reset()).length, 3_600);
  });

  it('is a second again after a lookup that found a key, and after ten minutes without one', () => {
    const cooldown = new LookupCooldown();
    for (let i = 0; i < 10; i++) cooldown.start(i);
    assert.equal(cooldown.waitMs(9), 30_000);
    cooldown.reset();
    assert.equal(cooldown.waitMs(9), 1_000);
    for (let i = 0; i < 10; i++) cooldown.start(i);
    cooldown.start(700_000);
    assert.equal(cooldown.waitMs(700_000), 1_000);
  });
});
