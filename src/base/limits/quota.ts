/** Counts what is open for each key, such as the sockets of a user, up to a limit. A key without any takes no memory. */
export class Quota {
  readonly #limit: number;
  readonly #open = new Map<string, number>();

  /** @param limit 0: none; then nothing is counted */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True if the key has as many as it may. */
  isReached(key: string): boolean {
    return this.#limit > 0 && (this.#open.get(key) ?? 0) >= this.#limit;
  }

  add(key: string): void {
    if (this.#limit > 0) this.#open.set(key, (this.#open.get(key) ?? 0) + 1);
  }

  /** One that was added has closed. */
  delete(key: string): void {
    const left = (this.#open.get(key) ?? 0) - 1;
    if (left > 0) this.#open.set(key, left);
    else this.#open.delete(key);
  }
}
