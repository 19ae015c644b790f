import type { History, HistoryEntry } from '../../bus/history.ts';
import { Continuity } from '../continuity.ts';
import type { CursorPlace } from './cursor.ts';

/**
 * What one recovery replays at most; a client that missed more begins anew. A field's `history` is the nearer bound: this is
 * what 100 events a second are in 20 s.
 */
export const MAX_REPLAYED = 2_000;
export const MAX_REPLAYED_BYTES = 1_048_576;

/**
 * What came after an event, provably all of it and each once; undefined where that cannot be proved: the event's own entry must still be
 * there, and the topic's epoch must not have changed since. An event is there twice where Redis failed in the middle of a script, which
 * it does not undo (a foreign key under a channel's name, a channel that we may not publish on), and the chunk was repeated.
 */
export function missedSince(seen: CursorPlace, { epoch, entries }: History): readonly HistoryEntry[] | undefined {
  const [own, ...missed] = entries;
  if (own?.coordinates.entry !== seen.entry || epoch !== seen.epoch) return undefined;
  const { partition, offset } = own.coordinates;
  if (partition !== seen.partition || offset !== seen.offset) return undefined;
  if (!entries.every(({ coordinates }) => coordinates.epoch === epoch)) return undefined;
  const shown = new Continuity();
  shown.observe(own.coordinates);
  return missed.filter(({ coordinates }) => shown.observe(coordinates) === 'next');
}

/** Whether an entry of a history comes after another. Ids of entries are two numbers with a hyphen between them. */
export function isBehind(entry: string, other: string): boolean {
  const [time, count] = entry.split('-').map(Number) as [number, number];
  const [otherTime, otherCount] = other.split('-').map(Number) as [number, number];
  return time > otherTime || (time === otherTime && count > otherCount);
}
