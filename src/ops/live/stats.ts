/** As in stats-schema.ts. The page reads it, too: this file must import nothing. */
export interface Stats {
  readonly pod: string;
  readonly role: string;
  readonly version: string;
  readonly graph: string;
  readonly status: string;
  readonly problems: readonly string[];
  readonly at: string;
  readonly uptime_seconds: number;
  readonly seconds: number | null;
  readonly records_per_second: number | null;
  readonly events_per_second: number | null;
  readonly deliveries_per_second: number | null;
  readonly executions_per_second: number | null;
  readonly sharing_ratio: number | null;
  readonly latency_p50_ms: number | null;
  readonly latency_p99_ms: number | null;
  readonly kafka_lag_records: number | null;
  readonly sockets: number | null;
  readonly operations: number | null;
  readonly slow_consumers: number | null;
  readonly queue_bytes: number | null;
  readonly queue_bytes_max: number | null;
  readonly refusals_per_second: number | null;
  readonly gaps_per_second: number | null;
  readonly errors_per_second: number | null;
  readonly poison_records_per_second: number | null;
  readonly heap_bytes: number;
  readonly heap_limit_bytes: number | null;
  readonly resident_bytes: number;
  readonly loop_lag_ms: number;
  readonly loop_busy_ratio: number | null;
  readonly top_operations: readonly OperationStats[];
}

/** What is looked up of one operation when somebody asks. */
export interface OperationDetails {
  readonly text: string | null;
  readonly subscriptions: number;
  readonly channels: readonly PatternStats[];
}

export interface PatternStats {
  readonly pattern: string;
  readonly channels: number;
  readonly subscriptions: number;
  readonly largest: number;
}

export interface OperationStats {
  readonly document: string;
  readonly operation: string;
  readonly field: string;
  readonly subscriptions: number;
  readonly deliveries_per_second: number | null;
  readonly executions_per_second: number | null;
  readonly execution_ms_per_second: number | null;
  readonly errors_per_second: number | null;
}
