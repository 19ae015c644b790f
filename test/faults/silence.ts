/** The longest time without a message in a lane that is written to continuously. Times in ms of one clock. */
export class Silence {
  readonly #heardAt = new Map<string, number>();
  #longest = { lane: '', ms: 0 };

  /** Restarts the measurement: the lanes are written to from now on. */
  begin(lanes: Iterable<string>, now: number): void {
    this.#heardAt.clear();
    for (const lane of lanes) this.#heardAt.set(lane, now);
    this.#longest = { lane: '', ms: 0 };
  }

  heard(lane: string, now: number): void {
    const before = this.#heardAt.get(lane);
    if (before === undefined) return;
    this.#heardAt.set(lane, now);
    if (now - before > this.#longest.ms) this.#longest = { lane, ms: now - before };
  }

  /** The longest silence since `begin`, ended or not. */
  longest(now: number): { readonly lane: string; readonly ms: number } {
    let longest = this.#longest;
    for (const [lane, heardAt] of this.#heardAt) {
      if (now - heardAt > longest.ms) longest = { lane, ms: now - heardAt };
    }
    return longest;
  }
}
