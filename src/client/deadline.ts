/** Calls `onLate` unless it is cleared in time. */
export class Deadline {
  readonly #onLate: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ms = 0;

  constructor(onLate: () => void) {
    this.#onLate = onLate;
  }

  /** In ms; 0 and Infinity: none. */
  set(ms: number): void {
    this.clear();
    if (ms <= 0 || !Number.isFinite(ms)) return;
    this.#ms = ms;
    this.#timer = setTimeout(() => {
      this.clear();
      this.#onLate();
    }, ms);
  }

  /** Begins anew what was set and not cleared. */
  refresh(): void {
    if (this.#timer !== undefined) this.set(this.#ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
