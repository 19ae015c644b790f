import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { Tunables } from './tunables.ts';

export function observeTunables(metrics: MetricsRegistry, tunables: Tunables): void {
  metrics.total(
    'crier_tunables_rejected_total',
    'Changes of tunable settings that were not accepted.',
    () => tunables.rejected,
  );
  metrics.gauge(
    'crier_tunables_outdated',
    '1 while TUNABLES_FILE is not accepted, so that earlier values apply, else 0.',
    () => Number(tunables.isRejected),
    'max',
  );
  metrics.gauges(
    'crier_tunable',
    'Tunable settings that are numbers, as they are in use.',
    ['name'],
    () => tunables.numbers(),
    'max',
  );
}
