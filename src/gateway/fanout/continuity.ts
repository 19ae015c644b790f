import type { Coordinates } from '../../bus/coordinates.ts';

/**
 * stale: not newer than an observed message; gap: newer, but events between may be missing; older: the same, and the channel is back at an
 * older epoch; next: none of these.
 */
export type Verdict = 'next' | 'stale' | 'gap' | 'older';

type Position = Pick<Coordinates, 'epoch' | 'partition' | 'offset'>;

/**
 * A channel is back at an older epoch with this many new messages of it, if none of the present epoch comes between. Workers publish with
 * the epoch that Redis has, so the present one was forged, or Redis lost it.
 */
const MESSAGES_OF_OLDER_EPOCH = 3;

/** An epoch of a channel, and the last offset of each source partition: usually one, because the records of a key are in one partition. */
interface Epoch {
  readonly number: number;
  readonly offsets: Map<number, number>;
}

/** Tells new messages of a channel from delivered ones. */
export class Continuity {
  #present: Epoch = { number: 0, offsets: new Map() };
  /** The epoch before, or an older one of which a message has come. */
  #older: Epoch | undefined;
  /** New messages of the older epoch since the last message of the present one. */
  #messagesOfOlder = 0;

  isStale({ epoch, partition, offset }: Position): boolean {
    const { number, offsets } = this.#present;
    return epoch < number || (epoch === number && offset <= (offsets.get(partition) ?? -1));
  }

  /** Judges a message, and remembers it unless it is stale. */
  observe(position: Position): Verdict {
    const { epoch, partition, offset } = position;
    if (epoch < this.#present.number) return this.#observeOlder(position);
    this.#messagesOfOlder = 0;
    if (this.isStale(position)) return 'stale';
    const isBroken = epoch > this.#present.number && this.#present.number !== 0;
    if (isBroken) this.#older = this.#present;
    if (epoch > this.#present.number) this.#present = { number: epoch, offsets: new Map() };
    this.#present.offsets.set(partition, offset);
    return isBroken ? 'gap' : 'next';
  }

  #observeOlder({ epoch, partition, offset }: Position): Verdict {
    if (this.#older?.number !== epoch) {
      this.#older = { number: epoch, offsets: new Map() };
      this.#messagesOfOlder = 0;
    }
    const { offsets } = this.#older;
    if (offset <= (offsets.get(partition) ?? -1)) return 'stale';
    offsets.set(partition, offset);
    if (++this.#messagesOfOlder < MESSAGES_OF_OLDER_EPOCH) return 'stale';
    this.#present = this.#older;
    this.#older = undefined;
    this.#messagesOfOlder = 0;
    return 'older';
  }
}
