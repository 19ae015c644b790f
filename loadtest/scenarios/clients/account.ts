import type { Interest } from '../load/interests.ts';
import type { Presence } from './presence.ts';
import { Track } from './track.ts';
import type { Arrival } from './track.ts';

/** What was written and when Redis had it. */
export interface Books {
  /** By lane: the last sequence that does not count; the window starts behind it. */
  readonly from: readonly number[];
  /** By lane: the last sequence that was written. */
  readonly to: readonly number[];
  /** How long an event may be on its way. */
  readonly graceMs: number;
  /** Undefined: Redis never had it. */
  publishedAt(lane: number, sequence: number): number | undefined;
}

/** Of the records written in the window. `expected` is the sum of the others. */
export interface Settlement {
  readonly expected: number;
  readonly delivered: number;
  /** Due while the client was connected, and never came. */
  readonly lost: number;
  /** Published between two connections of the client, for which nothing is promised. */
  readonly missed: number;
}

/** What one subscription got, over all connections of its client. */
export class Account {
  readonly interest: Interest;
  readonly #tracks = new Map<number, Track>();
  readonly #lanes: ReadonlySet<number>;

  constructor(interest: Interest) {
    this.interest = interest;
    this.#lanes = new Set(interest.lanes);
  }

  /** Whether a record of every lane came. */
  get isLive(): boolean {
    return this.#tracks.size === this.#lanes.size;
  }

  /** Takes note of a record that came on the client's `connection`th connection. `foreign`: it was not asked for. */
  add(lane: number, sequence: number, connection: number): Arrival | 'foreign' {
    if (!this.#lanes.has(lane)) return 'foreign';
    let track = this.#tracks.get(lane);
    if (!track) this.#tracks.set(lane, (track = new Track()));
    return track.add(sequence, connection);
  }

  settle(books: Books, presence: Presence): Settlement {
    const { graceMs } = books;
    const counts = { delivered: 0, lost: 0, missed: 0 };
    for (const lane of this.#lanes) {
      const from = books.from[lane] ?? 0;
      const track = this.#tracks.get(lane) ?? new Track();
      counts.delivered += track.countAbove(from);
      track.forEachMissing(from, books.to[lane] ?? 0, (sequence, isInside) => {
        const publishedAt = books.publishedAt(lane, sequence);
        const standing = isInside || publishedAt === undefined ? 'due' : presence.at(publishedAt, graceMs);
        if (standing === 'due') counts.lost++;
        if (standing === 'away') counts.missed++;
      });
    }
    return { expected: counts.delivered + counts.lost + counts.missed, ...counts };
  }
}
