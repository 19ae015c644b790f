import { Fifo } from '../../base/fifo.ts';

/** Runs tasks in their order, at most `limit` at a time. */
export class Concurrency {
  readonly #limit: number;
  readonly #waiting = new Fifo<() => void>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    else this.#running++;
    try {
      return await task();
    } finally {
      // The next task takes over the slot.
      if (this.#waiting.isEmpty) this.#running--;
      else this.#waiting.take()();
    }
  }
}
