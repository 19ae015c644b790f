import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { SpanBudget } from './span-budget.ts';

/** @param budget undefined: nothing is traced */
export function observeTracing(
  metrics: MetricsRegistry,
  budget: SpanBudget | undefined,
  losses: { readonly spans: number },
): void {
  metrics.total('crier_spans_total', 'Spans started.', () => budget?.started ?? 0);
  metrics.total(
    'crier_spans_refused_total',
    'Spans that were not started because this process had started its 1,000 of the second.',
    () => budget?.refused ?? 0,
  );
  metrics.total('crier_spans_lost_total', 'Spans that the exporter could not deliver.', () => losses.spans);
}
