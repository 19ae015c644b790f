import type { Server as HttpServer } from 'node:http';
import type { ReloadReport } from './ops/admin/reload-route.ts';
import { announcementOf } from './config/announcement.ts';
import type { Announcement, AnnouncementOptions } from './config/announcement.ts';
import { BUILT_IN_GRAPH } from './config/built-in-graph.ts';
import type { Config } from './config/config.ts';
import { OperationTallies } from './graph/documents/operation-tallies.ts';
import { EmbeddedTopics } from './graph/embedded/embedded-topics.ts';
import { StoppedError } from './base/errors.ts';
import type { Graph } from './graph/graph-parts.ts';
import { exampleOperation } from './graph/schema/example-operation.ts';
import { GraphLoader } from './graph/loading/load.ts';
import { LoopLag } from './gateway/http/loop-lag.ts';
import type { Logger } from './base/log.ts';
import { orAborted } from './base/or-aborted.ts';
import { kafkaWarnings } from './config/kafka-problems.ts';
import { startMemoryGuard } from './server/memory-guard-stage.ts';
import { Metrics } from './ops/metrics/metrics.ts';
import { GarbageCollections } from './ops/metrics/garbage-collections.ts';
import { observeProcess } from './ops/metrics/process-metrics.ts';
import type { StartedGateway } from './server/gateway-stage.ts';
import { openAdminPort } from './server/admin-port.ts';
import type { AdminPort } from './server/admin-port.ts';
import { openLive } from './server/live.ts';
import { openBus } from './server/bus-stage.ts';
import { checkGraph } from './server/graph-problems.ts';
import { GraphReloads } from './server/graph-reloads.ts';
import type { ReloadOutcome } from './server/graph-reloads.ts';
import { Lifecycle } from './server/lifecycle.ts';
import { Readiness } from './server/readiness.ts';
import type { GatewayServices, RoleServices } from './server/services.ts';
import { openReload } from './server/reload.ts';
import { openTracing } from './server/tracing-stage.ts';
import { startTunables } from './server/tunables-stage.ts';
import { Versioned } from './server/versioned.ts';
import { tunablesRoute } from './ops/tunables/tunables-route.ts';
import { readVersion } from './base/version.ts';

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
  readonly announcement: Announcement;
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
  readonly fastShutdown?: AbortSignal;
  /** Called before crier's own code blocks the event loop for long, in the same turn. */
  readonly beforeLongTurn?: () => void;
  /** Called when the admin port is listened on, before the pod is ready. */
  readonly onAdmin?: (port: number) => void;
  /** Lines that the reader of the log did not take, since the start. */
  readonly droppedLogLines?: () => number;
}

/** What each stage of the start uses. */
interface StartServices {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
}

/**
 * Puts crier together: started top to bottom, closed bottom to top. So the worker, started last, leaves the consumer group
 * first: other pods publish on while this one's sockets are served for DRAIN_DELAY_MS, and then closed.
 *
 * @throws SetupError for what a person has to fix; whatever was started is closed again.
 * @throws StoppedError if `stop` is aborted while the graph is loaded.
 */
