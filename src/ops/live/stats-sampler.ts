import type { Figures } from './stats-reader.ts';
import type { Stats } from './stats.ts';

interface Reader {
  /** The figures since the last reading. */
  read(): Promise<Figures>;
}

interface Intervals {
  /** Between two readings while somebody watches, in ms. Default: 1 s. */
  readonly watchedMs?: number;
  /** While nobody does. Default: 10 s. */
  readonly unwatchedMs?: number;
}

/** Time that the history reaches back. */
const HISTORY_MS = 180_000;

/** Reads the figures of the pod once a second for all watchers together, and seldom without one: a dashboard begins with what was before. */
export class StatsSampler {
  readonly #reader: Reader;
  readonly #onFailure: (error: Error) => void;
  readonly #intervals: Required<Intervals>;
  /** Each wakes one. */
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout;
  #latest: Figures | undefined;
  #readAt = -Infinity;
  #isReading = false;
  #history: Stats[] = [];
  readonly #closing = new AbortController();

  constructor(
    reader: Reader,
    onFailure: (error: Error) => void,
    { watchedMs = 1000, unwatchedMs = 10_000 }: Intervals = {},
  ) {
    this.#reader = reader;
    this.#onFailure = onFailure;
    this.#intervals = { watchedMs, unwatchedMs };
    this.#timer = this.#every(unwatchedMs);
  }

  /** Aborted by `close`. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Figures of the last three minutes, the oldest first, without operations. */
  get history(): readonly Stats[] {
    return this.#history;
  }

  /** The figures from now on. A watcher that is slow gets the latest ones, and none twice. Ends when `signal` is aborted. */
  async *watch(signal: AbortSignal): AsyncGenerator<Figures, undefined> {
    let resume = () => {};
    const wake = () => resume();
    this.#add(wake);
    signal.addEventListener('abort', wake);
    try {
      let seen: Figures | undefined;
      for (;;) {
        while (!signal.aborted && !this.closing.aborted && (this.#latest === undefined || this.#latest === seen))
          await new Promise<void>((resolve) => (resume = resolve));
        if (signal.aborted || this.closing.aborted) return;
        seen = this.#latest;
        yield seen!;
      }
    } finally {
      signal.removeEventListener('abort', wake);
      this.#delete(wake);
    }
  }

  /** Ends every watch. Idempotent. */
  close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    for (const wake of this.#watchers) wake();
    return Promise.resolve();
  }

  #add(wake: () => void): void {
    this.#watchers.add(wake);
    if (this.#watchers.size > 1 || this.closing.aborted) return;
    const { watchedMs } = this.#intervals;
    clearInterval(this.#timer);
    this.#timer = this.#every(watchedMs);
    // Rates of a shorter time would jump.
    if (performance.now() - this.#readAt >= watchedMs) {
      this.#latest = undefined;
      void this.#read();
    }
  }

  #delete(wake: () => void): void {
    this.#watchers.delete(wake);
    if (this.#watchers.size > 0 || this.closing.aborted) return;
    clearInterval(this.#timer);
    this.#timer = this.#every(this.#intervals.unwatchedMs);
  }

  #every(ms: number): NodeJS.Timeout {
    return setInterval(() => void this.#read(), ms).unref();
  }

  /** A reading that lasts is not begun twice. */
  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      this.#latest = await this.#reader.read();
      this.#readAt = performance.now();
      this.#remember(this.#latest);
    } catch (error) {
      this.#onFailure(error as Error);
    }
    this.#isReading = false;
    for (const wake of this.#watchers) wake();
  }

  #remember(figures: Figures): void {
    const since = new Date(Date.now() - HISTORY_MS).toISOString();
    this.#history = [...this.#history.filter(({ at }) => at >= since), { ...figures, top_operations: [] }];
  }
}
