import type { Payer } from '../documents/document-queue.ts';

/** Pause after a compilation, as a multiple of its time: compiling takes a fifth of a core at most. */
const PAUSE_FACTOR = 4;
/** Limit of waiting compilations. */
const MAX_WAITING = 1000;

interface Compilation {
  readonly compile: () => void;
  readonly payer: Payer | undefined;
}

/**
 * Compiles and splits operations in use: one in a turn of the event loop, with a pause after it. No event waits: until then graphql-js
 * executes the operation.
 */
export class CompileQueue {
  readonly #waiting: Compilation[] = [];
  #isRunning = false;

  /**
   * Returns false if too many wait: try again later.
   * @param payer is charged for the CPU time
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
      // Not in the timer itself: a late one follows another in the same turn.
      if (this.#isRunning)
        setTimeout(() => setImmediate(this.#onTurn), (performance.now() - startedAt) * PAUSE_FACTOR).unref();
    }
  };
}
