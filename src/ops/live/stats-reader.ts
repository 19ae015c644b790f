import { performance } from 'node:perf_hooks';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { operationRows } from '../debug/operation-rows.ts';
import type { Column, OperationRow } from '../debug/operation-rows.ts';
import { top } from '../debug/top.ts';
import type { OperationTallies } from '../../graph/documents/operation-tallies.ts';
import { quantile } from './metric-values.ts';
import type { Distribution, MetricValues } from './metric-values.ts';
import type { OperationStats, Stats } from './stats.ts';

export interface StatsReaderOptions {
  readonly metrics: MetricValues;
  /** What does not change: the pod, and what it runs. */
  readonly identity: Pick<Stats, 'pod' | 'role' | 'version' | 'graph'>;
  readonly status: () => Pick<Stats, 'status' | 'problems'>;
  readonly loopLagMs: () => number;
  readonly tallies: OperationTallies;
}

/** Counters whose differences become rates. */
const COUNTERS = {
  records: 'crier_records_consumed_total',
  events: 'crier_events_total',
  deliveries: 'crier_deliveries_total',
  executions: 'crier_executions_total',
  shared: 'crier_results_shared_total',
  refusals: 'crier_refusals_total',
  gaps: 'crier_gaps_total',
  errors: 'crier_internal_errors_total',
  poison: 'crier_poison_records_total',
} as const;

/** Values as they are. */
const VALUES = {
  kafka_lag_records: 'crier_kafka_lag_records',
  sockets: 'crier_connections',
  operations: 'crier_operations',
  slow_consumers: 'crier_slow_consumers_total',
  queue_bytes: 'crier_queue_bytes',
  queue_bytes_max: 'crier_queue_bytes_max',
  heap_limit_bytes: 'crier_heap_limit_bytes',
} as const;

const LATENCY = 'crier_delivery_latency_seconds';
/** 0 while this worker is no member of its consumer group. */
const KAFKA_CONNECTED = 'crier_kafka_connected';

/** Operations that lead in a column. */
const TOP = 8;
const RANKED = ['execution_seconds', 'deliveries', 'subscriptions'] as const satisfies readonly Column[];

/** Figures whose operations are ranked once, when the first watcher selects them. */
export interface Figures extends Omit<Stats, 'top_operations'> {
  readonly top_operations: () => Promise<readonly OperationStats[]>;
}

type Sums<Name extends string> = Record<Name, number | null>;

interface Reading {
  readonly at: number;
  readonly counters: Sums<keyof typeof COUNTERS>;
  readonly latency: Distribution | null;
  readonly loop: EventLoopUtilization;
  readonly operations: ReadonlyMap<string, OperationRow>;
}

/** Makes figures of the pod's own metrics, for people who watch: the difference of two readings. Nothing is counted for it on the way of an event. */
export class StatsReader {
  readonly #options: StatsReaderOptions;
  #last: Reading | undefined;

  constructor(options: StatsReaderOptions) {
    this.#options = options;
  }

  async read(): Promise<Figures> {
    const { metrics, identity, status, loopLagMs } = this.#options;
    const [now, values, connected] = await Promise.all([
      this.#reading(),
      sums(metrics, VALUES),
      metrics.sum(KAFKA_CONNECTED),
    ]);
    const before = this.#last;
    this.#last = now;
    const seconds = before ? (now.at - before.at) / 1000 : null;
    const rate = (name: keyof typeof COUNTERS) => rateOf(now.counters[name], before?.counters[name], seconds);
    const { heapUsed, rss } = process.memoryUsage();
    const [executions, shared] = [rate('executions'), rate('shared')];
    let operations: Promise<OperationStats[]> | undefined;
    return {
      ...identity,
      ...status(),
      at: new Date().toISOString(),
      uptime_seconds: Math.round(process.uptime()),
      seconds,
      records_per_second: rate('records'),
      events_per_second: rate('events'),
      deliveries_per_second: rate('deliveries'),
      executions_per_second: executions,
      sharing_ratio:
        executions !== null && shared !== null && executions + shared > 0 ? shared / (executions + shared) : null,
      latency_p50_ms: latencyMs(0.5, now, before),
      latency_p99_ms: latencyMs(0.99, now, before),
      ...values,
      // Before the first assignment there is no partition whose lag could be unknown: the sum would be 0.
      kafka_lag_records: connected === 0 ? null : values.kafka_lag_records,
      refusals_per_second: rate('refusals'),
      gaps_per_second: rate('gaps'),
      errors_per_second: rate('errors'),
      poison_records_per_second: rate('poison'),
      heap_bytes: heapUsed,
      resident_bytes: rss,
      loop_lag_ms: loopLagMs(),
      loop_busy_ratio: before ? performance.eventLoopUtilization(now.loop, before.loop).utilization : null,
      top_operations: () => (operations ??= topOperations(now, before, seconds)),
    };
  }

  async #reading(): Promise<Reading> {
    const { metrics, tallies } = this.#options;
    const [counters, latency] = await Promise.all([sums(metrics, COUNTERS), metrics.distribution(LATENCY)]);
    return {
      at: performance.now(),
      counters,
      latency,
      loop: performance.eventLoopUtilization(),
      operations: operationRows(tallies),
    };
  }
}

async function sums<Name extends string>(
  metrics: MetricValues,
  names: Readonly<Record<Name, string>>,
): Promise<Sums<Name>> {
  const entries = Object.entries<string>(names).map(async ([name, metric]) => [name, await metrics.sum(metric)]);
  return Object.fromEntries(await Promise.all(entries)) as Sums<Name>;
}

function rateOf(now: number | null, before: number | null | undefined, seconds: number | null): number | null {
  if (now === null || before === null || before === undefined || seconds === null || seconds <= 0) return null;
  return Math.max(0, now - before) / seconds;
}

function latencyMs(share: number, now: Reading, before: Reading | undefined): number | null {
  if (!now.latency || !before?.latency) return null;
  const seconds = quantile(share, now.latency, before.latency);
  return seconds === null ? null : seconds * 1000;
}

/** Those that lead in one of the columns, by their difference. Subscriptions count as they are. */
async function topOperations(
  { operations }: Reading,
  before: Reading | undefined,
  seconds: number | null,
): Promise<OperationStats[]> {
  const rows = [...operations];
  const difference = ([key, row]: (typeof rows)[number], column: Column) =>
    column === 'subscriptions' ? row[column] : row[column] - (before?.operations.get(key)?.[column] ?? 0);
  const leading = new Set<(typeof rows)[number]>();
  for (const column of RANKED)
    for (const entry of await top(rows, (one) => difference(one, column), TOP)) leading.add(entry);
  return Array.from(leading, (entry) => {
    const [, { document, operation, field, subscriptions }] = entry;
    const rate = (column: Column) => rateOf(difference(entry, column), 0, seconds);
    const executionSeconds = rate('execution_seconds');
    return {
      document,
      operation,
      field,
      subscriptions,
      deliveries_per_second: rate('deliveries'),
      executions_per_second: rate('executions'),
      execution_ms_per_second: executionSeconds === null ? null : executionSeconds * 1000,
      errors_per_second: rate('errors'),
    };
  });
}
