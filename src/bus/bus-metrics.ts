import type { MetricsRegistry } from '../ops/metrics/metrics-registry.ts';
import type { BusObserver } from './bus.ts';
import type { Receiver } from './flow/receiver.ts';

/** Counts what a bus publishes and loses. */
export function busObserver(metrics: MetricsRegistry): BusObserver {
  const published = metrics.increments('crier_messages_published_total', 'Messages that Redis accepted.');
  const failures = metrics.increments(
    'crier_publish_failures_total',
    'Publishes and leases of partitions that Redis did not accept, by reason; they are retried.',
    ['reason'],
  );
  const gaps = metrics.increments(
    'crier_bus_gaps_total',
    'Times the subscriber link to Redis was lost and restored: messages may be missing.',
  );
  return {
    onPublish: (messages) => published.inc(messages),
    onPublishFailure: (_messages, reason) => failures.inc({ reason }),
    onGap: () => gaps.inc(),
  };
}

export function observeReceiver(metrics: MetricsRegistry, receiver: Receiver): void {
  metrics.gauge(
    'crier_flow_waiting_bytes',
    'Bytes of events that have reached this gateway and are not served yet.',
    () => receiver.waiting,
  );
}
