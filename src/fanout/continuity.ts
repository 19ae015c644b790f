import type { Coordinates } from '../bus/coordinates.ts';

/** stale: not newer than an observed message; gap: newer, but events between may be missing; next: neither. */
export type Verdict = 'next' | 'stale' | 'gap';

type Position = Pick<Coordinates, 'epoch' | 'partition' | 'offset'>;

/**
 * Tells new messages of a channel from delivered ones. Holds one offset per source partition, usually one: the records of a key are in one
 * partition.
 */
export class Continuity {
  #epoch = 0;
  readonly #offsets = new Map<number, number>();

  isStale({ epoch, partition, offset }: Position): boolean {
    return epoch < this.#epoch || (epoch === this.#epoch && offset <= (this.#offsets.get(partition) ?? -1));
  }

  /** Judges a message, and remembers it unless it is stale. */
  observe(position: Position): Verdict {
    if (this.isStale(position)) return 'stale';
    const { epoch, partition, offset } = position;
    const isBroken = epoch > this.#epoch && this.#epoch !== 0;
    if (epoch > this.#epoch) this.#offsets.clear();
    this.#epoch = epoch;
    this.#offsets.set(partition, offset);
    return isBroken ? 'gap' : 'next';
  }
}
