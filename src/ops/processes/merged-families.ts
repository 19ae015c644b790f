import type { Family, Sample } from './metric-families.ts';

/** What the values of several processes become. `process`: a series for each, with its name as a label. */
type Rule = 'sum' | 'max' | 'min' | 'process';

/** Gauges whose sum over the processes of a pod would mean nothing. All others are amounts. */
const GAUGE_RULES: Readonly<Record<string, Rule>> = {
  crier_backend_breaker_open: 'max',
  crier_build_info: 'process',
  crier_draining: 'max',
  crier_event_loop_utilization_ratio: 'process',
  crier_flow_gateway_lag_bytes: 'max',
  crier_gateway_without_workers: 'max',
  crier_heap_limit_bytes: 'process',
  crier_heap_used_ratio: 'process',
  crier_kafka_progress_age_seconds: 'max',
  crier_memory_guard_active: 'max',
  crier_queue_bytes_max: 'max',
  crier_redis_up: 'min',
  crier_revocations: 'max',
  crier_revocations_behind: 'max',
  crier_states_complete: 'min',
  crier_trusted_documents: 'max',
  crier_trusted_documents_unusable: 'max',
  crier_tunable: 'max',
  nodejs_version_info: 'max',
  process_max_fds: 'min',
  process_open_fds: 'max',
  process_start_time_seconds: 'process',
};
const EVENT_LOOP_LAG = /^nodejs_eventloop_lag_/;

/** The metrics of one process of a pod. */
export interface Part {
  readonly process: string;
  readonly families: readonly Family[];
}

/** One metric of each name: the values of counters and histograms are sums, those of a gauge what they mean for the pod. */
export function mergedFamilies(parts: readonly Part[]): Family[] {
  const merged = new Map<string, { readonly family: Family; readonly samples: Map<string, Sample> }>();
  for (const { process, families } of parts) {
    for (const family of families) {
      let entry = merged.get(family.name);
      if (!entry) merged.set(family.name, (entry = { family, samples: new Map() }));
      const rule = ruleOf(family);
      for (const sample of family.values) add(entry.samples, sample, rule, process);
    }
  }
  return Array.from(merged.values(), ({ family, samples }) => ({ ...family, values: [...samples.values()] }));
}

/** True for what only ever grows: its values outlive the process. */
export function isCumulative({ type }: Family): boolean {
  return type === 'counter' || type === 'histogram';
}

function ruleOf(family: Family): Rule {
  if (isCumulative(family)) return 'sum';
  return GAUGE_RULES[family.name] ?? (EVENT_LOOP_LAG.test(family.name) ? 'process' : 'sum');
}

function add(samples: Map<string, Sample>, given: Sample, rule: Rule, process: string): void {
  const sample = rule === 'process' ? { ...given, labels: { ...given.labels, process } } : given;
  const key = keyOf(sample);
  const known = samples.get(key);
  if (!known) return void samples.set(key, sample);
  samples.set(key, {
    ...sample,
    value: combined(known.value, sample.value, rule),
    ...((sample.exemplar ?? known.exemplar) && { exemplar: sample.exemplar ?? known.exemplar }),
  });
}

function combined(one: number, other: number, rule: Rule): number {
  if (rule === 'max') return Math.max(one, other);
  return rule === 'min' ? Math.min(one, other) : one + other;
}

/** Names of labels come in the order in which code sets them. */
function keyOf({ metricName = '', labels }: Sample): string {
  return JSON.stringify([metricName, ...Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))]);
}
