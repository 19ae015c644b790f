import type { GraphQLSchema } from 'graphql';
import type { MetricsRegistry } from '../../ops/metrics/metrics-registry.ts';
import { rootFieldsOf } from './executions.ts';
import type { ExecutionObservations, Executions } from './executions.ts';

/** Bounds of the requests of one execution. The reference graph has 32 backends. */
const REQUESTS = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 100];

export interface ExecutionHistograms extends ExecutionObservations {
  /** Names the root fields of a further schema. */
  addFields(schema: GraphQLSchema): void;
}

export function executionHistograms(metrics: MetricsRegistry, schema: GraphQLSchema): ExecutionHistograms {
  const label = { labelName: 'field', labelValues: rootFieldsOf(schema) };
  const seconds = metrics.histogram({
    name: 'crier_execution_seconds',
    help: 'Time of executions, by the root field of their operation; those with several are "other".',
    ...label,
  });
  const requests = metrics.histogram({
    name: 'crier_execution_backend_requests',
    help: 'Requests to backends that an execution sent, by the root field of its operation.',
    bounds: REQUESTS,
    ...label,
  });
  return {
    seconds: (field) => seconds.of(field),
    backendRequests: (field) => requests.of(field),
    addFields: (next) => {
      for (const histogram of [seconds, requests]) histogram.addLabelValues(rootFieldsOf(next));
    },
  };
}

export function observeExecutions(metrics: MetricsRegistry, executions: Executions): void {
  metrics.total('crier_executions_total', 'Executions of events.', () => executions.ofEvents);
  metrics.total(
    'crier_results_shared_total',
    'Results that members of a sharing group received without an execution of their own.',
    () => executions.sharedResults,
  );
  metrics.gauge(
    'crier_executions_in_flight',
    'Executions that have started and wait, most of them for backends.',
    () => executions.inFlight,
  );
}
