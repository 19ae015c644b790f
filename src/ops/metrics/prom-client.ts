import { createRequire } from 'node:module';
import type { Counter as CounterClass, Gauge as GaugeClass, Metric, Registry as RegistryClass } from 'prom-client';

/** What the values of a gauge become for a pod of several processes. `process`: a series for each, with its name as a label. */
export type Aggregator = 'sum' | 'max' | 'min' | 'process';

/** prom-client's metrics of every process, except those of the CPU: their module loads OpenTelemetry's API. */
const DEFAULTS: readonly (readonly [module: string, aggregator: Aggregator])[] = [
  ['processStartTime', 'process'],
  ['osMemoryHeap', 'sum'],
  ['processOpenFileDescriptors', 'max'],
  ['processMaxFileDescriptors', 'min'],
  ['eventLoopLag', 'process'],
  ['processResources', 'sum'],
  ['processHandles', 'sum'],
  ['processRequests', 'sum'],
  ['heapSizeAndUsed', 'sum'],
  ['heapSpacesSizeAndUsed', 'sum'],
  ['version', 'max'],
];

/** Loads the parts of prom-client that crier uses: its index also loads summaries, the push gateway and OpenTelemetry's API. */
const load = createRequire(import.meta.url);

export const Registry = load('prom-client/lib/registry.js') as typeof RegistryClass;
export const Counter = load('prom-client/lib/counter.js') as typeof CounterClass;
export const Gauge = load('prom-client/lib/gauge.js') as typeof GaugeClass;

/** Registers the metrics that `collectDefaultMetrics` of prom-client does, without those of garbage collections. */
export function collectDefaults(registry: RegistryClass): void {
  collectCpu(registry);
  for (const [module, aggregator] of DEFAULTS) {
    const collect = load(`prom-client/lib/metrics/${module}.js`) as (registry: RegistryClass, options: object) => void;
    const gauges = new Registry();
    collect(gauges, { eventLoopMonitoringPrecision: 10 });
    for (const gauge of gauges.getMetricsAsArray() as unknown as Metric[])
      registry.registerMetric(Object.assign(gauge, { aggregator }));
  }
}

function collectCpu(registry: RegistryClass): void {
  const start = process.cpuUsage();
  const total = (name: string, help: string, microsOf: (usage: NodeJS.CpuUsage) => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(microsOf(process.cpuUsage(start)) / 1e6);
      },
    });
  total('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.', ({ user }) => user);
  total('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.', ({ system }) => system);
  total(
    'process_cpu_seconds_total',
    'Total user and system CPU time spent in seconds.',
    ({ user, system }) => user + system,
  );
}
