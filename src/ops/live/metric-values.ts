import type { Registry } from 'prom-client';

/** A series of a metric, as prom-client and crier's histograms return it. */
interface Series {
  readonly value: number;
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
}

/** Observations up to each bound, ascending; the last bound is infinite. */
export type Distribution = readonly { readonly bound: number; readonly count: number }[];

/**
 * Metrics of this process, read when they are asked for. It must not read those that begin anew with each scrape: `nodejs_eventloop_lag_*`
 * and `crier_event_loop_utilization_ratio`.
 */
export class MetricValues {
  readonly #registry: Pick<Registry, 'getSingleMetric'>;

  constructor(registry: Pick<Registry, 'getSingleMetric'>) {
    this.#registry = registry;
  }

  /** The sum of a metric's series; null if this role has no such metric, or a value is unknown. */
  async sum(name: string): Promise<number | null> {
    const series = await this.#seriesOf(name);
    if (!series) return null;
    const sum = series.reduce((total, { value }) => total + value, 0);
    return Number.isFinite(sum) ? sum : null;
  }

  /** A histogram without labels of its own; null if this role has none. */
  async distribution(name: string): Promise<Distribution | null> {
    const series = await this.#seriesOf(name);
    if (!series) return null;
    return series
      .filter(({ metricName }) => metricName === `${name}_bucket`)
      .map(({ labels, value }) => ({ bound: labels['le'] === '+Inf' ? Infinity : Number(labels['le']), count: value }));
  }

  async #seriesOf(name: string): Promise<readonly Series[] | undefined> {
    const metric = this.#registry.getSingleMetric(name);
    return metric && (await metric.get()).values;
  }
}

/** The value that a share of the observations between two readings does not exceed, interpolated in its bucket; null without observations. */
export function quantile(share: number, now: Distribution, before: Distribution): number | null {
  const counts = now.map(({ bound, count }, i) => ({ bound, count: count - (before[i]?.count ?? 0) }));
  const total = counts.at(-1)?.count ?? 0;
  if (total <= 0) return null;
  const rank = share * total;
  const at = counts.findIndex(({ count }) => count >= rank);
  const lower = counts[at - 1] ?? { bound: 0, count: 0 };
  const { bound, count } = counts[at]!;
  if (bound === Infinity) return lower.bound;
  return lower.bound + ((bound - lower.bound) * (rank - lower.count)) / (count - lower.count);
}
