import { Backends } from '../context/backends.ts';
import type { BackendAnswer } from '../context/backends.ts';
import { SampleBackends } from '../embedded/sample-backends.ts';
import { LogWindow } from '../log.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RoleServices } from './services.ts';

const LOG_WINDOW_MS = 10_000;

/** The graph's backends. In the embedded mode, the samples respond for backends without a URL. */
export async function openBackends({ config, graph, log, metrics, register }: RoleServices): Promise<Backends> {
  const names = graph.context.backends ?? [];
  const samples = config.isEmbedded ? graph.samples : undefined;
  const sampled = samples?.respond
    ? await register(new SampleBackends({ names, respond: samples.respond.bind(samples), log })).start()
    : [];
  const backends = register(
    new Backends({
      backends: new Map([...sampled, ...config.backends]),
      maxSockets: config.BACKEND_MAX_SOCKETS,
      timeoutMs: config.BACKEND_TIMEOUT_MS,
      onAnswer: backendReporter(log, metrics),
    }),
  );
  metrics.gauges(
    'crier_backend_requests_waiting',
    'Requests that wait because all BACKEND_MAX_SOCKETS sockets of their backend are in use.',
    ['backend'],
    () => Array.from(backends.waiting(), ([backend, value]) => ({ labels: { backend }, value })),
  );
  return backends;
}

/** Counts each backend request, and logs failures: one line per backend, outcome and window. */
function backendReporter(log: Logger, metrics: Metrics): (answer: BackendAnswer) => void {
  const window = new LogWindow(LOG_WINDOW_MS);
  return (answer) => {
    const { backend, outcome } = answer;
    metrics.backendRequests.inc({ backend, outcome });
    if (outcome === 'OK') return;
    window.run(`${backend} ${outcome}`, (suppressed) =>
      log.warn({ ...answer, suppressed }, 'a backend request failed'),
    );
  };
}
