import type { Config } from '../config/config.ts';
import type { Logger } from '../base/log.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import { Tunables } from '../ops/tunables/tunables.ts';
import type { RoleServices } from './services.ts';

export interface TunablesServices {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly register: RoleServices['register'];
}

/** The settings that change while the server runs. Resolves when the values of TUNABLES_FILE are in use. */
export function startTunables({ config, log, metrics, register }: TunablesServices): Promise<Tunables> {
  const tunables = register(new Tunables({ config, log }));
  tunables.bind('LOG_LEVEL', (level) => (log.level = level));
  metrics.total(
    'crier_tunables_rejected_total',
    'Changes of tunable settings that were not accepted.',
    () => tunables.rejected,
  );
  metrics.gauges(
    'crier_tunable',
    'Tunable settings that are numbers, as they are in use.',
    ['name'],
    () => tunables.numbers(),
    'max',
  );
  return tunables.start();
}
