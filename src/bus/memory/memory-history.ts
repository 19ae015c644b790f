import { STATES_OF_KEY, TOMBSTONE, isDelete } from '../bus-message.ts';
import type { ChannelMessage } from '../bus-message.ts';
import type { Coordinates } from '../coordinates.ts';
import type { HistoryEntry, HistoryQuery, Retention } from '../history.ts';

/** A message for the listeners of a channel. */
export interface Delivery extends HistoryEntry {
  readonly channel: string;
}

interface Channel {
  limits: Retention;
  /** Never empty. */
  readonly entries: (HistoryEntry & { readonly at: number })[];
  /** Of all entries. */
  bytes: number;
  state: State | undefined;
}

interface State {
  /** In ms since 1970. */
  readonly endsAt: number;
  /** Of its record, in an index; undefined: the record's key names the channel, or it has none. */
  readonly key: string | undefined;
  /** Its message. It names the last entry of the channel, after which live messages are newer. */
  entry: HistoryEntry;
}

/** What the channels of the memory bus keep: their latest messages, within the limits of the last one, and their states. */
export class MemoryHistory {
  /** In the order in which `#sweep` looks at them. */
  readonly #channels = new Map<string, Channel>();
  /** By the key of its state. */
  readonly #channelsByKey = new Map<string, string>();
  #ids = 0;

  /** What is published for a message: itself, unless it is a tombstone of another state, and a tombstone for the channel that its record leaves. */
  accept(message: ChannelMessage, partition: number, epoch: number): Delivery[] {
    return this.#routed(message).map((one) => {
      const { channel, offset, timestamp, history, trace, record } = one;
      const payload = Buffer.from(one.payload);
      const position = { partition, offset, timestamp, epoch, ...(record !== undefined && { record }) };
      const isKept = history && (history.entries > 0 || history.stateSeconds !== undefined);
      const coordinates = isKept ? this.#keep(one, history, payload, position) : position;
      return { channel, payload, coordinates: trace ? { ...coordinates, trace } : coordinates };
    });
  }

  read(name: string, { from, maxEntries, maxBytes }: HistoryQuery): readonly HistoryEntry[] {
    const { entries = [], state } = this.#find(name) ?? {};
    if (from === undefined) return state ? [state.entry] : entries.slice(-1);
    const start = entries.findIndex(({ coordinates }) => coordinates.entry === from);
    const wanted = start < 0 ? [] : entries.slice(start);
    const bytes = wanted.slice(0, -1).reduce((sum, entry) => sum + bytesOf(entry), 0);
    return wanted.length > maxEntries || bytes > maxBytes ? [] : wanted;
  }

  #routed(message: ChannelMessage): readonly ChannelMessage[] {
    const { channel, payload, history, keyHash, isDeparture } = message;
    if (history?.keyIndex === undefined) return [message];
    const former = keyHash === undefined ? undefined : this.#channelsByKey.get(history.keyIndex + keyHash);
    const isLeft = former !== undefined && this.#find(former)?.state !== undefined;
    if (channel === STATES_OF_KEY) return isLeft ? [{ ...message, channel: former }] : [];
    if (isDelete(payload)) return [message];
    const state = this.#find(channel)?.state;
    if (payload === TOMBSTONE) return state?.key !== undefined || (isDeparture && !state) ? [] : [message];
    if (!isLeft || former === channel) return [message];
    return [{ ...message, channel: former, payload: TOMBSTONE, record: undefined }, message];
  }

  /** Returns the coordinates, with the ids of the new entry and of the entry before it. */
  #keep(message: ChannelMessage, limits: Retention, payload: Buffer, position: Coordinates): Coordinates {
    this.#sweep();
    const { channel: name, keyHash } = message;
    const channel = this.#find(name) ?? { limits, entries: [], bytes: 0, state: undefined };
    const previous = channel.entries.at(-1)?.coordinates.entry;
    const entry = { payload, coordinates: { ...position, entry: `${++this.#ids}`, previous }, at: Date.now() };
    channel.limits = limits;
    channel.entries.push(entry);
    channel.bytes += bytesOf(entry);
    const { stateSeconds, keyIndex } = limits;
    const key = keyIndex === undefined || keyHash === undefined ? undefined : keyIndex + keyHash;
    const { state } = channel;
    if (state?.key !== undefined && state.key !== key && isDelete(message.payload)) {
      const { payload: kept, coordinates } = state.entry;
      state.entry = { payload: kept, coordinates: { ...coordinates, entry: entry.coordinates.entry, previous } };
    } else {
      this.#endState(name, channel);
      if (stateSeconds !== undefined && message.payload !== TOMBSTONE && !isDelete(message.payload)) {
        if (key !== undefined) this.#channelsByKey.set(key, name);
        channel.state = { endsAt: stateSeconds === 0 ? Infinity : entry.at + stateSeconds * 1000, key, entry };
      }
    }
    this.#channels.set(name, channel);
    this.#find(name);
    return entry.coordinates;
  }

  /** The channel without what has ended by now, or exceeds its limits; undefined: it keeps nothing. */
  #find(name: string): Channel | undefined {
    const channel = this.#channels.get(name);
    if (!channel) return undefined;
    const { entries, limits, state } = channel;
    const now = Date.now();
    if (state && state.endsAt <= now) this.#endState(name, channel);
    const hasEnded = ({ at }: { at: number }) => limits.entries === 0 || at < now - limits.seconds * 1000;
    const isOver = () => entries.length > limits.entries || channel.bytes > limits.bytes || hasEnded(entries[0]!);
    while (entries.length > 1 && isOver()) channel.bytes -= bytesOf(entries.shift()!);
    if (channel.state || !hasEnded(entries[0]!)) return channel;
    this.#channels.delete(name);
    return undefined;
  }

  #endState(name: string, channel: Channel): void {
    const key = channel.state?.key;
    if (key !== undefined && this.#channelsByKey.get(key) === name) this.#channelsByKey.delete(key);
    channel.state = undefined;
  }

  /** Looks at one channel for each message that is kept, so that those to which nobody publishes any more go, too. */
  #sweep(): void {
    const [first] = this.#channels;
    if (!first) return;
    this.#channels.delete(first[0]);
    this.#channels.set(...first);
    this.#find(first[0]);
  }
}

/** What counts towards the limits of a history. */
function bytesOf({ payload, coordinates: { record = '' } }: HistoryEntry): number {
  return payload.length + record.length;
}
