import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RefusalDelays } from '../../src/identity/refusal-delays.ts';

describe('RefusalDelays', () => {
  it('delays no refusal of an address that has few, and then each twice as long as the one before', () => {
    const delays = new RefusalDelays();
    const first = Array.from({ length: 18 }, () => delays.next('203.0.113.5'));
    assert.deepEqual(first, [...Array<number>(10).fill(0), 100, 200, 400, 800, 1600, 3200, 4000, 4000]);
    assert.equal(delays.next('203.0.113.6'), 0);
  });

  it('remembers a bounded number of addresses', () => {
    const delays = new RefusalDelays();
    for (let i = 0; i < 11; i++) delays.next('203.0.113.5');
    for (let i = 0; i < 10_000; i++) delays.next(`2001:db8::${i.toString(16)}`);
    assert.equal(delays.next('203.0.113.5'), 0);
  });
});
