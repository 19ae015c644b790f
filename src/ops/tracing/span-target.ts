import { createRequire } from 'node:module';
import type * as OpenTelemetry from '@opentelemetry/api';
import type { ProxyTracerProvider, TracerProvider } from '@opentelemetry/api';
import type { Config } from '../../config/config.ts';

export const EXPORTERS = ['otlp', 'console'] as const;

export type ExporterName = (typeof EXPORTERS)[number];

type TargetConfig = Pick<Config, 'OTEL_TRACES_EXPORTER' | 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'tracesEndpoint'>;

/** Where each copy of OpenTelemetry's API of version 1 keeps what programs register. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** The provider that an embedding program, or code that Node has preloaded, has registered with OpenTelemetry's API. */
export function registeredProvider(): TracerProvider | undefined {
  if (!(REGISTRY in globalThis)) return undefined;
  const { trace } = createRequire(import.meta.url)('@opentelemetry/api') as typeof OpenTelemetry;
  const provider = trace.getTracerProvider() as ProxyTracerProvider;
  return provider.getDelegateTracer('crier') ? provider : undefined;
}

/** The exporters of an SDK of this server's own; without one, no SDK is loaded. */
export function exportersOf(config: TargetConfig): ExporterName[] {
  const names = config.OTEL_TRACES_EXPORTER;
  if (names.length === 0) return collectorOf(config) === undefined ? [] : ['otlp'];
  return EXPORTERS.filter((name) => names.includes(name));
}

/** URL of the OTLP collector, with its path; undefined: none is named. */
export function collectorOf({ OTEL_EXPORTER_OTLP_ENDPOINT: base, tracesEndpoint }: TargetConfig): string | undefined {
  if (tracesEndpoint !== '') return tracesEndpoint;
  return base === '' ? undefined : `${base.replace(/\/$/, '')}/v1/traces`;
}
