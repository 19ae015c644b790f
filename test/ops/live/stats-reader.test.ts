import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricValues } from '../../../src/ops/live/metric-values.ts';
import { StatsReader } from '../../../src/ops/live/stats-reader.ts';
import { Metrics } from '../../../src/ops/metrics/metrics.ts';
import { OperationTallies } from '../../../src/graph/documents/operation-tallies.ts';
import { kafkaObserver, observeConsumer } from '../../../src/kafka/kafka-metrics.ts';

/** The figures of a worker whose consumer is as the test says. */
function workerStats() {
  const metrics = new Metrics();
  const ignore = () => undefined;
  const observer = kafkaObserver(metrics, { onConsumed: ignore, onPublished: ignore, onPoison: ignore });
  const consumer = { isConnected: false, missingTopics: [], pendingFills: [], waits: [] };
  observeConsumer(metrics, consumer);
  const reader = new StatsReader({
    metrics: new MetricValues(metrics.registry),
    identity: { pod: 'one', role: 'worker', version: '1', graph: 'auction' },
    status: () => ({ status: 'ready', problems: [] }),
    loopLagMs: () => 0,
    tallies: new OperationTallies(),
  });
  return { consumer, observer, reader, lag: async () => (await reader.read()).kafka_lag_records };
}

describe('StatsReader', () => {
  it('has no lag while the worker is no member of its consumer group, or has not looked at its partitions', async () => {
    const { consumer, observer, lag } = workerStats();
    assert.equal(await lag(), null, 'Kafka has never answered');
    consumer.isConnected = true;
    assert.equal(await lag(), 0, 'a member without partitions');
    observer.onJoin(new Map([['bids', new Map([[0, undefined]])]]));
    assert.equal(await lag(), null, 'assigned, not looked at');
    observer.onPositions([{ topic: 'bids', partition: 0, position: 3, end: 10, high: 10, isPaused: false }]);
    assert.equal(await lag(), 7);
    consumer.isConnected = false;
    assert.equal(await lag(), null, 'Kafka is away');
  });

  it('ranks the operations of a reading when the first watcher selects them, once for all', async () => {
    const { reader } = workerStats();
    const { top_operations } = await reader.read();
    const ranking = top_operations();
    assert.equal(top_operations(), ranking);
    assert.deepEqual(await ranking, []);
  });
});
