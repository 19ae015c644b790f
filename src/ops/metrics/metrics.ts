import type { Aggregator as OwnAggregator, Counter as CounterClass, Metric } from 'prom-client';
import { Histogram } from './histogram.ts';
import type { HistogramOptions } from './histogram.ts';
import type { CounterName, MetricsRegistry, ReadLabelled, Stage } from './metrics-registry.ts';
import { Counter, Gauge, Registry, collectDefaults } from './prom-client.ts';
import type { Aggregator } from './prom-client.ts';

const STAGES: readonly Stage[] = ['fetch', 'decode', 'publish', 'redis', 'wait', 'execute', 'write'];

/** crier's metrics, in a registry of their own: two servers can run in one process. */
export class Metrics implements MetricsRegistry {
  /** exposition.ts renders it. */
  readonly registry = new Registry();
  readonly stages = this.histogram({
    name: 'crier_stage_seconds',
    help: 'Time that messages take from a Kafka record to the sockets, by stage; docs/operate/metrics.md says what each of them is.',
    labelName: 'stage',
    labelValues: STAGES,
  });

  constructor() {
    collectDefaults(this.registry);
    // Gauges with the suffix of counters, and only the sums of gauges without it.
    for (const name of ['handles', 'requests', 'resources'])
      this.registry.removeSingleMetric(`nodejs_active_${name}_total`);
  }

  gauge(name: string, help: string, read: () => number, aggregator: Aggregator = 'sum'): void {
    new Gauge({
      name,
      help,
      aggregator: aggregator as OwnAggregator,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  gauges<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: ReadLabelled<Label>,
    aggregator: Aggregator = 'sum',
  ): void {
    new Gauge({
      name,
      help,
      aggregator: aggregator as OwnAggregator,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.set(labels, value);
      },
    });
  }

  total(name: CounterName, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  counter<Label extends string>(name: CounterName, help: string, labelNames: Label[], read: ReadLabelled<Label>): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.inc(labels, value);
      },
    });
  }

  histogram(options: HistogramOptions): Histogram {
    const histogram = new Histogram(options);
    // Its types want one of prom-client's own classes; the registry reads `name`, `get` and `reset`.
    this.registry.registerMetric(histogram as unknown as Metric);
    return histogram;
  }

  increments<Label extends string = never>(
    name: CounterName,
    help: string,
    labelNames: Label[] = [],
  ): CounterClass<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}
