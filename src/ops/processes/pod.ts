import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { banner } from '../../config/banner.ts';
import type { Config } from '../../config/config.ts';
import { AdminServer } from '../../gateway/http/admin.ts';
import { LoopLag } from '../../gateway/http/loop-lag.ts';
import type { Logger } from '../../base/log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { observeProcess } from '../metrics/process-metrics.ts';
import { Profiling } from '../profiling/profiling-routes.ts';
import { PROCESS_VARIABLE } from '../../config/processes.ts';
import { readVersion } from '../../base/version.ts';
import { heapShare } from './heap-share.ts';
import { Members } from './members.ts';
import type { Member } from './members.ts';
import { PodHealth } from './pod-health.ts';
import { PodMetrics } from './pod-metrics.ts';
import { podRoutes } from './pod-routes.ts';

export interface PodOptions {
  readonly onFatal: (error: Error) => void;
  /** Aborted: the start ends. */
  readonly stop: AbortSignal;
  /** Aborted: the drain must not wait any longer. */
  readonly fastShutdown: AbortSignal;
  readonly beforeLongTurn: () => void;
  readonly droppedLogLines: () => number;
}

/** A pod that has started. */
export interface Pod {
  readonly banner: string;
  /** Asks the pods of the bus to load their graphs again. */
  reloadPods(): Promise<unknown>;
  /** Drains all processes at once. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts the processes of a pod, PROCESSES gateways and, with ROLE=all, a worker. They share PORT and have one admin port: that of this
 * process, which serves no clients and holds no graph. Node accepts the connections here and hands them to the gateways in turn.
 *
 * @throws SetupError for what a person has to fix; Error when a process cannot start; StoppedError if `stop` is aborted meanwhile.
 */
export async function startPod(config: Config, log: Logger, options: PodOptions): Promise<Pod> {
  const metrics = new Metrics();
  observeProcess(metrics, config.ROLE);
  metrics.total(
    'crier_log_lines_dropped_total',
    'Log lines that standard error did not take.',
    options.droppedLogLines,
  );
  const draining = new AbortController();
  let status: 'starting' | 'ready' | 'draining' = 'starting';
  metrics.gauge('crier_draining', '1 from SIGTERM on, else 0.', () => (status === 'draining' ? 1 : 0), 'max');
  cluster.setupPrimary({ execArgv: heapShare(process.execArgv, config.nodeOptions, config.PROCESSES + 1) });
  const token = config.ADMIN_TOKEN || randomBytes(32).toString('hex');
  const members = new Members({
    members: membersOf(config),
    environment: (member) => environmentOf(config, token, member),
    token,
    log,
    onEnd: (process) => podMetrics.onEnd(process),
    onLost: (error) => void close().then(() => options.onFatal(error), options.onFatal),
  });
  const podMetrics = new PodMetrics(metrics, () => members.all);
  const lag = new LoopLag().start();
  const profiling = new Profiling({ log, lagMs: () => lag.lagMs, beforeLongTurn: options.beforeLongTurn });
  const health = new PodHealth({ status: () => status, members: () => members.all, lag });
  const routes = new Map([
    ...health.routes,
    ...podRoutes({ members: () => members.all, metrics: podMetrics, profiling }),
  ]);
  const { ADMIN_HOST: host, ADMIN_PORT: port, ADMIN_TOKEN, names } = config;
  const admin = new AdminServer({
    host,
    port,
    token: ADMIN_TOKEN,
    names,
    logger: log,
    routes,
    draining: draining.signal,
  });
  const close = async () => {
    status = 'draining';
    draining.abort();
    try {
      await members.close(options.fastShutdown.aborted ? 'SIGINT' : 'SIGTERM');
    } finally {
      await admin.close();
      await lag.close();
    }
  };
  options.stop.addEventListener('abort', () => void close().catch(() => undefined), { once: true });
  // After a first SIGTERM. A first SIGINT shuts down fast before anything closes.
  options.fastShutdown.addEventListener('abort', () => void (status === 'draining' && members.order('SIGINT')), {
    once: true,
  });
  try {
    await admin.start();
    const { port: endpoint, graphName, operation } = await members.start();
    status = 'ready';
    return {
      banner: banner({
        version: readVersion(),
        config,
        graphName,
        port: endpoint,
        adminPort: admin.port,
        hasSamples: false,
        operation,
      }),
      reloadPods: () =>
        Promise.resolve(members.all.find(({ process }) => process?.isServing)?.process?.order('SIGHUP')),
      close,
    };
  } catch (error) {
    await members.close('SIGINT').catch(() => undefined);
    await close().catch(() => undefined);
    throw error;
  }
}

function membersOf({ ROLE, PROCESSES }: Config): Pick<Member, 'name' | 'role'>[] {
  const gateways = Array.from({ length: PROCESSES }, (_, i) => ({
    name: `gateway-${i + 1}`,
    role: 'gateway' as const,
  }));
  return ROLE === 'all' ? [...gateways, { name: 'worker', role: 'worker' as const }] : gateways;
}

/** What differs in the environment of one process. `''` counts as not set. */
function environmentOf(
  config: Config,
  token: string,
  { name, role }: Pick<Member, 'name' | 'role'>,
): Record<string, string> {
  const { PROCESSES, DRAIN_DELAY_MS, DRAIN_SPREAD_MS, SHUTDOWN_TIMEOUT_MS } = config;
  const settings = { PROCESSES, ADMIN_PORT: 0, DRAIN_DELAY_MS, DRAIN_SPREAD_MS, SHUTDOWN_TIMEOUT_MS };
  return {
    ...Object.fromEntries(Object.entries(settings).map(([setting, value]) => [setting, String(value)])),
    [PROCESS_VARIABLE]: name,
    ROLE: role,
    ADMIN_HOST: '127.0.0.1',
    ADMIN_TOKEN: token,
    ADMIN_TOKEN_FILE: '',
  };
}
