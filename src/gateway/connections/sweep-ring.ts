/**
 * Visits its members in turn. Each call of `next` returns one slot, and a member stays in its slot. So exactly `slots` calls lie
 * between two visits of a member, also if other members are added or deleted meanwhile.
 */
export class SweepRing<T> {
  readonly #slots: readonly Set<T>[];
  #added = 0;
  #visited = 0;

  constructor(slots: number) {
    this.#slots = Array.from({ length: slots }, () => new Set<T>());
  }

  get size(): number {
    return this.#slots.reduce((size, slot) => size + slot.size, 0);
  }

  /** Spreads members evenly over the slots. */
  add(member: T): void {
    this.#slots[this.#added++ % this.#slots.length]!.add(member);
  }

  delete(member: T): void {
    this.#slots.some((slot) => slot.delete(member));
  }

  /** The members of the next slot. */
  next(): Iterable<T> {
    return this.#slots[this.#visited++ % this.#slots.length]!;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const slot of this.#slots) yield* slot;
  }
}
