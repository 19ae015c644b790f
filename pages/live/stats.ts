import type { OperationDetails, OperationStats, Stats as AllStats } from '../../src/ops/live/stats.ts';

export type { OperationDetails, OperationStats };

/** What the page selects of `crier_stats`. Rates are null at first, and figures of other roles always. */
export type Stats = Omit<AllStats, 'seconds'>;

/** What the lines are drawn of. */
export type Figures = Omit<Stats, 'top_operations'>;

const FIGURES = `
    pod role version graph status problems at uptime_seconds
    records_per_second events_per_second deliveries_per_second executions_per_second sharing_ratio
    latency_p50_ms latency_p99_ms kafka_lag_records
    sockets operations slow_consumers queue_bytes queue_bytes_max
    refusals_per_second gaps_per_second errors_per_second poison_records_per_second
    heap_bytes heap_limit_bytes resident_bytes loop_lag_ms loop_busy_ratio`;

const OPERATIONS = `
    top_operations {
      document operation field subscriptions
      deliveries_per_second executions_per_second execution_ms_per_second errors_per_second
    }`;

export const SUBSCRIPTION = `subscription { crier_stats { ${FIGURES} ${OPERATIONS} } }`.replaceAll(/\s+/g, ' ');

/** Of the last three minutes, without operations. */
export const HISTORY = `{ crier_stats_history { ${FIGURES} } }`.replaceAll(/\s+/g, ' ');

export const OPERATION = `query ($document: String!, $operation: String!) {
  crier_operation(document: $document, operation: $operation) {
    text subscriptions channels { pattern channels subscriptions largest }
  }
}`.replaceAll(/\s+/g, ' ');
