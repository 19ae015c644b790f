import type { MetricsRegistry } from '../../ops/metrics/metrics-registry.ts';
import type { RequestAdmission } from './request-admission.ts';

export function observeRequests(metrics: MetricsRegistry, admission: RequestAdmission): void {
  metrics.gauge('crier_requests_in_flight', 'HTTP requests to /graphql in flight now.', () => admission.inFlight);
  metrics.total(
    'crier_requests_total',
    'HTTP requests to /graphql whose tokens were looked at: the pod had room for them.',
    () => admission.opened,
  );
}
