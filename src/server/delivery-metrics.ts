import type { DeliveryObservations } from '../gateway/fanout/outbox/deliveries.ts';
import type { Writer } from '../gateway/fanout/outbox/writer.ts';
import { SECONDS } from '../ops/metrics/histogram.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';

/** Kafka's timestamps are in ms. */
const LATENCY_SECONDS = SECONDS.filter((bound) => bound >= 0.001);

/** The histograms of deliveries. */
export function deliveryObservations(metrics: Metrics): DeliveryObservations {
  const latency = metrics.histogram({
    name: 'crier_delivery_latency_seconds',
    help: "Time from the timestamp of a Kafka record to each of its deliveries, when the kernel accepted the subscriber's message. Without replays and backfills.",
    bounds: LATENCY_SECONDS,
  });
  const { stages } = metrics;
  return { latency: latency.of(), wait: stages.of('wait'), execute: stages.of('execute'), write: stages.of('write') };
}

/** The counters of a writer. */
export function countDeliveries({ deliveries }: Writer, metrics: Metrics): void {
  metrics.total(
    'crier_deliveries_total',
    'Messages with results of events that the kernel accepted for a socket.',
    () => deliveries.count,
  );
  metrics.total('crier_delivered_bytes_total', 'Bytes of the frames that the kernel accepted.', () => deliveries.bytes);
  metrics.total(
    'crier_socket_writes_total',
    'Writes of such frames to sockets; one may have several frames.',
    () => deliveries.writes,
  );
}
