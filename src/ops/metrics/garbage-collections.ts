import { PerformanceObserver, constants } from 'node:perf_hooks';
import type { GarbageCollection } from '../memory/garbage-collection.ts';
import type { Metrics } from './metrics.ts';

const KINDS = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/**
 * Observes the garbage collections of this process. Node reports those of one turn together; prom-client's metric of this name, which
 * this one replaces, counts only the first of them.
 */
export class GarbageCollections {
  readonly #observer: PerformanceObserver;

  constructor(metrics: Metrics) {
    const seconds = metrics.histogram({
      name: 'nodejs_gc_duration_seconds',
      help: 'Time of each garbage collection, by kind: major, minor, incremental or weakcb.',
      bounds: [0.001, 0.01, 0.1, 1, 2, 5],
      labelName: 'kind',
      labelValues: [...KINDS.values()],
    });
    this.#observer = new PerformanceObserver((list) => {
      for (const { detail, duration } of list.getEntries() as GarbageCollection[])
        seconds.of(KINDS.get(detail.kind)).observe(duration / 1000);
    });
  }

  start(): this {
    this.#observer.observe({ entryTypes: ['gc'] });
    return this;
  }

  close(): Promise<void> {
    this.#observer.disconnect();
    return Promise.resolve();
  }
}
