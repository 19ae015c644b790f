import type { TracerProvider } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { ExporterName } from './span-target.ts';

/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const SUCCESS = 0;

export interface SdkOptions {
  readonly exporters: readonly ExporterName[];
  /** Of the OTLP collector, with its path; undefined: as OTEL_EXPORTER_OTLP_… name it, or http://localhost:4318/v1/traces. */
  readonly url: string | undefined;
  /** Of this process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES precede them. */
  readonly resource: Readonly<Record<string, string>>;
  /** Called for each batch of spans that is lost. */
  readonly onFailure: (error: Error, spans: number) => void;
}

export interface Sdk {
  readonly provider: TracerProvider;
  /** Exports the spans that have ended. May take as long as the collector is away. */
  shutdown(): Promise<void>;
}

/**
 * Loads OpenTelemetry's SDK, which a server without traces does not. The SDK reads its limits from OTEL_BSP_…, OTEL_SPAN_… and
 * OTEL_EXPORTER_OTLP_…; its queue is bounded (OTEL_BSP_MAX_QUEUE_SIZE). It samples every span: crier has decided before.
 */
export async function startSdk({ exporters, url, resource, onFailure }: SdkOptions): Promise<Sdk> {
  const [trace, resources, otlp] = await Promise.all([
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  const create = (name: ExporterName): SpanExporter =>
    name === 'console' ? new trace.ConsoleSpanExporter() : new otlp.OTLPTraceExporter(url === undefined ? {} : { url });
  const provider = new trace.BasicTracerProvider({
    sampler: new trace.AlwaysOnSampler(),
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes(resource))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: exporters.map((name) => new trace.BatchSpanProcessor(reporting(create(name), onFailure))),
  });
  return { provider, shutdown: () => provider.shutdown() };
}

/** The exporter, with its failures reported: the SDK hands them to its process-wide diagnostics, which nobody reads. */
function reporting(exporter: SpanExporter, onFailure: SdkOptions['onFailure']): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (Number(result.code) !== SUCCESS)
          onFailure(result.error ?? new Error('the exporter gave no reason'), spans.length);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
