import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricValues, quantile } from '../../../src/ops/live/metric-values.ts';
import { Metrics } from '../../../src/ops/metrics/metrics.ts';

describe('MetricValues', () => {
  it('sums the series of a metric, and has null for one that is missing or unknown', async () => {
    const metrics = new Metrics();
    const refusals = metrics.increments('crier_refusals_total', 'Refusals.', ['reason']);
    refusals.inc({ reason: 'host' }, 2);
    refusals.inc({ reason: 'origin' }, 3);
    metrics.gauge('crier_lag', 'Unknown.', () => NaN);
    const values = new MetricValues(metrics.registry);
    assert.equal(await values.sum('crier_refusals_total'), 5);
    assert.equal(await values.sum('crier_lag'), null);
    assert.equal(await values.sum('crier_connections'), null);
  });

  it('finds quantiles of what was observed between two readings', async () => {
    const metrics = new Metrics();
    const latency = metrics.histogram({ name: 'crier_latency_seconds', help: 'Latency.', bounds: [0.01, 0.1, 1] }).of();
    const values = new MetricValues(metrics.registry);
    latency.observe(0.5, 1000);
    const before = (await values.distribution('crier_latency_seconds'))!;
    assert.equal(quantile(0.5, before, before), null);
    latency.observe(0.005, 98);
    latency.observe(0.05, 2);
    const now = (await values.distribution('crier_latency_seconds'))!;
    assert.ok(Math.abs(quantile(0.5, now, before)! - (0.01 * 50) / 98) < 1e-9);
    assert.ok(Math.abs(quantile(0.99, now, before)! - 0.055) < 1e-9);
    latency.observe(60, 100);
    assert.equal(quantile(0.99, (await values.distribution('crier_latency_seconds'))!, now), 1);
  });
});
