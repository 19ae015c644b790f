import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionWatchdog } from '../../../src/kafka/session/session-watchdog.ts';
import type { PartitionPosition } from '../../../src/kafka/session/session-watchdog.ts';

const at = (position: number, end: number, isPaused = false): PartitionPosition => ({
  topic: 'bids',
  partition: 3,
  position,
  end,
  high: end,
  isPaused,
});

describe('SessionWatchdog', () => {
  it('finds nothing without lag, however long no position moves', () => {
    const watchdog = new SessionWatchdog(1000);
    for (let now = 0; now < 10_000; now += 250) assert.equal(watchdog.observe(now, [at(5, 5)]), 'healthy');
  });

  it('finds nothing while positions move, however large the lag', () => {
    const watchdog = new SessionWatchdog(1000);
    for (let now = 0; now < 10_000; now += 250) assert.equal(watchdog.observe(now, [at(now, 1_000_000)]), 'healthy');
  });

  it('counts the timeout from the first lag, not from the last record', () => {
    const watchdog = new SessionWatchdog(1000);
    watchdog.observe(0, [at(5, 5)]);
    assert.equal(watchdog.observe(60_000, [at(5, 6)]), 'healthy');
    assert.equal(watchdog.observe(60_999, [at(5, 6)]), 'healthy');
    assert.equal(watchdog.observe(61_000, [at(5, 6)]), 'rebuild');
  });

  it('finds one stalled partition among others that progress', () => {
    const watchdog = new SessionWatchdog(1000);
    watchdog.observe(0, [at(5, 6), { ...at(1, 9), partition: 4 }]);
    assert.equal(watchdog.observe(1000, [at(5, 6), { ...at(2, 9), partition: 4 }]), 'rebuild');
  });

  it('returns fatal when the same position stalls again', () => {
    const watchdog = new SessionWatchdog(1000);
    watchdog.observe(0, [at(5, 6)]);
    assert.equal(watchdog.observe(1000, [at(5, 6)]), 'rebuild');
    assert.equal(watchdog.observe(1999, [at(5, 9)]), 'healthy');
    assert.equal(watchdog.observe(2000, [at(5, 9)]), 'fatal');
  });

  it('returns rebuild again after progress between two stalls', () => {
    const watchdog = new SessionWatchdog(1000);
    watchdog.observe(0, [at(5, 6)]);
    assert.equal(watchdog.observe(1000, [at(5, 6)]), 'rebuild');
    assert.equal(watchdog.observe(1500, [at(6, 7)]), 'healthy');
    assert.equal(watchdog.observe(2500, [at(6, 7)]), 'rebuild');
  });

  it('restarts the timeout when the consumer rejoins', () => {
    const watchdog = new SessionWatchdog(1000);
    watchdog.observe(0, [at(5, 6)]);
    assert.equal(watchdog.observe(1000, [at(5, 6)]), 'rebuild');
    watchdog.restart(15_000);
    assert.equal(watchdog.observe(15_999, [at(5, 6)]), 'healthy');
    assert.equal(watchdog.observe(16_000, [at(5, 6)]), 'fatal');
  });

  it('ignores paused partitions', () => {
    const watchdog = new SessionWatchdog(1000);
    for (let now = 0; now < 10_000; now += 250) assert.equal(watchdog.observe(now, [at(5, 6, true)]), 'healthy');
  });
});
