import type { Stats } from './stats.ts';

interface Reader {
  read(): Promise<Stats>;
  /** Nobody watches any more: the next reading is a first one. */
  reset(): void;
}

const INTERVAL_MS = 1000;

/** Reads the figures of the pod once a second for all watchers together, and never without one. */
export class StatsSampler {
  readonly #reader: Reader;
  readonly #onFailure: (error: Error) => void;
  readonly #intervalMs: number;
  /** Each wakes one. */
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #latest: Stats | undefined;
  #isReading = false;
  readonly #closing = new AbortController();

  constructor(reader: Reader, onFailure: (error: Error) => void, intervalMs = INTERVAL_MS) {
    this.#reader = reader;
    this.#onFailure = onFailure;
    this.#intervalMs = intervalMs;
  }

  /** Aborted by `close`. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** The figures from now on. A watcher that is slow gets the latest ones, and none twice. Ends when `signal` is aborted. */
  async *watch(signal: AbortSignal): AsyncGenerator<Stats, undefined> {
    let resume = () => {};
    const wake = () => resume();
    this.#add(wake);
    signal.addEventListener('abort', wake);
    try {
      let seen: Stats | undefined;
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
    this.#timer = setInterval(() => void this.#read(), this.#intervalMs);
    void this.#read();
  }

  #delete(wake: () => void): void {
    this.#watchers.delete(wake);
    if (this.#watchers.size > 0) return;
    clearInterval(this.#timer);
    this.#latest = undefined;
    this.#reader.reset();
  }

  /** A reading that lasts is not begun twice. */
  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const stats = await this.#reader.read();
      if (this.#watchers.size > 0) this.#latest = stats;
      else this.#reader.reset();
    } catch (error) {
      this.#onFailure(error as Error);
    }
    this.#isReading = false;
    for (const wake of this.#watchers) wake();
  }
}
