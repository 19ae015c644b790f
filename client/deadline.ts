/** Calls `onLate` unless it is cleared in time. */
export class Deadline {
  readonly #onLate: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ms = 0;

  constructor(onLate: () => void) {
    this.#onLate = onLate;
  }

  /** Starts or restarts the deadline. 0 and Infinity: no deadline. */
  set(ms: number): void {
    this.clear();
    if (ms <= 0 || !Number.isFinite(ms)) return;
    this.#ms = ms;
    this.#timer = setTimeout(() => {
      this.clear();
      this.#onLate();
    }, ms);
  }

  /** Restarts the deadline if it is set. */
  refresh(): void {
    if (this.#timer !== undefined) this.set(this.#ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
