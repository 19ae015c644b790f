import type { PerformanceEntry } from 'node:perf_hooks';

/** An entry of the type `gc`, as Node documents it; its types lack it. */
export interface GarbageCollection extends PerformanceEntry {
  readonly detail: { readonly kind: number };
}
