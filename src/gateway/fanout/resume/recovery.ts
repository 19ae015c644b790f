import type { History, HistoryEntry } from '../../../bus/history.ts';
import { Continuity } from '../continuity.ts';
import type { CursorPosition } from './cursor.ts';

/**
 * Bounds of one replay. A client that missed more is not resumed. A field's `history` usually is the lower bound: this one is 20 s at
 * 100 events a second.
 */
export const MAX_REPLAYED = 2_000;
export const MAX_REPLAYED_BYTES = 1_048_576;

/**
 * All events after the one that a client has seen, each once; undefined if completeness cannot be proved: the seen event's own entry must
 * still be there, and the topic's epoch must not have changed since. An event is there twice if Redis failed in the middle of a script, which
 * it does not undo (a key of another type under a channel's name, a channel that the ACL forbids), and the chunk was repeated.
 */
export function missedSince(seen: CursorPosition, { epoch, entries }: History): readonly HistoryEntry[] | undefined {
  const [own, ...missed] = entries;
  if (own?.coordinates.entry !== seen.entry || epoch !== seen.epoch) return undefined;
  const { partition, offset } = own.coordinates;
  if (partition !== seen.partition || offset !== seen.offset) return undefined;
  if (!entries.every(({ coordinates }) => coordinates.epoch === epoch)) return undefined;
  const shown = new Continuity();
  shown.observe(own.coordinates);
  return missed.filter(({ coordinates }) => shown.observe(coordinates) === 'next');
}
