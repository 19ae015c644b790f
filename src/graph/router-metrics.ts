import type { MetricsRegistry } from '../ops/metrics/metrics-registry.ts';
import { UNMATCHED_REASONS } from './field-tally.ts';
import type { PartsPrinter } from './parts-printer.ts';
import type { TopicRouter } from './router.ts';

/** What routes the records of one graph, by topic. */
interface Routing {
  readonly routers: ReadonlyMap<string, TopicRouter>;
  readonly printers: ReadonlyMap<string, PartsPrinter>;
}

/** @param routing of the graph that is served */
export function observeRouting(metrics: MetricsRegistry, routing: () => Routing): void {
  metrics.counter(
    'crier_records_unmatched_total',
    'Records that did not match a field of their topic, by reason.',
    ['field', 'reason'],
    () => unmatchedRecords(routing().routers.values()),
  );
  metrics.counter(
    'crier_tombstones_total',
    'Records without a value, by whether a channel got them.',
    ['topic', 'outcome'],
    () => tombstones(routing().routers.values()),
  );
  metrics.counter(
    'crier_record_parts_omitted_total',
    'Records whose key and headers were too large to travel with their events.',
    ['topic'],
    () => Array.from(routing().printers, ([topic, { omitted }]) => ({ labels: { topic }, value: omitted })),
  );
}

/** Counts of records since the start, by field and reason. */
export function* unmatchedRecords(routers: Iterable<TopicRouter>) {
  for (const { tallies } of routers) {
    for (const { field, unmatched } of tallies) {
      for (const reason of UNMATCHED_REASONS) yield { labels: { field, reason }, value: unmatched[reason] };
    }
  }
}

function* tombstones(routers: Iterable<TopicRouter>) {
  for (const { topic, tombstones: counts } of routers) {
    for (const [outcome, value] of Object.entries(counts)) yield { labels: { topic, outcome }, value };
  }
}
