import type { MetricsRegistry } from '../../ops/metrics/metrics-registry.ts';
import type { Arrivals } from './arrivals.ts';
import { GAP_REASONS } from './channel-services.ts';
import type { ChannelObserver } from './channel-services.ts';
import type { Hub } from './hub.ts';
import type { Deflater } from './outbox/deflater.ts';
import type { DeliveryObservations } from './outbox/deliveries.ts';
import type { Writer } from './outbox/writer.ts';
import type { StateCompleteness } from './state-completeness.ts';

/** From a millisecond on: Kafka's timestamps are in ms. */
const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts what reaches channels. */
export function channelObserver(metrics: MetricsRegistry, arrivals: Arrivals): ChannelObserver {
  const unrecognised = metrics.increments(
    'crier_unrecognised_messages_total',
    'Messages on crier channels that are not JSON.',
  );
  const stale = metrics.increments(
    'crier_stale_messages_total',
    'Messages discarded because clients had already received them or newer ones.',
  );
  const gaps = metrics.increments(
    'crier_gaps_total',
    'Operations whose next event has gap: true because events may be missing, once until that event, by reason.',
    ['reason'],
  );
  const skips = metrics.increments(
    'crier_skipped_events_total',
    'Events that a newer one of their key replaced, by reason: pace, once for the subscriptions that share; slow, for a client that does not keep up.',
    ['reason'],
  );
  const resumes = metrics.increments('crier_resumes_total', 'Subscriptions that asked to resume, by outcome.', [
    'outcome',
  ]);
  metrics.total('crier_events_total', 'Messages that this pod received from its channels.', () => arrivals.total);
  // A rate needs a value before the first gap.
  for (const reason of GAP_REASONS) gaps.inc({ reason }, 0);
  return {
    onEvent: arrivals.add,
    onUnrecognisedMessage: () => unrecognised.inc(),
    onStale: () => stale.inc(),
    onGap: (operations, reason) => gaps.inc({ reason }, operations),
    onSkipped: (events, reason) => skips.inc({ reason }, events),
    onResume: (outcome) => resumes.inc({ outcome }),
  };
}

export function sharingAuditCount(metrics: MetricsRegistry) {
  return metrics.increments('crier_sharing_audit_total', 'Audits of shared results, by outcome.', ['outcome']);
}

export function observeHub(metrics: MetricsRegistry, hub: Hub): void {
  metrics.gauge(
    'crier_executions_waiting',
    'Executions of events that wait because MAX_EXECUTIONS are in flight.',
    () => hub.executions.waiting,
  );
  metrics.gauge('crier_channels', 'Channels this pod is subscribed to.', () => hub.channelCount);
  metrics.gauge(
    'crier_held_bytes',
    'Bytes of events that wait for replays, backfills, the pace of a field and slow clients.',
    () => hub.heldBytes,
  );
}

/** @param states of the graph that is served; undefined: its states need no fill */
export function observeStates(metrics: MetricsRegistry, states: () => StateCompleteness | undefined): void {
  metrics.gauges(
    'crier_states_complete',
    '1 if each partition of the topic has been read from its beginning, so that the states of its channels are complete, else 0.',
    ['topic'],
    () =>
      Array.from(states()?.topics ?? [], ({ topic, isComplete }) => ({ labels: { topic }, value: Number(isComplete) })),
    'min',
  );
}

export function deliveryObservations(metrics: MetricsRegistry): DeliveryObservations {
  const latency = metrics.histogram({
    name: 'crier_delivery_latency_seconds',
    help: "Time from the timestamp of a Kafka record to each of its deliveries, when the kernel accepted the subscriber's message. Without replays and backfills.",
    bounds: LATENCY_SECONDS,
  });
  const { stages } = metrics;
  return { latency: latency.of(), wait: stages.of('wait'), execute: stages.of('execute'), write: stages.of('write') };
}

export function observeWriter(metrics: MetricsRegistry, writer: Writer): void {
  const { deliveries } = writer;
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
  metrics.gauge('crier_queue_bytes', 'Bytes of messages that wait for slow sockets.', () => writer.backpressuredBytes);
  metrics.gauge(
    'crier_queue_bytes_max',
    'Bytes of the largest of these queues.',
    () => writer.largestQueueBytes,
    'max',
  );
}

export function observeDeflater(metrics: MetricsRegistry, deflater: Deflater): void {
  metrics.total(
    'crier_compression_input_bytes_total',
    'Bytes of the results that were compressed, each counted once however many connections receive it.',
    () => deflater.inputBytes,
  );
  metrics.total(
    'crier_compression_output_bytes_total',
    'Bytes that these results have compressed.',
    () => deflater.outputBytes,
  );
}
