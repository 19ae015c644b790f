import type { Interest } from '../load/interests.ts';
import type { Presence } from './presence.ts';
import { Track } from './track.ts';
import type { Arrival } from './track.ts';

/** The written records and their publish times. */
export interface WrittenRecords {
  /** By lane: the last sequence before the window. */
  readonly from: readonly number[];
  /** By lane: the last written sequence. */
  readonly to: readonly number[];
  /** Longest time of an event in flight. */
  readonly graceMs: number;
  /** Publish time; undefined: Redis never had the record. */
  publishedAt(lane: number, sequence: number): number | undefined;
}

/** Counts of the records written in the window. `expected` = delivered + lost + missed. */
export interface Settlement {
  readonly expected: number;
  readonly delivered: number;
  /** Published while the client was connected, but not delivered. */
  readonly lost: number;
  /** Published between two connections of the client. */
  readonly missed: number;
}

/** The records that one subscription received, over all connections of its client. */
export class Account {
  readonly interest: Interest;
  readonly #tracks = new Map<number, Track>();
  readonly #lanes: ReadonlySet<number>;

  constructor(interest: Interest) {
    this.interest = interest;
    this.#lanes = new Set(interest.lanes);
  }

  /** Whether a record of every lane has arrived. */
  get isLive(): boolean {
    return this.#tracks.size === this.#lanes.size;
  }

  /** Counts a record received on the client's `connection`th connection. `unrequested`: of a lane outside the subscription. */
  add(lane: number, sequence: number, connection: number): Arrival | 'unrequested' {
    if (!this.#lanes.has(lane)) return 'unrequested';
    let track = this.#tracks.get(lane);
    if (!track) this.#tracks.set(lane, (track = new Track()));
    return track.add(sequence, connection);
  }

  settle(written: WrittenRecords, presence: Presence): Settlement {
    const { graceMs } = written;
    const counts = { delivered: 0, lost: 0, missed: 0 };
    for (const lane of this.#lanes) {
      const from = written.from[lane] ?? 0;
      const track = this.#tracks.get(lane) ?? new Track();
      counts.delivered += track.countAbove(from);
      track.forEachMissing(from, written.to[lane] ?? 0, (sequence, isInside) => {
        const publishedAt = written.publishedAt(lane, sequence);
        const standing = isInside || publishedAt === undefined ? 'due' : presence.at(publishedAt, graceMs);
        if (standing === 'due') counts.lost++;
        if (standing === 'away') counts.missed++;
      });
    }
    return { expected: counts.delivered + counts.lost + counts.missed, ...counts };
  }
}
