import { idleSampling } from '../ops/tracing/sampling.ts';
import { observeTunables } from '../ops/tunables/tunables-metrics.ts';
import { Tunables } from '../ops/tunables/tunables.ts';
import type { RoleServices } from './services.ts';

/** The settings that change while the server runs. Resolves when the values of TUNABLES_FILE are in use. */
export function startTunables({
  config,
  log,
  metrics,
  register,
}: Pick<RoleServices, 'config' | 'log' | 'metrics' | 'register'>): Promise<Tunables> {
  const tunables = register(new Tunables({ config, log, idle: idleSampling(config) }));
  tunables.bind('LOG_LEVEL', (level) => (log.level = level));
  observeTunables(metrics, tunables);
  return tunables.start();
}
