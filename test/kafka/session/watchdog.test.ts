import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Watchdog } from '../../../src/kafka/session/watchdog.ts';
import type { PartitionStanding } from '../../../src/kafka/session/watchdog.ts';

const at = (position: number, end: number, isPaused = false): PartitionStanding => ({
  topic: 'bids',
  partition: 3,
  position: BigInt(position),
  end: BigInt(end),
  isPaused,
});

describe('Watchdog', () => {
  it('is well without lag, however long nothing moves', () => {
    const watchdog = new Watchdog(1000);
    for (let now = 0; now < 10_000; now += 250) assert.equal(watchdog.observe(now, [at(5, 5)]), 'well');
  });

  it('is well while positions move, however large the lag', () => {
    const watchdog = new Watchdog(1000);
    for (let now = 0; now < 10_000; now += 250) assert.equal(watchdog.observe(now, [at(now, 1_000_000)]), 'well');
  });

  it('counts from the first lag, not from the last record', () => {
    const watchdog = new Watchdog(1000);
    watchdog.observe(0, [at(5, 5)]);
    assert.equal(watchdog.observe(60_000, [at(5, 6)]), 'well');
    assert.equal(watchdog.observe(60_999, [at(5, 6)]), 'well');
    assert.equal(watchdog.observe(61_000, [at(5, 6)]), 'rebuild');
  });

  it('finds the one partition that stalls among those that flow', () => {
    const watchdog = new Watchdog(1000);
    watchdog.observe(0, [at(5, 6), { ...at(1, 9), partition: 4 }]);
    assert.equal(watchdog.observe(1000, [at(5, 6), { ...at(2, 9), partition: 4 }]), 'rebuild');
  });

  it('is fatal when the same position stalls again', () => {
    const watchdog = new Watchdog(1000);
    watchdog.observe(0, [at(5, 6)]);
    assert.equal(watchdog.observe(1000, [at(5, 6)]), 'rebuild');
    assert.equal(watchdog.observe(1999, [at(5, 9)]), 'well');
    assert.equal(watchdog.observe(2000, [at(5, 9)]), 'fatal');
  });

  it('begins anew after progress between two stalls', () => {
    const watchdog = new Watchdog(1000);
    watchdog.observe(0, [at(5, 6)]);
    assert.equal(watchdog.observe(1000, [at(5, 6)]), 'rebuild');
    assert.equal(watchdog.observe(1500, [at(6, 7)]), 'well');
    assert.equal(watchdog.observe(2500, [at(6, 7)]), 'rebuild');
  });

  it('gives a consumer that joined again the whole time', () => {
    const watchdog = new Watchdog(1000);
    watchdog.observe(0, [at(5, 6)]);
    assert.equal(watchdog.observe(1000, [at(5, 6)]), 'rebuild');
    watchdog.restart(15_000);
    assert.equal(watchdog.observe(15_999, [at(5, 6)]), 'well');
    assert.equal(watchdog.observe(16_000, [at(5, 6)]), 'fatal');
  });

  it('does not take waiting for the bus for a stall', () => {
    const watchdog = new Watchdog(1000);
    for (let now = 0; now < 10_000; now += 250) assert.equal(watchdog.observe(now, [at(5, 6, true)]), 'well');
  });
});
