import type { Coordinates } from './coordinates.ts';
import type { History, HistoryQuery } from './history.ts';
import type { StateFills } from './state-fill.ts';

/**
 * `payload`: the bytes that were published; JSON in UTF-8 unless another program published on the channel. All listeners receive the same
 * bytes and must not change them. They are usually a slice of a 64 KiB read: a listener that keeps a payload for long copies it.
 *
 * `coordinates`: of a message that was published through a bus; undefined for one of another program.
 */
export type Listener = (payload: Buffer, coordinates?: Coordinates) => void;

/** Idempotent and never throwing; after it returned the listener is not called again. */
export type Unsubscribe = () => void;

/** The messages of channels, live and kept. */
export interface Feed {
  /**
   * Resolves once the subscription is acknowledged. Every message accepted after the acknowledgement reaches the listener, in order,
   * the first ones perhaps before this resolves; no message reaches a listener whose subscription is not acknowledged. All
   * listeners of a channel share one subscription, which ends with the last of them. A listener that throws is logged, and the others
   * receive the message.
   *
   * A channel without the prefix of the bus is a plain one, on which any program may publish. Its messages have no coordinates, whatever
   * they begin with.
   * @param onGap called when the channel was without a subscription for a while and has one again: messages may have been missed
   * @throws BusUnavailableError when the server refuses the channel, stays away too long or the bus is closed.
   */
  subscribe(channel: string, listener: Listener, onGap?: () => void): Promise<Unsubscribe>;
  /**
   * Reads the history of a channel. It may hold messages that are still on their way to listeners.
   * @throws BusUnavailableError
   */
  history(channel: string, query: HistoryQuery): Promise<History>;
  /** Which partitions have been read from their beginning, so that the states of their channels are complete. */
  readonly stateFills: StateFills;
}
