import type { Server as HttpServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RELOAD_WHILE_STARTING } from './ops/admin/reload-route.ts';
import type { ReloadReport } from './ops/admin/reload-route.ts';
import { banner } from './config/banner.ts';
import type { Config } from './config/config.ts';
import { EmbeddedTopics } from './graph/embedded/embedded-topics.ts';
import { GraphError, StoppedError } from './base/errors.ts';
import type { Graph } from './graph/graph.ts';
import { exampleOperation } from './graph/schema/example-operation.ts';
import { GraphLoader } from './graph/loading/load.ts';
import { AdminServer } from './gateway/http/admin.ts';
import { healthRoutes } from './gateway/http/health.ts';
import type { Route } from './gateway/http/route.ts';
import { LoopLag } from './gateway/http/loop-lag.ts';
import type { Logger } from './base/log.ts';
import { orAborted } from './base/or-aborted.ts';
import { kafkaWarnings } from './config/kafka-problems.ts';
import { finishMs } from './config/shutdown-times.ts';
import { startMemoryGuard } from './server/memory-guard.ts';
import { familiesRoute, METRICS_PATH } from './ops/processes/families-route.ts';
import { metricsRoute } from './ops/metrics/metrics-route.ts';
import { Metrics } from './ops/metrics/metrics.ts';
import { GarbageCollections } from './ops/metrics/garbage-collections.ts';
import { observeProcess } from './ops/metrics/process-metrics.ts';
import { Profiling } from './ops/profiling/profiling-routes.ts';
import type { StartedGateway } from './server/gateway.ts';
import { openLive, problemsOf } from './server/live.ts';
import { openBus } from './server/bus.ts';
import { graphProblems } from './server/graph-problems.ts';
import { GraphReloads } from './server/graph-reloads.ts';
import type { ReloadOutcome } from './server/graph-reloads.ts';
import type { Component, GatewayServices, RoleServices } from './server/services.ts';
import { openReload } from './server/reload.ts';
import { openTracing } from './server/tracing.ts';
import { startTunables } from './server/tunables.ts';
import { Versioned } from './server/versioned.ts';
import { findUnknownBackends } from './graph/loading/unknown-backends.ts';
import { tunablesRoute } from './ops/tunables/tunables-route.ts';
import { readVersion } from './base/version.ts';

/** The graph folder without GRAPH. */
export const BUILT_IN_GRAPH = join(import.meta.dirname, '..', 'examples', 'auction');

export interface Server {
  /** Of the endpoint; undefined with ROLE=worker. */
  readonly port: number | undefined;
  readonly adminPort: number;
  /** Serves the `request` and `upgrade` events that are emitted on it; undefined with ROLE=worker. */
  readonly httpServer: HttpServer | undefined;
  /** Resolves when no operation of a client is being prepared, authorised or subscribed. */
  settled(): Promise<void>;
  /** The topics of the embedded mode; undefined with Kafka. */
  readonly embedded: EmbeddedTopics | undefined;
  /** The one that is served: a reload replaces it. */
  readonly graph: Graph;
  /** What a person should read on standard output. */
  readonly banner: string;
  /** Loads the graph folder again, and serves it if it has changed and can be served. Never rejects. */
  reload(): Promise<ReloadOutcome>;
  /** The same on all pods of the bus, each with its own folder. Never rejects. */
  reloadPods(): Promise<ReloadReport>;
  /** Drains and releases everything, bottom to top. Idempotent. */
  close(): Promise<void>;
}

export interface ServerOptions {
  /** Loads the graph. Default: from the folder that the configuration names. */
  readonly graph?: Pick<GraphLoader, 'load'>;
  /** Default: true. False: PORT is not listened on; another program emits its events on `httpServer`. */
  readonly isListening?: boolean;
  /** Default: false. True: another program appends records to `embedded`. */
  readonly isFed?: boolean;
  /** Only a new process can help. Called at most once. */
  readonly onFatal: (error: Error) => void;
  /** Called with what became of each reload of the graph, in place of its log line. */
  readonly onReload?: (outcome: ReloadOutcome, durationMs: number) => void;
  /** Rejections of this process that nothing handled, so far. */
  readonly unhandledRejections?: () => number;
  /** Once aborted, the start does not wait for Kafka any longer: the server that it resolves with is there to be closed. */
  readonly stop?: AbortSignal;
  /** Once aborted, `close` skips the delay and the spread of the drain. */
  readonly hurry?: AbortSignal;
  /** Called before crier's own code blocks the event loop for long, in the same turn. */
  readonly beforeLongTurn?: () => void;
  /** Called when the admin port is listened on, before the pod is ready. */
  readonly onAdmin?: (port: number) => void;
  /** Lines that the reader of the log did not take, since the start. */
  readonly droppedLogLines?: () => number;
}

