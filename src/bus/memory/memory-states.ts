import { MAX_STATES_OF_KEY } from '../bus.ts';
import type { HistoryEntry, Retention } from '../history.ts';

export const TOMBSTONE = 'null';

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
  /** The channels whose states have a key, oldest first. */
  readonly #channels = new Map<string, readonly string[]>();

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
    if (key !== undefined) this.#channels.set(key, [...this.channelsOf(key), channel].slice(-MAX_STATES_OF_KEY));
  }

  read(channel: string, now: number): HistoryEntry | undefined {
    const state = this.#states.get(channel);
    if (!state || now < state.expiresAt) return state?.entry;
    this.#delete(channel);
    return undefined;
  }

  /** @param key a `keyIndex` and a `keyHash` */
  channelsOf(key: string): readonly string[] {
    return this.#channels.get(key) ?? [];
  }

  /** True if the state of the channel is of a record whose key does not name the channel. */
  isOfOtherKey(channel: string): boolean {
    return this.#states.get(channel)?.key !== undefined;
  }

  #delete(channel: string): void {
    const key = this.#states.get(channel)?.key;
    this.#states.delete(channel);
    if (key === undefined) return;
    const others = this.channelsOf(key).filter((other) => other !== channel);
    if (others.length > 0) this.#channels.set(key, others);
    else this.#channels.delete(key);
  }
}
