import { PerformanceObserver, constants } from 'node:perf_hooks';
import type { PerformanceObserverEntryList } from 'node:perf_hooks';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { collectGarbage } from './collect-garbage.ts';
import type { GarbageCollection } from './garbage-collection.ts';
import type { MemoryPressure, Relieve } from './memory-pressure.ts';
import type { MemoryUse, ProcessMemory, Share } from './process-memory.ts';

export interface MemoryGuardOptions {
  readonly memory: Pick<ProcessMemory, 'read' | 'readProcess'>;
  /** Share of a limit, in percent, from which memory is short; 0: never. Read at each use. */
  readonly maxPercent: () => number;
  readonly log: Logger;
  /** Collects all garbage; V8 then reports a major collection. Default: `collectGarbage`. */
  readonly collect?: () => Promise<void>;
  /** Age in ms from which a reading decides nothing any more. Default: 10,000. */
  readonly staleMs?: number;
}

/** Points of percent below `maxPercent` at which memory is no longer short. */
const HYSTERESIS = 5;
const STALE_MS = 10_000;
/** How often the guard looks, in `staleMs`, whether a collection is due. */
const CHECKS = 10;
const LOG_WINDOW_MS = 10_000;

/**
 * Watches the heap against the limit of V8, and the process against that of its container. It reads both after each major collection of
 * garbage, so that garbage does not count and nothing is measured on the path of an event. From `maxPercent` on memory is short; from
 * halfway between there and the limit on, each reading asks for relief, down to `maxPercent`: the nearer the heap is to its limit, the more
 * V8 collects, and it ends a process after four collections in a row that left 80 % in use and took more than 60 % of the time.
 *
 * V8 may not collect for minutes when little is allocated. So while memory is short, or the process is near the limit of its container with
 * garbage included, the guard collects itself every 10 s.
 */
export class MemoryGuard implements MemoryPressure {
  readonly #reliefs: Relieve[] = [];
  readonly #options: MemoryGuardOptions;
  readonly #staleMs: number;
  readonly #observer = new PerformanceObserver((list) => this.#onCollections(list));
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  #use: MemoryUse;
  #readAt = -Infinity;
  /** Of performance.now(). A collection that began before counts what the relief has freed. */
  #relievedAt = -Infinity;
  #isShort = false;
  #isCollecting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemoryGuardOptions) {
    this.#options = options;
    this.#staleMs = options.staleMs ?? STALE_MS;
    this.#use = options.memory.read();
  }

  get isShort(): boolean {
    return this.#isShort && this.#options.maxPercent() > 0;
  }

  /** Used share of the heap after the last major collection, from 0 to 1. */
  get heapRatio(): number {
    return percentOf(this.#use.heap) / 100;
  }

  onPressure(relieve: Relieve): void {
    this.#reliefs.push(relieve);
  }

  start(): this {
    if (this.#timer) return this;
    this.#observer.observe({ entryTypes: ['gc'] });
    this.#timer = setInterval(() => this.#check(), this.#staleMs / CHECKS).unref();
    return this;
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#observer.disconnect();
    return Promise.resolve();
  }

  #onCollections(list: PerformanceObserverEntryList): void {
    const collections = list.getEntries() as GarbageCollection[];
    const last = collections.findLast(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
    if (last) this.#onCollected(last.startTime);
  }

  #onCollected(beganAt: number): void {
    const { memory, maxPercent } = this.#options;
    this.#use = memory.read();
    this.#readAt = performance.now();
    const percent = maxPercent();
    if (percent === 0) return;
    const used = this.#usedPercent();
    if (!this.#isShort && used >= percent) this.#begin();
    else if (this.#isShort && used < percent - HYSTERESIS) this.#end();
    if (used >= criticalPercent(percent) && beganAt >= this.#relievedAt) this.#relieve(percent);
  }

  #usedPercent(): number {
    const { heap, process } = this.#use;
    return Math.max(percentOf(heap), process ? percentOf(process) : 0);
  }

  #begin(): void {
    this.#isShort = true;
    this.#window.run('short', (suppressed) =>
      this.#options.log.warn({ ...this.#facts(), suppressed }, 'memory is short: new sockets are refused'),
    );
  }

  #end(): void {
    this.#isShort = false;
    this.#window.run('enough', (suppressed) =>
      this.#options.log.info({ ...this.#facts(), suppressed }, 'memory is no longer short'),
    );
  }

  #relieve(percent: number): void {
    if (this.#reliefs.length === 0) return;
    const { heap, process } = this.#use;
    const excess = ({ usedBytes, limitBytes }: Share) => Math.ceil(usedBytes - (limitBytes * percent) / 100);
    const wanted = Math.max(excess(heap), process ? excess(process) : 0);
    let [closed, bytes] = [0, 0];
    for (const relieve of this.#reliefs) {
      if (bytes >= wanted) break;
      const relief = relieve(wanted - bytes);
      closed += relief.closed;
      bytes += relief.bytes;
    }
    this.#relievedAt = performance.now();
    const message =
      closed > 0
        ? 'memory is very short: closed the connections that held most'
        : 'memory is very short, and no connection holds much of it';
    this.#window.run(message, (suppressed) =>
      this.#options.log.warn({ ...this.#facts(), closed, bytes, suppressed }, message),
    );
  }

  #facts(): { heapPercent: number; processPercent: number | undefined } {
    const { heap, process } = this.#use;
    return { heapPercent: Math.round(percentOf(heap)), processPercent: process && Math.round(percentOf(process)) };
  }

  #check(): void {
    const { maxPercent, memory, collect = collectGarbage } = this.#options;
    const percent = maxPercent();
    if (percent === 0 || this.#isCollecting || performance.now() - this.#readAt < this.#staleMs) return;
    const process = this.#isShort ? undefined : memory.readProcess();
    if (!this.#isShort && (!process || percentOf(process) < percent)) return;
    this.#isCollecting = true;
    collect()
      .catch((error: unknown) => this.#options.log.warn({ err: error }, 'garbage could not be collected'))
      .finally(() => (this.#isCollecting = false));
  }
}

/** Halfway between the percentage at which memory is short and the limit. */
function criticalPercent(percent: number): number {
  return percent + (100 - percent) / 2;
}

function percentOf({ usedBytes, limitBytes }: Share): number {
  return (usedBytes / limitBytes) * 100;
}
