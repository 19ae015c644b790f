import type { MetricsRegistry } from '../ops/metrics/metrics-registry.ts';
import type { TriggerChannels } from './context/pubsub/trigger-channels.ts';

/** Counts of all graphs that a pod runs operations of. */
export type RuntimeCounts = ReturnType<typeof runtimeCounts>;

export function runtimeCounts(metrics: MetricsRegistry) {
  return {
    compilations: metrics.increments(
      'crier_compilations_total',
      'Operations in use, by outcome of their compilation.',
      ['outcome'],
    ),
    internalErrors: metrics.increments('crier_internal_errors_total', 'Errors masked before they reached a client.'),
  };
}

export function observeTriggers(metrics: MetricsRegistry, triggers: TriggerChannels): void {
  metrics.gauge('crier_pubsub_triggers', 'Triggers of context.pubsub that operations listen to.', () => triggers.size);
}
