import type { Payer } from '../documents/document-queue.ts';

/** Pause after a compilation, in times of what it took: compiling takes a fifth of a core at most. */
const PAUSE_FACTOR = 4;
/** Compilations that may wait. */
const MAX_WAITING = 1000;

interface Compilation {
  readonly compile: () => void;
  readonly payer: Payer | undefined;
}

/**
 * Compilations of operations in use, one in a turn of the event loop with a pause after it. Until then an operation is
 * executed without, so no event waits.
 */
export class CompileQueue {
  readonly #waiting: Compilation[] = [];
  #isRunning = false;

  /**
   * Returns false where too many wait: ask again.
   * @param payer is charged for it
   */
  readonly add = (compile: () => void, payer?: Payer): boolean => {
    if (this.#waiting.length >= MAX_WAITING) return false;
    this.#waiting.push({ compile, payer });
    if (!this.#isRunning) {
      this.#isRunning = true;
      setImmediate(this.#onTurn);
    }
    return true;
  };

  readonly #onTurn = (): void => {
    const { compile, payer } = this.#waiting.shift()!;
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    try {
      compile();
    } finally {
      const { user, system } = process.cpuUsage(cpuBefore);
      payer?.charge((user + system) / 1000);
      this.#isRunning = this.#waiting.length > 0;
      if (this.#isRunning) setTimeout(this.#onTurn, (performance.now() - startedAt) * PAUSE_FACTOR).unref();
    }
  };
}
