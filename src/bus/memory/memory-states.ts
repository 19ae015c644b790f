import { TOMBSTONE } from '../bus-message.ts';
import type { HistoryEntry, Retention } from '../history.ts';

interface State {
  readonly entry: HistoryEntry;
  readonly expiresAt: number;
  /** Of the record's key, in its index; undefined: the key names the channel, or there is none. */
  readonly key: string | undefined;
}

/** The states of the memory bus's channels: the last message of each, until a tombstone or for the channel's time. */
export class MemoryStates {
  /** By channel. An expired state is removed when it is read; the process that has it is a demo or a test. */
  readonly #states = new Map<string, State>();
  /** By key: the channel whose state has it. */
  readonly #channels = new Map<string, string>();

  set(
    channel: string,
    entry: HistoryEntry,
    { stateSeconds: seconds = 0, keyIndex }: Retention,
    keyHash: string | undefined,
    now: number,
  ): void {
    this.#delete(channel);
    if (String(entry.payload) === TOMBSTONE) return;
    const key = keyIndex === undefined || keyHash === undefined ? undefined : keyIndex + keyHash;
    this.#states.set(channel, { entry, expiresAt: seconds === 0 ? Infinity : now + seconds * 1000, key });
    if (key !== undefined) this.#channels.set(key, channel);
  }

  read(channel: string, now: number): HistoryEntry | undefined {
    const state = this.#states.get(channel);
    if (!state || now < state.expiresAt) return state?.entry;
    this.#delete(channel);
    return undefined;
  }

  /**
   * The channel whose state is of a key.
   * @param key a `keyIndex` and a `keyHash`
   */
  channelOf(key: string, now: number): string | undefined {
    const channel = this.#channels.get(key);
    return channel !== undefined && this.read(channel, now) ? channel : undefined;
  }

  /** Whether the key of the record that the state of a channel is of names the channel; undefined: it has no state. */
  isNamedByKey(channel: string, now: number): boolean | undefined {
    return this.read(channel, now) && this.#states.get(channel)!.key === undefined;
  }

  #delete(channel: string): void {
    const key = this.#states.get(channel)?.key;
    this.#states.delete(channel);
    if (key !== undefined && this.#channels.get(key) === channel) this.#channels.delete(key);
  }
}
