import type { Coordinates } from '../bus/coordinates.ts';

/** stale: observed before, or older than what was; gap: newer, but events between may be missing; next: neither. */
export type Verdict = 'next' | 'stale' | 'gap';

type Position = Pick<Coordinates, 'epoch' | 'partition' | 'offset'>;

/**
 * Tells new messages of a channel from those already delivered. Holds one offset for each partition that its messages come from (most
 * often one: a channel is about one key).
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
