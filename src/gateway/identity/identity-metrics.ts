import type { MetricsRegistry } from '../../ops/metrics/metrics-registry.ts';
import type { Revocations } from './revocations.ts';
import type { SharedRevocations } from './shared-revocations.ts';

export function authenticationFailures(metrics: MetricsRegistry) {
  return metrics.increments(
    'crier_authentication_failures_total',
    'Connections, HTTP requests and refreshes of tokens that were not authenticated, by reason.',
    ['reason'],
  );
}

export function keyFetches(metrics: MetricsRegistry) {
  return metrics.increments('crier_token_key_fetches_total', 'Fetches of key sets (JWKS), by outcome.', ['outcome']);
}

export function revocationCounts(metrics: MetricsRegistry) {
  return {
    connections: metrics.increments(
      'crier_connections_revoked_total',
      'WebSockets closed because an operator revoked them or their tokens.',
    ),
    refused: metrics.increments(
      'crier_revocations_refused_total',
      'Revocations that closed connections and were not kept, because there are too many.',
    ),
  };
}

export function observeRevocations(
  metrics: MetricsRegistry,
  revocations: Revocations,
  shared: SharedRevocations,
): void {
  metrics.gauge('crier_revocations', 'Revocations that this pod knows.', () => revocations.size, 'max');
  metrics.gauge(
    'crier_revocations_behind',
    '1 while this pod may not know all revocations, else 0.',
    () => Number(shared.isBehind),
    'max',
  );
}
