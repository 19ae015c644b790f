import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Latency } from '../../../loadtest/runner/latency.ts';

function assertClose(actual: number, expected: number): void {
  assert.ok(Math.abs(actual / expected - 1) < 0.002, `${actual} instead of ${expected}`);
}

describe('Latency', () => {
  it('returns percentiles with three significant figures, from 0.1 ms to minutes', () => {
    const latency = new Latency();
    for (let i = 1; i <= 1000; i++) latency.record(i / 10);
    latency.record(90_000);
    const { count, p50Ms, p99Ms, p999Ms, maxMs } = latency.summary();
    assert.equal(count, 1001);
    assertClose(p50Ms, 50.1);
    assertClose(p99Ms, 99.1);
    assertClose(p999Ms, 100);
    assertClose(maxMs, 90_000);
  });

  it('clamps negative durations and durations beyond its range', () => {
    const latency = new Latency();
    latency.record(-3);
    latency.record(0);
    assert.equal(latency.summary().maxMs, 0.01);
    latency.record(1e9);
    assert.equal(latency.summary().count, 3);
  });

  it('is all zero without durations, also after a reset', () => {
    const latency = new Latency();
    const nothing = { count: 0, p50Ms: 0, p99Ms: 0, p999Ms: 0, maxMs: 0 };
    assert.deepEqual(latency.summary(), nothing);
    latency.record(5);
    latency.reset();
    assert.deepEqual(latency.summary(), nothing);
  });
});
