import type { Counter } from 'prom-client';
import type { Histogram, HistogramOptions } from './histogram.ts';
import type { Observations } from './observations.ts';
import type { Aggregator } from './prom-client.ts';

/** Prometheus's naming rules: https://prometheus.io/docs/practices/naming/ */
export type CounterName = `crier_${string}_total`;

/** A stage on the path of an event, in its order. */
export type Stage = 'fetch' | 'decode' | 'publish' | 'redis' | 'wait' | 'execute' | 'write';

export type ReadLabelled<Label extends string> = () => Iterable<{
  readonly labels: Record<Label, string>;
  readonly value: number;
}>;

/** What a counter's owner calls. */
export type Increments<Label extends string = never> = Pick<Counter<Label>, 'inc'>;

/** Where each room registers the metrics of what it counts and holds. docs/operate/metrics.md lists the names. */
export interface MetricsRegistry {
  /** Times that messages take. Each stage's series exist in the pods that have the stage. */
  readonly stages: { of(stage: Stage): Observations };
  /** A gauge whose value is read at each scrape. @param aggregator of the processes of a pod; default: `sum`, which fits amounts only */
  gauge(name: string, help: string, read: () => number, aggregator?: Aggregator): void;
  /** A gauge with labels. Each scrape reports only the label values that `read` returns. */
  gauges<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: ReadLabelled<Label>,
    aggregator?: Aggregator,
  ): void;
  /** A counter whose value is read at each scrape. */
  total(name: CounterName, help: string, read: () => number): void;
  /** A counter with labels, whose values are read at each scrape. They must never fall. */
  counter<Label extends string>(name: CounterName, help: string, labelNames: Label[], read: ReadLabelled<Label>): void;
  /** A counter that its caller increments. */
  increments<Label extends string = never>(name: CounterName, help: string, labelNames?: Label[]): Increments<Label>;
  /** A histogram, whose series appear with their first `of`. */
  histogram(options: HistogramOptions): Histogram;
}
