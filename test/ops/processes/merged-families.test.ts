import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { Histogram } from '../../../src/ops/metrics/histogram.ts';
import { Metrics } from '../../../src/ops/metrics/metrics.ts';
import type { Aggregator } from '../../../src/ops/metrics/prom-client.ts';
import { observeProcess } from '../../../src/ops/metrics/process-metrics.ts';
import { mergedFamilies } from '../../../src/ops/processes/merged-families.ts';
import { packFamilies, readFamilies, unpackFamilies } from '../../../src/ops/processes/metric-families.ts';
import type { Family, Sample } from '../../../src/ops/processes/metric-families.ts';

const family = (name: string, type: string, values: readonly Sample[]): Family => ({ name, help: '', type, values });
const gauge = (aggregator: Aggregator, value: number) => [
  { ...family('crier_a', 'gauge', [{ labels: {}, value }]), aggregator },
];

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
    for (const [aggregator, expected] of [
      ['sum', 5],
      ['max', 3],
      ['min', 2],
    ] as const) {
      const values = merged('crier_a', gauge(aggregator, 2), gauge(aggregator, 3));
      assert.deepEqual(values, [{ labels: {}, value: expected }], aggregator);
    }
    assert.deepEqual(merged('crier_a', gauge('process', 0.1), gauge('process', 0.9)), [
      { labels: { process: 'gateway-1' }, value: 0.1 },
      { labels: { process: 'gateway-2' }, value: 0.9 },
    ]);
  });

  it('arrive whole, with values that JSON does not have', async () => {
    const metrics = new Metrics();
    observeProcess(metrics, 'gateway');
    metrics.gauge('crier_unknown', 'An unknown value.', () => NaN);
    const families = await readFamilies(metrics.registry);
    assert.deepEqual(unpackFamilies(packFamilies(families)), families);
  });
});
