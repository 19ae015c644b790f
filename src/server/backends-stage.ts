import { Backends } from '../graph/context/backends.ts';
import type { BackendsObserver } from '../graph/context/backends.ts';
import { backendCounts, observePressure } from '../graph/context/backend-metrics.ts';
import { SampleBackends } from '../graph/embedded/sample-backends.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { LogWindow } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { BackendConfig } from '../config/backend-settings.ts';
import { shareOf } from '../config/processes.ts';
import type { RoleServices } from './services.ts';

const LOG_WINDOW_MS = 10_000;

/** The graph's backends. In the embedded mode, the samples respond for backends without a URL. */
export async function openBackends(services: RoleServices): Promise<Backends> {
  const { config, tunables, graph, log, metrics, details, register } = services;
  const samples = register(new SampleBackends({ log }));
  /** What a graph calls; those that the former graph called as well, until nothing of it runs any more. */
  const configs = new Map<string, BackendConfig>();
  const sampledBy = async (of: Graph) => {
    const respond = config.isEmbedded ? of.samples?.respond?.bind(of.samples) : undefined;
    return respond && { respond, urls: await samples.urlsOf(of.context.backends ?? []) };
  };
  const call = (sampled: Awaited<ReturnType<typeof sampledBy>>) => {
    if (sampled) samples.respond = sampled.respond;
    for (const [name, backend] of [...(sampled?.urls ?? []), ...config.backends]) configs.set(name, backend);
  };
  const first = await sampledBy(graph.current);
  call(first);
  graph.derive(first, { open: sampledBy, serve: call });
  const observer = createObserver(graph.current.context.backends ?? [], log, metrics);
  graph.onServe(({ context }) => observer.addNames(context.backends ?? []));
  const backends = register(
    new Backends({
      backends: configs,
      names: config.names,
      maxSockets: () => shareOf(tunables.values.BACKEND_MAX_SOCKETS, config),
      timeoutMs: config.BACKEND_TIMEOUT_MS,
      retryBudget: config.BACKEND_RETRY_BUDGET,
      breakerCooldownMs: config.BACKEND_BREAKER_COOLDOWN_MS,
      observer,
    }),
  );
  // Those of the embedded mode by their first request: most runs of it make none.
  if (config.backends.size > 0) await backends.load();
  observePressure(metrics, backends);
  details['failing_backends'] = () =>
    Array.from(backends.pressure()).flatMap(([name, { breaker }]) => (breaker === 'closed' ? [] : [name]));
  return backends;
}

/**
 * Counts requests and retries, and logs failures (one line per backend, outcome and window) and circuit breakers: the first opening and the
 * recovery at once, probes and further openings once per window.
 */
function createObserver(
  names: readonly string[],
  log: Logger,
  metrics: Metrics,
): BackendsObserver & { addNames(names: readonly string[]): void } {
  const window = new LogWindow(LOG_WINDOW_MS);
  const { requests, retries, seconds } = backendCounts(metrics, names);
  return {
    addNames: (more) => seconds.addLabelValues(more),
    onAnswer: ({ isSent, ...answer }) => {
      const { backend, outcome, durationMs } = answer;
      requests.inc({ backend, outcome });
      if (isSent) seconds.of(backend).observe(durationMs / 1000);
      if (outcome === 'OK') return;
      window.run(`${backend} ${outcome}`, (suppressed) =>
        log.warn({ ...answer, suppressed }, 'a backend request failed'),
      );
    },
    onRetry: (backend, outcome) => retries.inc({ backend, outcome }),
    onBreaker: (backend, breaker) => {
      if (breaker === 'closed') {
        window.end(`${backend} open`);
        return log.info({ backend, breaker }, 'a backend answers again');
      }
      window.run(`${backend} ${breaker}`, (suppressed) => {
        const facts = { backend, breaker, suppressed };
        if (breaker === 'half_open') log.info(facts, 'a probe is sent to a backend');
        else log.error(facts, 'a backend fails: requests to it are refused until a probe succeeds');
      });
    },
  };
}
