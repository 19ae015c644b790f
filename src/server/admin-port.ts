import { RELOAD_WHILE_STARTING } from '../ops/admin/reload-route.ts';
import { metricsRoute } from '../ops/metrics/metrics-route.ts';
import { familiesRoute, METRICS_PATH } from '../ops/processes/families-route.ts';
import { Profiling } from '../ops/profiling/profiling-routes.ts';
import { AdminServer } from '../gateway/http/admin.ts';
import { healthRoutes } from '../gateway/http/health.ts';
import type { LoopLag } from '../gateway/http/loop-lag.ts';
import type { Route } from '../gateway/http/route.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Readiness } from './readiness.ts';
import type { RoleServices } from './services.ts';

export interface AdminPortOptions extends Pick<RoleServices, 'config' | 'log' | 'metrics'> {
  readonly lifecycle: Lifecycle;
  readonly readiness: Readiness;
  readonly lag: LoopLag;
  /** Called before crier's own code blocks the event loop for long, in the same turn. */
  readonly beforeLongTurn: (() => void) | undefined;
}

/** The port for operators, which is listened on. */
export interface AdminPort {
  readonly port: number;
  /** By path. Others may be added. */
  readonly routes: Map<string, Route>;
}

/** Listens on ADMIN_PORT. */
export async function openAdminPort(options: AdminPortOptions): Promise<AdminPort> {
  const { config, log, metrics, lifecycle, readiness, lag, beforeLongTurn } = options;
  const { unreadyReasons, read: details } = readiness;
  const profiling = new Profiling({ log, lagMs: () => lag.lagMs, beforeLongTurn });
  const routes = new Map<string, Route>([
    ...healthRoutes({ status: () => lifecycle.status, unreadyReasons, details, lag }),
    ['/metrics', metricsRoute(metrics.registry)],
    ['/admin/reload', RELOAD_WHILE_STARTING],
    ...profiling.routes,
  ]);
  if (config.process !== undefined) routes.set(METRICS_PATH, familiesRoute(metrics.registry));
  const admin = lifecycle.register(
    new AdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      token: config.ADMIN_TOKEN,
      names: config.names,
      logger: log,
      routes,
      draining: lifecycle.draining,
    }),
  );
  await admin.start();
  return { port: admin.port, routes };
}
