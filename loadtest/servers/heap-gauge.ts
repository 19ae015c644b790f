import { PerformanceObserver, constants, monitorEventLoopDelay } from 'node:perf_hooks';
import type { NodeGCPerformanceDetail } from 'node:perf_hooks';

export type GcKind = 'scavenge' | 'markSweep' | 'incremental' | 'weakCallbacks';

const GC_KINDS: Readonly<Record<number, GcKind>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'scavenge',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'markSweep',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakCallbacks',
};

export type HeapReading = ReturnType<HeapGauge['read']>;

const INTERVAL_MS = 100;
const RESOLUTION_MS = 10;

/** Measures this process's heap, garbage collections and event-loop delay between two readings. */
export class HeapGauge {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // @types/node 20 gives `detail` to no entry.
      const { detail } = entry as unknown as { readonly detail: Required<NodeGCPerformanceDetail> };
      const kind = GC_KINDS[detail.kind]!;
      this.#gcMs[kind] += entry.duration;
      this.#gcCount[kind]++;
    }
  });
  readonly #timer: NodeJS.Timeout;
  #gcMs = noCollections();
  #gcCount = noCollections();
  #heapUsedBytes = 0;

  constructor() {
    this.#delays.enable();
    this.#observer.observe({ entryTypes: ['gc'] });
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS).unref();
  }

  read() {
    const { rss, external } = this.#look();
    const reading = {
      at: Date.now(),
      /** The largest sample since the previous reading. */
      heapUsedBytes: this.#heapUsedBytes,
      residentBytes: rss,
      externalBytes: external,
      // Largest delay of a timer since the previous reading. The histogram counts the timer's whole interval.
      lagMs: Math.max(0, this.#delays.max / 1e6 - RESOLUTION_MS),
      gcMs: this.#gcMs,
      gcCount: this.#gcCount,
    };
    this.#delays.reset();
    this.#gcMs = noCollections();
    this.#gcCount = noCollections();
    this.#heapUsedBytes = 0;
    return reading;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#observer.disconnect();
    this.#delays.disable();
  }

  #look(): NodeJS.MemoryUsage {
    const usage = process.memoryUsage();
    this.#heapUsedBytes = Math.max(this.#heapUsedBytes, usage.heapUsed);
    return usage;
  }
}

function noCollections(): Record<GcKind, number> {
  return { scavenge: 0, markSweep: 0, incremental: 0, weakCallbacks: 0 };
}
