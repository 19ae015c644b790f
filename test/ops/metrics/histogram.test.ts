import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry, Histogram as StockHistogram } from 'prom-client';
import { Metrics } from '../../../src/ops/metrics/metrics.ts';

const NAME = 'crier_test_seconds';
const HELP = 'Seconds of a test.';
const BOUNDS = [0.01, 0.1, 1];
const VALUES = [0, 0.01, 0.0100001, 0.5, 1, 1.5, 60];

/** Lines of the test's histogram in the metrics. */
async function linesOf(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.includes(NAME));
}

function createHistogram(options: { labelName?: string; labelValues?: string[] } = {}) {
  const metrics = new Metrics();
  const histogram = metrics.histogram({ name: NAME, help: HELP, bounds: BOUNDS, ...options });
  return { histogram, registry: metrics.registry };
}

describe('Histogram', () => {
  it("prints what prom-client's own histogram prints for the same observations", async () => {
    const registry = new Registry();
    const stock = new StockHistogram({ name: NAME, help: HELP, buckets: BOUNDS, registers: [registry] });
    const own = createHistogram();
    for (const value of VALUES) {
      stock.observe(value);
      own.histogram.of().observe(value);
    }
    const expected = await linesOf(registry);
    assert.equal(expected.length, 2 + BOUNDS.length + 3);
    assert.deepEqual(await linesOf(own.registry), expected);
  });

  it('prints the label of a series before its bound', async () => {
    const { histogram, registry } = createHistogram({ labelName: 'stage', labelValues: ['fetch', 'write'] });
    histogram.of('write').observe(0.5);
    assert.deepEqual((await linesOf(registry)).slice(2), [
      `${NAME}_bucket{stage="write",le="0.01"} 0`,
      `${NAME}_bucket{stage="write",le="0.1"} 0`,
      `${NAME}_bucket{stage="write",le="1"} 1`,
      `${NAME}_bucket{stage="write",le="+Inf"} 1`,
      `${NAME}_sum{stage="write"} 0.5`,
      `${NAME}_count{stage="write"} 1`,
    ]);
  });

  it('counts an observation as often as its weight says', async () => {
    const { histogram, registry } = createHistogram();
    histogram.of().observe(0.5, 4000);
    histogram.of().observe(2, 2);
    const lines = await linesOf(registry);
    assert.ok(lines.includes(`${NAME}_bucket{le="1"} 4000`));
    assert.ok(lines.includes(`${NAME}_count 4002`));
    assert.ok(lines.includes(`${NAME}_sum 2004`));
  });

  it('counts a negative difference as 0', async () => {
    const { histogram, registry } = createHistogram();
    histogram.of().observe(-5);
    histogram.of().observe(NaN);
    const lines = await linesOf(registry);
    assert.ok(lines.includes(`${NAME}_bucket{le="0.01"} 2`));
    assert.ok(lines.includes(`${NAME}_sum 0`));
  });

  it('has one series for all values of its label that it was not told', async () => {
    const { histogram, registry } = createHistogram({ labelName: 'field', labelValues: ['bid'] });
    for (const value of ['bid', 'invented', 'other']) histogram.of(value).observe(1);
    assert.equal(histogram.of('invented'), histogram.of('x'));
    const counts = (await linesOf(registry)).filter((line) => line.includes('_count'));
    assert.deepEqual(counts, [`${NAME}_count{field="bid"} 1`, `${NAME}_count{field="other"} 2`]);
  });

  it('keeps the latest trace of each bucket as its exemplar, for OpenMetrics only', async () => {
    const { histogram, registry } = createHistogram();
    const buckets = histogram.of();
    buckets.observe(0.5, 1, 'a');
    buckets.observe(0.6, 1, 'b');
    buckets.observe(0.7);
    buckets.observe(5, 1, 'c');
    assert.ok(!(await registry.metrics()).includes('trace_id'));
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    const exemplars = (await linesOf(registry)).filter((line) => line.includes('#') && line.includes('trace_id'));
    assert.equal(exemplars.length, 2);
    assert.match(exemplars[0]!, /le="1"} 3 # \{trace_id="b"\} 0\.6 \d{10}(\.\d+)?$/);
    assert.match(exemplars[1]!, /le="\+Inf"} 4 # \{trace_id="c"\} 5 \d{10}(\.\d+)?$/);
  });

  it('has no series before its first observation, and empty ones after a reset', async () => {
    const { histogram, registry } = createHistogram();
    assert.equal((await linesOf(registry)).length, 2);
    histogram.of().observe(0.5, 3, 'a');
    registry.resetMetrics();
    const lines = await linesOf(registry);
    assert.ok(lines.includes(`${NAME}_count 0`) && lines.includes(`${NAME}_sum 0`));
  });
});
