import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { EVERY_FIELD, orderRecord, ordersSettings } from './orders.ts';
import { startPod } from './pod-server.ts';

const SUBSCRIBERS = 7;
const RECORDS = 5;
/** The record is this far in the future, in ms. */
const AHEAD_MS = 3_600_000;
const WORKER_STAGES = ['fetch', 'decode', 'publish'];
const GATEWAY_STAGES = ['wait', 'execute', 'write'];

describe('the latency of deliveries over Kafka and Redis', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('is observed for every delivery, by stage, and never negative for a record from the future', async (t) => {
    const topic = await outside.createTopic();
    const redisUrl = (await redisServer(t)).url;
    const pod = await startPod(t, await ordersSettings(t, { topic, brokers: outside.brokers, redisUrl }));
    const query = `subscription { any_order ${EVERY_FIELD} }`;
    const watches = Array.from({ length: SUBSCRIBERS }, () => watch(t, pod.url, query));
    await pod.counts('crier_subscriptions', SUBSCRIBERS);
    await pod.counts('crier_channels', 1);
    const producer = outside.kafka.producer();
    t.after(() => producer.disconnect());
    await producer.connect();
    for (let i = 1; i <= RECORDS; i++) {
      const timestamp = i === RECORDS ? { timestamp: `${Date.now() + AHEAD_MS}` } : {};
      await producer.send({
        topic,
        messages: [{ key: `${i}`, value: orderRecord(`${i}`), partition: 0, ...timestamp }],
      });
    }
    for (const subscription of watches) await subscription.event(RECORDS, 30_000);
    const deliveries = SUBSCRIBERS * RECORDS;
    await waitFor('the deliveries', async () => (await pod.metric('crier_deliveries_total')) === deliveries);

    assert.equal(await pod.metric('crier_delivery_latency_seconds_count'), deliveries);
    const sum = await pod.metric('crier_delivery_latency_seconds_sum');
    assert.ok(sum >= 0 && sum < 60 * deliveries, `${sum} s`);
    for (const stage of GATEWAY_STAGES) {
      assert.equal(await pod.metric(`crier_stage_seconds_count{stage="${stage}"}`), deliveries, stage);
    }
    for (const stage of WORKER_STAGES) {
      assert.ok((await pod.metric(`crier_stage_seconds_count{stage="${stage}"}`)) >= RECORDS, stage);
    }
    for (const stage of [...WORKER_STAGES, ...GATEWAY_STAGES]) {
      assert.ok((await pod.metric(`crier_stage_seconds_sum{stage="${stage}"}`)) >= 0, stage);
    }
    await waitFor('a probe', async () => (await pod.metric('crier_stage_seconds_count{stage="redis"}')) > 0);
    const executions = await pod.metric('crier_executions_total');
    const shared = await pod.metric('crier_results_shared_total');
    assert.equal(executions + shared, deliveries);
    assert.equal(await pod.metric('crier_execution_seconds_count{field="any_order"}'), executions);
    assert.equal(await pod.metric('crier_execution_backend_requests_sum{field="any_order"}'), 0);
    assert.ok((await pod.metric('crier_delivered_bytes_total')) > 100 * deliveries);
    for (const gauge of ['crier_executions_in_flight', 'crier_queue_bytes', 'crier_queue_bytes_max']) {
      assert.equal(await pod.metric(gauge), 0, gauge);
    }
    await pod.stop();
  });
});
