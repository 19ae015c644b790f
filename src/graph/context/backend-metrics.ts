import type { Aggregator } from '../../ops/metrics/prom-client.ts';
import type { MetricsRegistry } from '../../ops/metrics/metrics-registry.ts';
import type { BackendPressure, Backends } from './backends.ts';

/** @param names of the backends */
export function backendCounts(metrics: MetricsRegistry, names: readonly string[]) {
  return {
    requests: metrics.increments('crier_backend_requests_total', 'Requests to backends, by outcome.', [
      'backend',
      'outcome',
    ]),
    retries: metrics.increments('crier_backend_retries_total', 'Retries of backend requests, by outcome.', [
      'backend',
      'outcome',
    ]),
    seconds: metrics.histogram({
      name: 'crier_backend_request_seconds',
      help: 'Time from a request to its answer, with the wait for a socket and a retry; without refused requests.',
      labelName: 'backend',
      labelValues: names,
    }),
  };
}

export function observePressure(metrics: MetricsRegistry, backends: Backends): void {
  const gauge = (name: string, help: string, read: (pressure: BackendPressure) => number, aggregator?: Aggregator) => {
    const values = () =>
      Array.from(backends.pressure(), ([backend, pressure]) => ({ labels: { backend }, value: read(pressure) }));
    metrics.gauges(name, help, ['backend'], values, aggregator);
  };
  gauge(
    'crier_backend_requests_in_flight',
    'Requests that a backend has not answered yet.',
    ({ inFlight }) => inFlight,
  );
  gauge(
    'crier_backend_requests_waiting',
    'Requests that wait because all BACKEND_MAX_SOCKETS sockets of their backend are in use.',
    ({ waiting }) => waiting,
  );
  gauge(
    'crier_backend_breaker_open',
    '1 while the circuit breaker of a backend refuses requests.',
    ({ breaker }) => (breaker === 'closed' ? 0 : 1),
    'max',
  );
}
