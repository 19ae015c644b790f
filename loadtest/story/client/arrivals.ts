/** The time at which each copy of a flood reached the last socket. */
export class Arrivals {
  readonly #sockets: number;
  readonly #clock: () => number;
  /** Number of sockets that have received a copy, by copy. */
  #counts = new Uint16Array(4096);
  #completed: number[] = [];

  /** `sockets` must be below 65,536. */
  constructor(sockets: number, clock: () => number) {
    this.#sockets = sockets;
    this.#clock = clock;
  }

  deliver(copy: number): void {
    if (copy >= this.#counts.length) this.#grow(copy);
    if (++this.#counts[copy]! === this.#sockets) this.#completed.push(copy, this.#clock());
  }

  /** Flat pairs (copy, time of its arrival at the last socket) since the last call. */
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
