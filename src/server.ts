import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { banner } from './banner.ts';
import type { Config } from './config.ts';
import { exampleOperation } from './graph/schema/example-operation.ts';
import { loadGraph } from './graph/loading/load.ts';
import { AdminServer } from './http/admin.ts';
import { healthRoutes } from './http/health.ts';
import { LoopLag } from './http/loop-lag.ts';
import { KafkaConsumer } from './kafka/consumer.ts';
import type { Logger } from './log.ts';
import { metricsRoute } from './metrics/metrics-route.ts';
import { Metrics } from './metrics/metrics.ts';
import { observeProcess } from './metrics/process-metrics.ts';
import { Profiling } from './profiling/profiling-routes.ts';
import { startGateway } from './roles/gateway.ts';
import { createBus } from './roles/bus.ts';
import type { Component, RoleServices } from './roles/services.ts';
import { openTracing } from './roles/tracing.ts';
import { startTunables } from './roles/tunables.ts';
import { createWorker } from './roles/worker.ts';
import { findUnknownBackends } from './settings/unknown-backends.ts';
import { tunablesRoute } from './tunables/tunables-route.ts';

const BUILT_IN_GRAPH = join(import.meta.dirname, 'graphs', 'auction');

export interface Server {
  /** Of the endpoint; undefined with ROLE=worker. */
  readonly port: number | undefined;
  readonly adminPort: number;
  /** What a person should read on standard output. */
  readonly banner: string;
  /** Drains and releases everything, bottom to top. Idempotent. */
  close(): Promise<void>;
}

export interface ServerOptions {
  /** Only a new process can help. Called at most once. */
  readonly onFatal: (error: Error) => void;
  /** Rejections of this process that nothing handled, so far. */
  readonly unhandledRejections?: () => number;
  /** Once aborted, the start does not wait for Kafka any longer: the server that it resolves with is there to be closed. */
  readonly stop?: AbortSignal;
  /** Lines that the reader of the log did not take, since the start. */
  readonly droppedLogLines?: () => number;
}

/**
 * Puts crier together: started top to bottom, closed bottom to top. So the worker, started last, leaves the consumer group
 * first: other pods publish on while this one's sockets are closed.
 *
 * @throws SetupError for what a person has to mend; whatever was started is closed again.
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
  let status: 'starting' | 'ready' | 'draining' = 'starting';
  let closing: Promise<void> | undefined;
  const close = () => {
    status = 'draining';
    return (closing ??= closeAll(components));
  };
  const register: RoleServices['register'] = (component) => {
    components.push(component);
    return component;
  };

  try {
    const graph = await loadGraph(config.GRAPH || BUILT_IN_GRAPH);
    for (const { message } of [...config.unknownVariables, ...findUnknownBackends(config.backends.keys(), graph)])
      log.warn(message);
    for (const warning of graph.warnings) log.warn({ graph: graph.name }, warning);
    const details: Record<string, () => unknown> = { graph: () => graph.name };
    const readiness = () => Object.fromEntries(Object.entries(details).map(([name, read]) => [name, read()]));
    const lag = register(new LoopLag()).start();
    const profiling = new Profiling({ log, lagMs: () => lag.lagMs });
    const routes = new Map([
      ...healthRoutes({ status: () => status, details: readiness, lag }),
      ['/metrics', metricsRoute(metrics.registry)],
      ...profiling.routes,
    ]);
    const admin = register(
      new AdminServer({
        host: config.ADMIN_HOST,
        port: config.ADMIN_PORT,
        logger: log,
        routes,
      }),
    );
    await admin.start();
    const tunables = await startTunables({ config, log, metrics, register });
    routes.set('/debug/tunables', tunablesRoute(tunables));
    const tracing = await openTracing({ config, log, metrics, register });
    const bus = register(createBus(config, log, metrics));
    await bus.start();
    details['bus'] = () => (bus.isAvailable ? 'available' : 'away');

    const services: RoleServices = { config, tunables, graph, bus, log, metrics, tracing, details, register };
    const port = config.ROLE === 'worker' ? undefined : await startGateway(services);
    if (config.ROLE !== 'gateway') {
      const worker = createWorker(services, options.onFatal);
      // First, but clients must not wait for a Kafka that hangs: what is left of it is waited for at the very end.
      components.unshift(worker);
      register({
        close: () => Promise.race([worker.close(), delay(config.SHUTDOWN_TIMEOUT_MS / 4, undefined, { ref: false })]),
      });
      if (options.stop?.aborted) await worker.close();
      options.stop?.addEventListener('abort', () => void worker.close(), { once: true });
      if (worker instanceof KafkaConsumer) {
        details['kafka'] = () => (worker.isConnected ? 'connected' : 'away');
        details['missing_topics'] = () => worker.missingTopics;
        details['waiting_partitions'] = () => worker.waits;
      }
      await worker.start();
    }
    status = 'ready';
    const { port: adminPort } = admin;
    return {
      port,
      adminPort,
      close,
      banner: banner({ config, graphName: graph.name, port, adminPort, operation: exampleOperation(graph) }),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function closeAll(components: readonly Component[]): Promise<void> {
  for (const component of components.toReversed()) await component.close();
}
