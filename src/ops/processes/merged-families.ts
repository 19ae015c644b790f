import type { Aggregator } from '../metrics/prom-client.ts';
import type { Family, Sample } from './metric-families.ts';

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
      for (const sample of family.values) add(entry.samples, sample, family.aggregator ?? 'sum', process);
    }
  }
  return Array.from(merged.values(), ({ family, samples }) => ({ ...family, values: [...samples.values()] }));
}

/** True for what only ever grows: its values outlive the process. */
export function isCumulative({ type }: Family): boolean {
  return type === 'counter' || type === 'histogram';
}

function add(samples: Map<string, Sample>, given: Sample, aggregator: Aggregator, process: string): void {
  const sample = aggregator === 'process' ? { ...given, labels: { ...given.labels, process } } : given;
  const key = keyOf(sample);
  const known = samples.get(key);
  if (!known) return void samples.set(key, sample);
  samples.set(key, {
    ...sample,
    value: combined(known.value, sample.value, aggregator),
    ...((sample.exemplar ?? known.exemplar) && { exemplar: sample.exemplar ?? known.exemplar }),
  });
}

function combined(one: number, other: number, aggregator: Aggregator): number {
  if (aggregator === 'max') return Math.max(one, other);
  return aggregator === 'min' ? Math.min(one, other) : one + other;
}

/** Names of labels come in the order in which code sets them. */
function keyOf({ metricName = '', labels }: Sample): string {
  return JSON.stringify([metricName, ...Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))]);
}
