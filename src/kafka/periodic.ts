/** Runs a task again and again, `intervalMs` after it has ended; never twice at a time. */
export class Periodic {
  readonly #intervalMs: number;
  readonly #task: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `task` reports its failures itself. */
  constructor(intervalMs: number, task: () => Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#task = task;
  }

  start(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#task().finally(() => this.start()), this.#intervalMs);
  }

  /** Idempotent. A task that runs now ends by itself. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
