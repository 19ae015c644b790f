import type { TraceContext } from '../base/trace-context.ts';

const PARENT_BASED = 'parentbased_';

/** Share of the records that each sampler of OTEL_TRACES_SAMPLER samples without an argument, by its name without `parentbased_`. */
const RATIOS: ReadonlyMap<string, number> = new Map([
  // OpenTelemetry's default, every record, is a flood.
  ['', 0.001],
  ['traceidratio', 1],
  ['always_on', 1],
  ['always_off', 0],
]);

/** Decides once for each record whether it is traced. */
export class RecordSampler {
  /** Share of the records that chance decides on. Read for each record: it may be changed at any time. */
  ratio: number;
  /** True: a record with a trace context is sampled if its producer sampled it. */
  readonly isParentBased: boolean;

  constructor(ratio: number, isParentBased = true) {
    this.ratio = ratio;
    this.isParentBased = isParentBased;
  }

  isSampled(parent: TraceContext | undefined): boolean {
    if (parent !== undefined && this.isParentBased) return parent.isSampled;
    return Math.random() < this.ratio;
  }
}

export function isKnownSampler(name: string): boolean {
  return RATIOS.has(baseOf(name));
}

/** True if OTEL_TRACES_SAMPLER_ARG is this sampler's ratio. Other samplers take no argument, or one of another format. */
export function takesRatio(name: string): boolean {
  return ['', 'traceidratio'].includes(baseOf(name));
}

/** The ratio without OTEL_TRACES_SAMPLER_ARG. The default sampler decides in place of an unknown one. */
export function defaultRatio(name: string): number {
  return RATIOS.get(baseOf(name)) ?? RATIOS.get('')!;
}

export function isParentBased(name: string): boolean {
  return name === '' || name.startsWith(PARENT_BASED) || !isKnownSampler(name);
}

function baseOf(name: string): string {
  return name.startsWith(PARENT_BASED) ? name.slice(PARENT_BASED.length) : name;
}
