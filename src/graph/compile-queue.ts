/** Pause after a compilation, in times of what it took: compiling takes a fifth of a core at most. */
const PAUSE_FACTOR = 4;
/** Compilations that may wait. */
const MAX_WAITING = 1000;

/**
 * Compilations of operations in use, one in a turn of the event loop with a pause after it. Until then an operation is
 * executed without, so no event waits.
 */
export class CompileQueue {
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  /** Returns false where too many wait: ask again. */
  readonly add = (compile: () => void): boolean => {
    if (this.#waiting.length >= MAX_WAITING) return false;
    this.#waiting.push(compile);
    if (!this.#isRunning) {
      this.#isRunning = true;
      setImmediate(this.#onTurn);
    }
    return true;
  };

  readonly #onTurn = (): void => {
    const startedAt = performance.now();
    try {
      this.#waiting.shift()!();
    } finally {
      this.#isRunning = this.#waiting.length > 0;
      if (this.#isRunning) setTimeout(this.#onTurn, (performance.now() - startedAt) * PAUSE_FACTOR).unref();
    }
  };
}
