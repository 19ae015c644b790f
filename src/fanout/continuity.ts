import type { Coordinates } from '../bus/coordinates.ts';

/** stale: shown before, or older than what was; gap: newer, but what came between may be missing; next: neither. */
export type Verdict = 'next' | 'stale' | 'gap';

/**
 * What of one channel was shown: tells old from new. Holds one number for each partition that its messages come from (most
 * often one: a channel is about one key).
 */
export class Continuity {
  #epoch = 0;
  readonly #offsets = new Map<number, number>();

  /** Judges a message, and remembers it unless it is stale. */
  observe({ epoch, partition, offset }: Coordinates): Verdict {
    if (epoch < this.#epoch) return 'stale';
    const isFirst = this.#epoch === 0;
    const isBroken = epoch > this.#epoch && !isFirst;
    if (epoch > this.#epoch) this.#offsets.clear();
    else if (offset <= (this.#offsets.get(partition) ?? -1)) return 'stale';
    this.#epoch = epoch;
    this.#offsets.set(partition, offset);
    return isBroken ? 'gap' : 'next';
  }
}