export async function startServer(config: Config, log: Logger, options: ServerOptions): Promise<Server> {
  const metrics = new Metrics();
  const lifecycle = new Lifecycle(config, options.fastShutdown ?? new AbortController().signal);
  observeServer({ config, log, metrics, lifecycle }, options);
  try {
    return await openServer({ config, log, metrics, lifecycle }, options);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

function observeServer({ config, metrics, lifecycle }: StartServices, options: ServerOptions): void {
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
  metrics.gauge('crier_draining', '1 from SIGTERM on, else 0.', () => (lifecycle.status === 'draining' ? 1 : 0), 'max');
}

async function openServer(start: StartServices, options: ServerOptions): Promise<Server> {
  const { config, lifecycle } = start;
  lifecycle.register(new GarbageCollections(start.metrics).start());
  const loader = options.graph ?? new GraphLoader(config.GRAPH || BUILT_IN_GRAPH, config.names.GRAPH);
  const graph = new Versioned(await loadGraph(start, loader, options.stop));
  const { draining } = lifecycle;
  const reloads = new GraphReloads({ ...start, loader, graph, draining, onReload: options.onReload });
  const readiness = new Readiness();
  readiness.details['graph'] = () => graph.current.name;
  readiness.details['graph_revision'] = () => graph.current.revision;
  const lag = lifecycle.register(new LoopLag(config.MAX_LOOP_LAG_MS)).start();
  readiness.unreadyWhile('loop_lag', () => lag.isLate);
  const admin = await openAdminPort({ ...start, readiness, lag, beforeLongTurn: options.beforeLongTurn });
  options.onAdmin?.(admin.port);
  const services = await openServices(start, { graph, readiness, lag, admin, isFed: options.isFed ?? false });
  const gateway = await openGateway(services, options);
  await openWorker(services, lifecycle, options);
  // Last: a pod that starts loads its graph anyway.
  const reloadPods = await openReload(services, reloads, admin.routes);
  if (!options.stop?.aborted) lifecycle.setReady();
  const { port, httpServer } = gateway ?? {};
  return {
    port,
    adminPort: admin.port,
    httpServer,
    settled: async () => gateway?.settled(),
    embedded: services.embedded,
    get graph() {
      return graph.current;
    },
    reload: () => reloads.reload(),
    reloadPods,
    close: lifecycle.close,
    announcement: announce(config, graph.current, { port, adminPort: admin.port }),
  };
}

/** Loads the graph that is served first. Logs what a person should fix in it, and in the settings. */
async function loadGraph(
  { config, log }: StartServices,
  loader: Pick<GraphLoader, 'load'>,
  stop: AbortSignal | undefined,
): Promise<Graph> {
  // A module of the graph may wait for ever.
  const graph = (await orAborted(loader.load(), stop, () => new StoppedError()))!;
  for (const { message } of config.unknownVariables) log.warn(message);
  checkGraph(config, graph, log);
  for (const warning of kafkaWarnings(config)) log.warn(warning);
  return graph;
}

/** What both roles run on, once the operators' port is listened on. */
interface PodParts {
  readonly graph: Versioned<Graph>;
  readonly readiness: Readiness;
  readonly lag: LoopLag;
  readonly admin: AdminPort;
  readonly isFed: boolean;
}

/** Opens what both roles use: tunables, tracing, the bus, access to Kafka. */
async function openServices(start: StartServices, pod: PodParts): Promise<GatewayServices> {
  const { config, log, metrics, lifecycle } = start;
  const { register, draining, fastShutdown } = lifecycle;
  const { graph, readiness, lag, admin } = pod;
  const { details, unreadyWhile } = readiness;
  const tallies = new OperationTallies();
  const live = openLive({ ...start, graph: graph.current, readiness, lag, tallies });
  for (const [path, route] of live.routes) admin.routes.set(path, route);
  const tunables = await startTunables({ config, log, metrics, register });
  admin.routes.set('/debug/tunables', tunablesRoute(tunables));
  const memory = startMemoryGuard({ config, tunables, log, metrics, register });
  const tracing = await openTracing({ config, tunables, log, metrics, register });
  const bus = await openBus({ config, log, metrics, register });
  await bus.start();
  details['bus'] = () => (bus.isAvailable ? 'available' : 'away');
  details['away_servers'] = () => bus.awayServers;
  if (config.KAFKA_BROKERS.length > 0) {
    const { KafkaAccess } = await import('./kafka/client/access/kafka-access.ts');
    await register(KafkaAccess.of(config)).open(log);
  }
  return {
    config,
    tunables,
    graph,
    bus,
    embedded: config.isEmbedded ? new EmbeddedTopics({ isFed: pod.isFed }) : undefined,
    log,
    metrics,
    tracing,
    details,
    register,
    memory,
    isLoopLate: () => lag.isLate,
    draining,
    fastShutdown,
    unreadyWhile,
    routes: admin.routes,
    live,
    tallies,
  };
}

/** undefined with ROLE=worker. */
async function openGateway(
  services: GatewayServices,
  { isListening = true }: ServerOptions,
): Promise<StartedGateway | undefined> {
  if (services.config.ROLE === 'worker') return undefined;
  const { startGateway } = await import('./server/gateway-stage.ts');
  return startGateway(services, isListening);
}

/**
 * Starts the worker, unless ROLE=gateway. Resolves once it is a member of its group, or `stop` is aborted. What only a new process can help with is
 * thrown until then.
 */
async function openWorker(
  services: RoleServices,
  lifecycle: Lifecycle,
  { stop, onFatal }: ServerOptions,
): Promise<void> {
  if (services.config.ROLE === 'gateway') return;
  const { createWorker } = await import('./server/worker-stage.ts');
  let onFailure = onFatal;
  const worker = await createWorker(services, (error) => onFailure(error));
  lifecycle.registerWorker(worker);
  if (stop?.aborted) await worker.close();
  stop?.addEventListener('abort', () => void worker.close(), { once: true });
  await new Promise<void>((resolve, reject) => {
    onFailure = reject;
    Promise.resolve(worker.start()).then(() => {
      onFailure = onFatal;
      resolve();
    }, reject);
  });
}

function announce(config: Config, graph: Graph, ports: Pick<AnnouncementOptions, 'port' | 'adminPort'>): Announcement {
  return announcementOf({
    version: readVersion(),
    config,
    graphName: graph.name,
    ...ports,
    hasSamples: graph.samples !== undefined,
    operation: exampleOperation(graph),
  });
}
