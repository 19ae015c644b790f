import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { TracerProvider } from '@opentelemetry/api';
import { LogWindow } from '../base/log.ts';
import { openSampler } from '../ops/tracing/sampling.ts';
import { startSdk } from '../ops/tracing/sdk.ts';
import { EXPORTERS, collectorOf, exportersOf, registeredProvider } from '../ops/tracing/span-target.ts';
import { observeTracing } from '../ops/tracing/tracing-metrics.ts';
import type { Tracing } from '../ops/tracing/tracing.ts';
import { readVersion } from '../base/version.ts';
import type { RoleServices } from './services.ts';

const LOG_WINDOW_MS = 60_000;
/** Longest wait for the collector when the server closes. */
const MAX_FLUSH_MS = 2000;

type TracingServices = Pick<RoleServices, 'config' | 'tunables' | 'log' | 'metrics' | 'register'>;

/**
 * undefined: nothing is traced, and no SDK is loaded. Otherwise spans go to the provider that an embedding program, or code that Node has
 * preloaded, has registered with OpenTelemetry's API; without one to an SDK of this server's own, which the API does not know of: two
 * servers can run in one process.
 */
export async function openTracing(services: TracingServices): Promise<Tracing | undefined> {
  const { config, metrics } = services;
  const losses = { spans: 0 };
  const provider = config.OTEL_SDK_DISABLED ? undefined : (registeredProvider() ?? (await openSdk(services, losses)));
  const spans = provider && new (await import('../ops/tracing/spans.ts')).Spans(provider.getTracer('crier'));
  observeTracing(metrics, spans?.budget, losses);
  return spans && { spans, sampler: openSampler(services) };
}

async function openSdk(
  { config, log, register }: TracingServices,
  losses: { spans: number },
): Promise<TracerProvider | undefined> {
  const unknown = config.OTEL_TRACES_EXPORTER.filter((name) => ![...EXPORTERS, 'none'].includes(name));
  if (unknown.length > 0)
    log.warn({ exporters: unknown }, `${config.names.OTEL_TRACES_EXPORTER}: expected otlp, console or none`);
  const exporters = exportersOf(config);
  if (exporters.length === 0) return undefined;
  const window = new LogWindow(LOG_WINDOW_MS);
  const sdk = await startSdk({
    exporters,
    url: collectorOf(config),
    resource: {
      'service.name': 'crier',
      'service.version': readVersion(),
      'host.name': hostname(),
      'crier.role': config.ROLE,
    },
    onFailure: ({ message }, spans) => {
      losses.spans += spans;
      window.run('export', (suppressed) =>
        log.warn({ err: { message }, spans, suppressed }, 'spans could not be exported'),
      );
    },
  });
  // The exporter reports its failures itself. A collector that hangs must not keep the server from closing.
  const flushed = () => sdk.shutdown().catch(() => undefined);
  register({ close: () => Promise.race([flushed(), delay(MAX_FLUSH_MS, undefined, { ref: false })]) });
  return sdk.provider;
}
