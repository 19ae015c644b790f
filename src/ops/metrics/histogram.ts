import { Buckets } from './buckets.ts';

/** From a tenth of a millisecond to a minute, in seconds. */
const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
] as const;

/** What a value of a label is called if it is not one of the histogram's. */
const OTHER = 'other';

export interface HistogramOptions {
  readonly name: `crier_${string}` | 'nodejs_gc_duration_seconds';
  readonly help: string;
  /** Upper bounds of the buckets, ascending, without +Inf. Default: `SECONDS`. */
  readonly bounds?: readonly number[];
  readonly labelName?: string;
  /** The values of the label, until others are added; every other value is counted as `other`. Without a label name: none. */
  readonly labelValues?: readonly string[];
}

/** A sample, as prom-client's registry prints it. */
interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly exemplar?: object | undefined;
}

/**
 * A histogram of prom-client's registry, for the path of an event: an observation takes a few ns and allocates nothing, where prom-client's
 * own takes an object and a hash of its labels. It has one label at most, whose values are bounded.
 */
export class Histogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  /** One at most. */
  readonly labelNames: readonly string[];
  readonly #bounds: readonly number[];
  readonly #labelValues: Set<string>;
  readonly #buckets = new Map<string, Buckets>();

  constructor({ name, help, bounds = SECONDS, labelName, labelValues = [] }: HistogramOptions) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
    this.labelNames = labelName === undefined ? [] : [labelName];
    this.#labelValues = new Set(labelValues);
  }

  /** Further values of the label. */
  addLabelValues(values: Iterable<string>): void {
    for (const value of values) this.#labelValues.add(value);
  }

  /** The series of a label's value, which exists from then on. Keep it: this looks it up. */
  of(labelValue = ''): Buckets {
    const value = this.labelNames.length === 0 ? '' : this.#labelValues.has(labelValue) ? labelValue : OTHER;
    let buckets = this.#buckets.get(value);
    if (!buckets) this.#buckets.set(value, (buckets = new Buckets(this.#bounds)));
    return buckets;
  }

  /** For the registry. */
  get(): Promise<object> {
    const { name, help, type } = this;
    const values = [...this.#buckets].flatMap(([value, buckets]) => this.#samplesOf(value, buckets));
    return Promise.resolve({ name, help, type, values, aggregator: 'sum' });
  }

  /** For the registry. */
  reset(): void {
    for (const buckets of this.#buckets.values()) buckets.reset();
  }

  #samplesOf(value: string, buckets: Buckets): Sample[] {
    const labels = Object.fromEntries(this.labelNames.map((name) => [name, value]));
    const samples: Sample[] = buckets.cumulative().map((count, i) => ({
      metricName: `${this.name}_bucket`,
      labels: { ...labels, le: this.#bounds[i] ?? '+Inf' },
      value: count,
      exemplar: buckets.exemplars[i],
    }));
    samples.push({ metricName: `${this.name}_sum`, labels, value: buckets.sum });
    samples.push({ metricName: `${this.name}_count`, labels, value: buckets.count });
    return samples;
  }
}
