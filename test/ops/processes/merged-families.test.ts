import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { Histogram } from '../../../src/ops/metrics/histogram.ts';
import { Metrics } from '../../../src/ops/metrics/metrics.ts';
import { observeProcess } from '../../../src/ops/metrics/process-metrics.ts';
import { mergedFamilies } from '../../../src/ops/processes/merged-families.ts';
import { packFamilies, readFamilies, unpackFamilies } from '../../../src/ops/processes/metric-families.ts';
import type { Family, Sample } from '../../../src/ops/processes/metric-families.ts';

const family = (name: string, type: string, values: readonly Sample[]): Family => ({ name, help: '', type, values });
const gauge = (name: string, value: number) => [family(name, 'gauge', [{ labels: {}, value }])];

function merged(name: string, one: readonly Family[], other: readonly Family[]): readonly Sample[] {
  const families = mergedFamilies([
    { process: 'gateway-1', families: one },
    { process: 'gateway-2', families: other },
  ]);
  return families.find((each) => each.name === name)!.values;
}

describe('the metrics of several processes', () => {
  it('have the sum of counters by labels, in whatever order these were set', () => {
    const one = family('crier_a_total', 'counter', [{ labels: { a: 'x', b: 'y' }, value: 1 }]);
    const other = family('crier_a_total', 'counter', [
      { labels: { b: 'y', a: 'x' }, value: 2 },
      { labels: { a: 'x' }, value: 5 },
    ]);
    assert.deepEqual(
      merged('crier_a_total', [one], [other]).map(({ value }) => value),
      [3, 5],
    );
  });

  it('have the sum of histograms by bucket, with an exemplar', async () => {
    const observed = async (...values: readonly number[]) => {
      const registry = new Registry();
      const histogram = new Histogram({ name: 'crier_a', help: '', bounds: [1, 2] });
      registry.registerMetric(histogram as never);
      for (const value of values) histogram.of().observe(value);
      return readFamilies(registry);
    };
    assert.deepEqual(
      merged('crier_a', await observed(0.5, 1.5), await observed(0.5, 9)).map(({ value }) => value),
      [2, 3, 4, 11.5, 4],
    );
  });

  it('have of a gauge what it means for the pod', () => {
    const cases = {
      crier_connections: 5,
      crier_draining: 3,
      crier_gateway_without_workers: 3,
      crier_redis_up: 2,
      crier_queue_bytes_max: 3,
      process_max_fds: 2,
      process_open_fds: 3,
    };
    for (const [name, expected] of Object.entries(cases))
      assert.deepEqual(merged(name, gauge(name, 2), gauge(name, 3)), [{ labels: {}, value: expected }], name);
    assert.deepEqual(
      merged('crier_heap_used_ratio', gauge('crier_heap_used_ratio', 0.1), gauge('crier_heap_used_ratio', 0.9)),
      [
        { labels: { process: 'gateway-1' }, value: 0.1 },
        { labels: { process: 'gateway-2' }, value: 0.9 },
      ],
    );
  });

  it('arrive whole, with values that JSON does not have', async () => {
    const metrics = new Metrics();
    observeProcess(metrics, 'gateway');
    metrics.gauge('crier_unknown', 'An unknown value.', () => NaN);
    const families = await readFamilies(metrics.registry);
    assert.deepEqual(unpackFamilies(packFamilies(families)), families);
  });
});
