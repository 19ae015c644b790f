import type { Coordinates } from '../bus/coordinates.ts';

/** stale: shown before, or older than what was; gap: newer, but what came between may be missing; next: neither. */
export type Verdict = 'next' | 'stale' | 'gap';

type Place = Pick<Coordinates, 'epoch' | 'partition' | 'offset'>;

/**
 * What of one channel was shown: tells old from new. Holds one number for each partition that its messages come from (most
 * often one: a channel is about one key).
 */
export class Continuity {
  #epoch = 0;
  readonly #offsets = new Map<number, number>();

  isStale({ epoch, partition, offset }: Place): boolean {
    return epoch < this.#epoch || (epoch === this.#epoch && offset <= (this.#offsets.get(partition) ?? -1));
  }

  /** Judges a message, and remembers it unless it is stale. */
  observe(place: Place): Verdict {
    if (this.isStale(place)) return 'stale';
    const { epoch, partition, offset } = place;
    const isBroken = epoch > this.#epoch && this.#epoch !== 0;
    if (epoch > this.#epoch) this.#offsets.clear();
    this.#epoch = epoch;
    this.#offsets.set(partition, offset);
    return isBroken ? 'gap' : 'next';
  }
}
