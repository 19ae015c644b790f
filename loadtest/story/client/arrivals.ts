/** When each copy of a flood has reached the last of the sockets. */
export class Arrivals {
  readonly #sockets: number;
  readonly #clock: () => number;
  /** By copy: sockets that have it. */
  #counts = new Uint16Array(4096);
  #completed: number[] = [];

  /** `sockets`: below 65,536. */
  constructor(sockets: number, clock: () => number) {
    this.#sockets = sockets;
    this.#clock = clock;
  }

  deliver(copy: number): void {
    if (copy >= this.#counts.length) this.#grow(copy);
    if (++this.#counts[copy]! === this.#sockets) this.#completed.push(copy, this.#clock());
  }

  /** Pairs of a copy and when it reached the last socket, of those that did since the call before. */
  take(): number[] {
    const completed = this.#completed;
    this.#completed = [];
    return completed;
  }

  #grow(copy: number): void {
    const counts = new Uint16Array(Math.max(copy + 1, 2 * this.#counts.length));
    counts.set(this.#counts);
    this.#counts = counts;
  }
}
