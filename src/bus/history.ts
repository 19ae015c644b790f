import type { Coordinates } from './coordinates.ts';
import type { EntryId } from './entry-id.ts';

/** How much of a channel is kept; whichever bound is reached first drops the oldest. */
export interface HistoryLimits {
  readonly entries: number;
  /** Of payload text, and of the keys and headers that messages carry. */
  readonly bytes: number;
  readonly seconds: number;
}

/** What a channel keeps: its latest messages, for clients that resume, and the last one, for clients that begin. */
export interface Retention extends HistoryLimits {
  /** Seconds for which the last message is the channel's state; 0: until a tombstone; undefined: the channel has no state. */
  readonly stateSeconds?: number | undefined;
  /**
   * Set where a record's key may not name its channel. The bus keeps, under this text and a record's `keyHash`, the channel whose state is of
   * that key, for tombstones and for records that move to another channel.
   */
  readonly keyIndex?: string | undefined;
}

/** Holds two minutes of one event each 400 ms: the longest reconnect that crier promises to bridge, and the most that it replays. */
export const HISTORY_DEFAULTS: HistoryLimits = { entries: 300, bytes: 1_048_576, seconds: 120 };

export interface HistoryEntry {
  /** As a `Listener` gets it. */
  readonly payload: Buffer;
  readonly coordinates: Coordinates;
}

/** What is asked of a history. */
export interface HistoryQuery {
  /** The entry to begin with; undefined: only the last one is wanted, which the state holds where the history does not. */
  readonly from: EntryId | undefined;
  /** Of entries and of payload bytes. With more, no entry is given. */
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** Asks for the last message of a channel alone: its state. */
export const LAST_MESSAGE: HistoryQuery = { from: undefined, maxEntries: 1, maxBytes: Infinity };

export interface History {
  /** Of the topic, now; 0: it has none, so nothing was ever published. */
  readonly epoch: number;
  /** From the asked one on, oldest first. The asked one may be gone; all are gone where there are more than was asked for. */
  readonly entries: readonly HistoryEntry[];
}
