import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { contentTypeFor, createRegistry, expose } from '../../../src/ops/metrics/exposition.ts';

const TEXT = Registry.PROMETHEUS_CONTENT_TYPE;
const OPEN_METRICS = Registry.OPENMETRICS_CONTENT_TYPE;

/** A registry with one metric of each type; the histogram has an exemplar. */
function exampleRegistry() {
  const registry = createRegistry(OPEN_METRICS);
  const registers = [registry];
  new Counter({ name: 'crier_a_total', help: 'A.', labelNames: ['reason'], registers }).inc({ reason: 'x"y' }, 2);
  new Gauge({ name: 'crier_b', help: 'B.', registers }).set(NaN);
  const histogram = new Histogram({
    name: 'crier_c_seconds',
    help: 'C.',
    registers,
    buckets: [1],
    enableExemplars: true,
  });
  histogram.observe({ value: 0.5, labels: {}, exemplarLabels: { trace_id: 'abc' } });
  return registry;
}

const TEXT_LINES = [
  '# HELP crier_a_total A.',
  '# TYPE crier_a_total counter',
  'crier_a_total{reason="x\\"y"} 2',
  '# HELP crier_b B.',
  '# TYPE crier_b gauge',
  'crier_b Nan',
  '# HELP crier_c_seconds C.',
  '# TYPE crier_c_seconds histogram',
  'crier_c_seconds_bucket{le="1"} 1',
  'crier_c_seconds_bucket{le="+Inf"} 1',
  'crier_c_seconds_sum 0.5',
  'crier_c_seconds_count 1',
];

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

describe('expose', () => {
  it('renders one registry in both formats, in any order, with equal series', async () => {
    const registry = exampleRegistry();
    for (let round = 0; round < 2; round++) {
      const openMetrics = await expose(registry, OPEN_METRICS);
      assert.deepEqual(linesOf(await expose(registry, TEXT)), TEXT_LINES);
      assert.ok(openMetrics.endsWith('\n# EOF\n'));
      assert.deepEqual(
        linesOf(openMetrics).map((line) => line.replace(/ # .*$/, '')),
        [...TEXT_LINES.map((line) => line.replace(/^(# \w+ crier_a)_total/, '$1')), '# EOF'],
      );
    }
  });

  it('renders exemplars in OpenMetrics only', async () => {
    const registry = exampleRegistry();
    assert.match(await expose(registry, OPEN_METRICS), /_bucket\{le="1"\} 1 # \{trace_id="abc"\} 0\.5 \d+\.\d+$/m);
    assert.doesNotMatch(await expose(registry, TEXT), /trace_id/);
  });

  it('renders counters right in both formats after somebody rendered the registry itself', async () => {
    const registry = exampleRegistry();
    await registry.metrics();
    assert.deepEqual(linesOf(await expose(registry, TEXT)), TEXT_LINES);
  });
});

describe('contentTypeFor', () => {
  for (const [accept, expected] of [
    [undefined, TEXT],
    ['*/*', TEXT],
    ['text/plain', TEXT],
    ['application/openmetrics-text', OPEN_METRICS],
    ['application/openmetrics-text; version=1.0.0', OPEN_METRICS],
    ['application/openmetrics-text; version=0.0.1', TEXT],
    ['application/openmetrics-text; version=1.0.0; q=0', TEXT],
    ['application/openmetrics-text; version=1.0.0; q=x', TEXT],
    ['application/openmetrics-text;version=1.0.0;q=0.3, text/plain;q=0.5', TEXT],
    // Prometheus 2.42
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      OPEN_METRICS,
    ],
    // Prometheus 3
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1',
      OPEN_METRICS,
    ],
  ] as const)
    it(`is ${expected.split(';')[0]} for ${accept}`, () => assert.equal(contentTypeFor(accept), expected));
});
