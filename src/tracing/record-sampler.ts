import type { TraceContext } from './trace-context.ts';

/** Share of the records without a context that are sampled by default. OpenTelemetry's default, every one, is a flood. */
const DEFAULT_RATIO = 0.001;

/** Decides once for each record whether it is traced. */
export class RecordSampler {
  /** Share of the records that chance decides on. Read for each record: it may be changed at any time. */
  ratio: number;
  /** True: a record with a trace context is sampled if its producer sampled it. */
  readonly isParentBased: boolean;

  constructor(ratio = DEFAULT_RATIO, isParentBased = true) {
    this.ratio = ratio;
    this.isParentBased = isParentBased;
  }

  isSampled(parent: TraceContext | undefined): boolean {
    if (parent !== undefined && this.isParentBased) return parent.isSampled;
    return Math.random() < this.ratio;
  }
}

/**
 * The sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name; '' for the first: parent-based with the ratio 0.001.
 * undefined: crier does not know it.
 */
export function samplerNamed(name: string, argument: string): RecordSampler | undefined {
  const given = argument === '' ? undefined : Number(argument);
  if (given !== undefined && !(given >= 0 && given <= 1)) return undefined;
  const isParentBased = name === '' || name.startsWith('parentbased_');
  switch (name.replace(/^parentbased_/, '')) {
    case '':
      return new RecordSampler(given);
    case 'always_on':
      return new RecordSampler(1, isParentBased);
    case 'always_off':
      return new RecordSampler(0, isParentBased);
    case 'traceidratio':
      return new RecordSampler(given ?? 1, isParentBased);
    default:
      return undefined;
  }
}
