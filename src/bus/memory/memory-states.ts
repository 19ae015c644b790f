import type { HistoryEntry } from '../history.ts';

const TOMBSTONE = 'null';

interface State {
  readonly entry: HistoryEntry;
  readonly expiresAt: number;
}

/** The states of the memory bus's channels: the last message of each, until a tombstone or for the channel's time. */
export class MemoryStates {
  /** By channel. An expired state is removed when it is read; the process that has it is a demo or a test. */
  readonly #states = new Map<string, State>();

  /** @param seconds 0: until a tombstone */
  set(channel: string, entry: HistoryEntry, seconds: number, now: number): void {
    if (String(entry.payload) === TOMBSTONE) this.#states.delete(channel);
    else this.#states.set(channel, { entry, expiresAt: seconds === 0 ? Infinity : now + seconds * 1000 });
  }

  read(channel: string, now: number): HistoryEntry | undefined {
    const state = this.#states.get(channel);
    if (!state || now < state.expiresAt) return state?.entry;
    this.#states.delete(channel);
    return undefined;
  }
}
