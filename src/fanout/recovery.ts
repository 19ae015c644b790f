import type { History, HistoryEntry } from '../bus/history.ts';
import type { CursorPlace } from './cursor.ts';

/**
 * What one recovery replays at most; a client that missed more begins anew. A field's `history` is the nearer bound: this is
 * what 100 events a second are in 20 s.
 */
export const MAX_REPLAYED = 2_000;
export const MAX_REPLAYED_BYTES = 1_048_576;

/**
 * What came after an event, provably all of it; undefined where that cannot be proved: the event's own entry must still be there, and
 * the topic's epoch must not have changed since.
 */
export function missedSince(seen: CursorPlace, { epoch, entries }: History): readonly HistoryEntry[] | undefined {
  const [own, ...missed] = entries;
  if (own?.coordinates.entry !== seen.entry || epoch !== seen.epoch) return undefined;
  const { partition, offset } = own.coordinates;
  if (partition !== seen.partition || offset !== seen.offset) return undefined;
  return entries.every(({ coordinates }) => coordinates.epoch === epoch) ? missed : undefined;
}