/**
 * Puts crier together: started top to bottom, closed bottom to top. So the worker, started last, leaves the consumer group
 * first: other pods publish on while this one's sockets are served for DRAIN_DELAY_MS, and then closed.
 *
 * @throws SetupError for what a person has to mend; whatever was started is closed again.
 * @throws StoppedError if `stop` is aborted while the graph is loaded.
 */
export async function startServer(config: Config, log: Logger, options: ServerOptions): Promise<Server> {
  const metrics = new Metrics();
  observeProcess(metrics, config.ROLE);
  metrics.total(
    'crier_unhandled_rejections_total',
    'Promises of this process that were rejected, and nothing handled it.',
    options.unhandledRejections ?? (() => 0),
  );
  metrics.total(
    'crier_log_lines_dropped_total',
    'Log lines that standard error did not take.',
    options.droppedLogLines ?? (() => 0),
  );
  const components: Component[] = [];
  const hurry = options.hurry ?? new AbortController().signal;
  const draining = new AbortController();
  let worker: Component | undefined;
  let gateway: StartedGateway | undefined;
  let status: 'starting' | 'ready' | 'draining' = 'starting';
  let closing: Promise<void> | undefined;
  metrics.gauge('crier_draining', '1 from SIGTERM on, else 0.', () => (status === 'draining' ? 1 : 0));
  const drain = async (wasReady: boolean) => {
    const leaving = worker?.close();
    if (wasReady) await waitUnless(hurry, config.DRAIN_DELAY_MS);
    // Clients must not wait for a Kafka that hangs: what is left of it is waited for at the very end.
    await Promise.race([leaving, delay(finishMs(config) / 4, undefined, { ref: false })]);
    for (const component of components.toReversed()) await component.close();
  };
  const close = () => {
    closing ??= drain(status === 'ready');
    status = 'draining';
    draining.abort();
    return closing;
  };
  const register: RoleServices['register'] = (component) => {
    components.push(component);
    return component;
  };

  try {
    register(new GarbageCollections(metrics).start());
    const loader = options.graph ?? new GraphLoader(config.GRAPH || BUILT_IN_GRAPH);
    // A module of the graph may wait for ever.
    const first = (await orAborted(loader.load(), options.stop, () => new StoppedError()))!;
    const problems = graphProblems(config, first);
    if (problems.length > 0) throw new GraphError(problems.join('\n'));
    for (const { message } of [...config.unknownVariables, ...findUnknownBackends(config.backends.keys(), first)])
      log.warn(message);
    for (const warning of kafkaWarnings(config)) log.warn(warning);
    for (const warning of first.warnings) log.warn({ graph: first.name }, warning);
    const graph = new Versioned(first);
    const reloads = new GraphReloads({
      loader,
      graph,
      config,
      log,
      metrics,
      draining: draining.signal,
      onReload: options.onReload,
    });
    const details: Record<string, () => unknown> = {
      graph: () => graph.current.name,
      graph_revision: () => graph.current.revision,
    };
    const readiness = () => Object.fromEntries(Object.entries(details).map(([name, read]) => [name, read()]));
    const lag = register(new LoopLag(config.MAX_LOOP_LAG_MS)).start();
    const reasons = new Map([['loop_lag', () => lag.isLate]]);
    const unreadyWhile: GatewayServices['unreadyWhile'] = (reason, isTrue) => void reasons.set(reason, isTrue);
    const unreadyReasons = () => [...reasons].flatMap(([reason, isTrue]) => (isTrue() ? [reason] : []));
    const profiling = new Profiling({ log, lagMs: () => lag.lagMs, beforeLongTurn: options.beforeLongTurn });
    const routes = new Map<string, Route>([
      ...healthRoutes({ status: () => status, unreadyReasons, details: readiness, lag }),
      ['/metrics', metricsRoute(metrics.registry)],
      ['/admin/reload', RELOAD_WHILE_STARTING],
      ...profiling.routes,
    ]);
    const admin = register(
      new AdminServer({
        host: config.ADMIN_HOST,
        port: config.ADMIN_PORT,
        token: config.ADMIN_TOKEN,
        logger: log,
        routes,
        draining: draining.signal,
      }),
    );
    if (config.process !== undefined) routes.set(METRICS_PATH, familiesRoute(metrics.registry));
    await admin.start();
    options.onAdmin?.(admin.port);
    const live = openLive({
      config,
      log,
      metrics,
      graph: first,
      register,
      status: () => {
        const reasons = status === 'ready' ? unreadyReasons() : [];
        return { status: reasons.length > 0 ? 'overloaded' : status, problems: problemsOf(reasons, readiness()) };
      },
      loopLagMs: () => lag.lagMs,
      tallies: () => gateway?.tallies,
    });
    for (const [path, route] of live.routes) routes.set(path, route);
    const tunables = await startTunables({ config, log, metrics, register });
    routes.set('/debug/tunables', tunablesRoute(tunables));
    const memory = startMemoryGuard({ config, tunables, log, metrics, register });
    const tracing = await openTracing({ config, tunables, log, metrics, register });
    const bus = await openBus({ config, log, metrics, register });
    await bus.start();
    details['bus'] = () => (bus.isAvailable ? 'available' : 'away');
    details['away_servers'] = () => bus.awayServers;

    const services: GatewayServices = {
      config,
      tunables,
      graph,
      bus,
      embedded: config.isEmbedded ? new EmbeddedTopics({ isFed: options.isFed ?? false }) : undefined,
      log,
      metrics,
      tracing,
      details,
      register,
      memory,
      isLoopLate: () => lag.isLate,
      draining: draining.signal,
      hurry,
      unreadyWhile,
      routes,
      live,
    };
    if (config.KAFKA_BROKERS.length > 0) {
      const { KafkaAccess } = await import('./kafka/access/kafka-access.ts');
      await register(KafkaAccess.of(config)).open(log);
    }
    if (config.ROLE === 'gateway' && first.bindings.size > 0) {
      const { WorkerWatch } = await import('./server/worker-watch.ts');
      const watch = register(new WorkerWatch({ bus, log, metrics, messages: () => gateway?.workerMessages() ?? 0 }));
      watch.start();
      details['publishing_group'] = () => watch.group ?? null;
    }
    if (config.ROLE !== 'worker') {
      const { startGateway } = await import('./server/gateway.ts');
      gateway = await startGateway(services, options.isListening ?? true);
    }
    const port = gateway?.port;
    if (config.ROLE !== 'gateway') {
      const { createWorker } = await import('./server/worker.ts');
      const started = await createWorker(services, options.onFatal);
      worker = started;
      components.unshift(started);
      if (options.stop?.aborted) await started.close();
      options.stop?.addEventListener('abort', () => void started.close(), { once: true });
      await started.start();
    }
    // Last: a pod that starts loads its graph anyway.
    const reloadPods = await openReload(services, reloads, routes);
    if (!options.stop?.aborted) status = 'ready';
    const { port: adminPort } = admin;
    return {
      port,
      adminPort,
      httpServer: gateway?.httpServer,
      settled: async () => gateway?.settled(),
      embedded: services.embedded,
      get graph() {
        return graph.current;
      },
      reload: () => reloads.reload(),
      reloadPods,
      close,
      banner: banner({
        version: readVersion(),
        config,
        graphName: first.name,
        port,
        adminPort,
        hasSamples: first.samples !== undefined,
        operation: exampleOperation(first),
      }),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Resolves after `ms`, or at once when the signal is aborted. */
async function waitUnless(signal: AbortSignal, ms: number): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined);
}
