import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { announcementOf } from '../../config/announcement.ts';
import type { Announcement } from '../../config/announcement.ts';
import type { Config } from '../../config/config.ts';
import { AdminServer } from '../../gateway/http/admin.ts';
import { LoopLag } from '../../gateway/http/loop-lag.ts';
import type { Route } from '../../gateway/http/route.ts';
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
  readonly announcement: Announcement;
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
  const pod = new ProcessPod(config, log, options);
  const { stop, fastShutdown } = options;
  stop.addEventListener('abort', () => void pod.close().catch(() => undefined), { once: true });
  fastShutdown.addEventListener('abort', () => pod.hastenDrain(), { once: true });
  try {
    await pod.start();
    return pod;
  } catch (error) {
    await pod.abandon();
    throw error;
  }
}

class ProcessPod implements Pod {
  readonly #config: Config;
  readonly #options: PodOptions;
  readonly #lag = new LoopLag().start();
  readonly #draining = new AbortController();
  readonly #members: Members;
  readonly #admin: AdminServer;
  #status: 'starting' | 'ready' | 'draining' = 'starting';
  #announcement: Announcement | undefined;

  constructor(config: Config, log: Logger, options: PodOptions) {
    this.#config = config;
    this.#options = options;
    const token = config.ADMIN_TOKEN || randomBytes(32).toString('hex');
    const metrics = new PodMetrics(this.#openMetrics(), () => this.#members.all);
    cluster.setupPrimary({ execArgv: heapShare(process.execArgv, config.nodeOptions, config.PROCESSES + 1) });
    this.#members = new Members({
      members: membersOf(config),
      environment: (member) => environmentOf(config, token, member),
      token,
      log,
      onEnd: (process) => metrics.onEnd(process),
      onLost: (error) => void this.close().then(() => options.onFatal(error), options.onFatal),
    });
    const { ADMIN_HOST: host, ADMIN_PORT: port, ADMIN_TOKEN, names } = config;
    const { signal: draining } = this.#draining;
    const routes = this.#routes(metrics, log);
    this.#admin = new AdminServer({ host, port, token: ADMIN_TOKEN, names, logger: log, routes, draining });
  }

  get announcement(): Announcement {
    return this.#announcement!;
  }

  async start(): Promise<void> {
    await this.#admin.start();
    const { port, graphName, operation } = await this.#members.start();
    this.#status = 'ready';
    const { port: adminPort } = this.#admin;
    const served = { port, adminPort, graphName, operation, hasSamples: false };
    this.#announcement = announcementOf({ version: readVersion(), config: this.#config, ...served });
  }

  reloadPods(): Promise<unknown> {
    const serving = this.#members.all.find(({ process }) => process?.isServing);
    return Promise.resolve(serving?.process?.order('SIGHUP'));
  }

  async close(): Promise<void> {
    this.#status = 'draining';
    this.#draining.abort();
    try {
      await this.#members.close(this.#options.fastShutdown.aborted ? 'SIGINT' : 'SIGTERM');
    } finally {
      await this.#admin.close();
      await this.#lag.close();
    }
  }

  /** After a first SIGTERM. A first SIGINT shuts down fast before anything closes. */
  hastenDrain(): void {
    if (this.#status === 'draining') this.#members.order('SIGINT');
  }

  /** Ends what has started. Never rejects. */
  async abandon(): Promise<void> {
    await this.#members.close('SIGINT').catch(() => undefined);
    await this.close().catch(() => undefined);
  }

  #openMetrics(): Metrics {
    const metrics = new Metrics();
    observeProcess(metrics, this.#config.ROLE);
    metrics.total(
      'crier_log_lines_dropped_total',
      'Log lines that standard error did not take.',
      this.#options.droppedLogLines,
    );
    const isDraining = () => (this.#status === 'draining' ? 1 : 0);
    metrics.gauge('crier_draining', '1 from SIGTERM on, else 0.', isDraining, 'max');
    return metrics;
  }

  #routes(metrics: PodMetrics, log: Logger): ReadonlyMap<string, Route> {
    const { beforeLongTurn } = this.#options;
    const members = () => this.#members.all;
    const health = new PodHealth({ status: () => this.#status, members, lag: this.#lag });
    const profiling = new Profiling({ log, lagMs: () => this.#lag.lagMs, beforeLongTurn });
    return new Map([...health.routes, ...podRoutes({ members, metrics, profiling })]);
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
