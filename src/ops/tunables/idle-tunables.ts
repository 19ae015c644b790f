import type { Config } from '../../config/config.ts';
import { takesRatio } from '../../config/record-sampler.ts';
import { exportersOf, registeredProvider } from '../tracing/span-target.ts';
import type { TunableName } from './tunable-values.ts';

/** The tunable settings that change nothing in a pod of this configuration, each with the reason. */
export function idleTunables(config: Config): ReadonlyMap<string, string> {
  const reason = unsampledReason(config);
  const name: TunableName = 'OTEL_TRACES_SAMPLER_ARG';
  return new Map(reason === undefined ? [] : [[name, reason]]);
}

/** Why chance samples no record of this pod. */
function unsampledReason(config: Config): string | undefined {
  const { names } = config;
  if (config.OTEL_SDK_DISABLED) return `no effect, because ${names.OTEL_SDK_DISABLED}=true: nothing is traced`;
  if (exportersOf(config).length === 0 && !registeredProvider()) {
    return `no effect, because this pod has no exporter of spans (${names.OTEL_TRACES_EXPORTER}, ${names.OTEL_EXPORTER_OTLP_ENDPOINT})`;
  }
  if (config.ROLE === 'gateway') return `no effect with ${names.ROLE}=gateway: workers decide which records are traced`;
  const sampler = config.OTEL_TRACES_SAMPLER;
  return takesRatio(sampler) ? undefined : `no effect with ${names.OTEL_TRACES_SAMPLER}=${sampler}`;
}
