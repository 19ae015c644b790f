/** Repeats a task, `intervalMs` after its last run has ended. Runs never overlap. */
export class Periodic {
  readonly #intervalMs: number;
  readonly #task: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `task` must not reject. */
  constructor(intervalMs: number, task: () => Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#task = task;
  }

  start(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#task().finally(() => this.start()), this.#intervalMs);
  }

  /** Idempotent. Does not wait for a running task. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
