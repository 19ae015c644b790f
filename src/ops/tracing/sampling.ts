import type { Logger } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { RecordSampler, isKnownSampler, isParentBased, takesRatio } from '../../config/record-sampler.ts';
import type { TunableName } from '../../config/variables.ts';
import type { TunablesRegistry } from '../tunables/tunables-registry.ts';
import { exportersOf, registeredProvider } from './span-target.ts';

export interface SamplerOptions {
  readonly config: Config;
  readonly tunables: TunablesRegistry;
  readonly log: Logger;
}

export function openSampler({ config, tunables, log }: SamplerOptions): RecordSampler {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
  if (!isKnownSampler(name))
    log.warn({ sampler: name }, `${config.names.OTEL_TRACES_SAMPLER} is unknown; the default sampler decides`);
  const sampler = new RecordSampler(ratio, isParentBased(name));
  tunables.bind('OTEL_TRACES_SAMPLER_ARG', (current) => (sampler.ratio = current));
  return sampler;
}

/** The tunable setting of the sampler with the reason, if it changes nothing in a pod of this configuration. */
export function idleSampling(config: Config): ReadonlyMap<TunableName, string> {
  const reason = unsampledReason(config);
  return new Map(reason === undefined ? [] : [['OTEL_TRACES_SAMPLER_ARG', reason]]);
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
