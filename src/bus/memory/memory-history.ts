import type { Coordinates } from '../coordinates.ts';
import type { History, HistoryEntry, HistoryLimits, HistoryQuery, Retention } from '../history.ts';
import { printPartsField } from '../carried-parts.ts';
import { STATES_OF_KEY, TOMBSTONE } from '../bus-message.ts';
import type { Message } from '../bus-message.ts';
import { MemoryStates } from './memory-states.ts';

interface Kept {
  limits: HistoryLimits;
  readonly entries: (HistoryEntry & { readonly at: number })[];
  bytes: number;
}

/** The histories of the memory bus's channels. A write removes entries past the channel's limits; a read may return older ones. */
export class MemoryHistory {
  /** By channel, in the order of their last writes. */
  readonly #kept = new Map<string, Kept>();
  readonly #states = new MemoryStates();
  #ids = 0;

  /** What is published for a message: itself, unless it is a tombstone of another state, and a tombstone for the channel that its record leaves. */
  messagesOf(message: Message, now: number): readonly Message[] {
    const { channel, payload, history, keyHash, isDeparture } = message;
    if (history?.keyIndex === undefined) return [message];
    const former = keyHash === undefined ? undefined : this.#states.channelOf(history.keyIndex + keyHash, now);
    if (channel === STATES_OF_KEY) return former === undefined ? [] : [{ ...message, channel: former }];
    if (isDeparture) return this.#states.isNamedByKey(channel, now) ? [message] : [];
    if (payload === TOMBSTONE) return this.#states.isNamedByKey(channel, now) === false ? [] : [message];
    if (former === undefined || former === channel) return [message];
    return [{ ...message, channel: former, payload: TOMBSTONE, record: undefined }, message];
  }

  /** @returns the coordinates, with the ids of the new entry and of the entry before it */
  add(
    channel: string,
    payload: Buffer,
    coordinates: Coordinates,
    retention: Retention,
    keyHash: string | undefined,
    now: number,
  ): Coordinates {
    this.#sweep(now);
    const { stateSeconds } = retention;
    const entry = `${++this.#ids}-0`;
    const named = retention.entries
      ? this.#append(channel, { payload, coordinates: { ...coordinates, entry } }, retention, now)
      : { ...coordinates, entry, previous: this.#states.read(channel, now)?.coordinates.entry };
    if (stateSeconds !== undefined) this.#states.set(channel, { payload, coordinates: named }, retention, keyHash, now);
    return named;
  }

  #append(channel: string, { payload, coordinates }: HistoryEntry, limits: HistoryLimits, now: number): Coordinates {
    const kept = this.#kept.get(channel) ?? { limits, entries: [], bytes: 0 };
    kept.limits = limits;
    this.#kept.delete(channel);
    this.#kept.set(channel, kept);
    const previous = kept.entries.at(-1)?.coordinates.entry;
    const named = { ...coordinates, previous };
    kept.entries.push({ payload, coordinates: named, at: now });
    kept.bytes += bytesOf(kept.entries.at(-1)!);
    const { entries, bytes, seconds } = limits;
    const isOver = ({ at }: { at: number }) =>
      kept.entries.length > entries || kept.bytes > bytes || at < now - seconds * 1000;
    while (kept.entries.length > 1 && isOver(kept.entries[0]!)) {
      kept.bytes -= bytesOf(kept.entries.shift()!);
    }
    return named;
  }

  read(channel: string, { from, maxEntries, maxBytes }: HistoryQuery, epoch: number, now: number): History {
    this.#sweep(now);
    const entries = this.#entriesOf(channel, now);
    if (from === undefined) return { epoch, entries: entries.slice(-1) };
    const start = entries.findIndex(({ coordinates }) => coordinates.entry === from);
    const wanted = start < 0 ? [] : entries.slice(start);
    const bytes = wanted.slice(0, -1).reduce((sum, entry) => sum + bytesOf(entry), 0);
    return { epoch, entries: wanted.length > maxEntries || bytes > maxBytes ? [] : wanted };
  }

  /** Of the history; the state where there is none, or where a worker without the history has published since. */
  #entriesOf(channel: string, now: number): readonly HistoryEntry[] {
    const kept = this.#kept.get(channel)?.entries;
    const state = this.#states.read(channel, now);
    if (!state) return kept ?? [];
    return kept && numberOf(kept.at(-1)!) >= numberOf(state) ? kept : [state];
  }

  /** Removes channels whose last write is older than their limit in seconds. */
  #sweep(now: number): void {
    for (const [channel, { entries, limits }] of this.#kept) {
      if (entries.at(-1)!.at >= now - limits.seconds * 1000) return;
      this.#kept.delete(channel);
    }
  }
}

/** Entries are numbered in the order in which they were added. */
function numberOf({ coordinates }: HistoryEntry): number {
  return Number.parseInt(coordinates.entry!, 10);
}

/** What counts towards the limits of a history. */
function bytesOf({ payload, coordinates: { record } }: HistoryEntry): number {
  return payload.length + (record === undefined ? 0 : printPartsField(record).length);
}
