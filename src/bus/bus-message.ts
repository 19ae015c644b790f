import type { TraceContext } from '../base/trace-context.ts';
import type { Retention } from './history.ts';

/** What a worker publishes. */
export interface ChannelMessage {
  /** Or `STATES_OF_KEY`. */
  readonly channel: string;
  /** JSON text, or its bytes in UTF-8; never empty. The bus passes it through, never parses it, and copies the bytes that it keeps. */
  readonly payload: string | Buffer;
  /** Of its Kafka record. */
  readonly offset: number;
  /** Of its Kafka record, in ms since 1970. */
  readonly timestamp: number;
  /** What the channel keeps; undefined: nothing. */
  readonly history?: Retention | undefined;
  /** The span that its subscribers continue; undefined: the record is not sampled. The history does not keep it. */
  readonly trace?: TraceContext | undefined;
  /** What it carries of its record's key and headers (`carried-parts.ts`); undefined: nothing. History and state keep it. */
  readonly record?: string | undefined;
  /**
   * Of its record's key (22 characters of base64url); undefined: the record has none, or its key names the channel. If the state of another
   * channel, in the index that `history.keyIndex` names, is of the same `keyHash`, the record has left it: that channel gets a tombstone.
   */
  readonly keyHash?: string | undefined;
  /**
   * True: the message is a tombstone for channels that its record has left. A channel that the record's key names receives it only if the
   * channel's state is of a record whose key names the channel, too.
   */
  readonly isDeparture?: boolean | undefined;
}

/** The payload of a record without a value. No other record has it, because payloads are objects. */
export const TOMBSTONE = 'null';

/** Begins the payload of the delete of a row (`change-text.ts`), which concerns no other row: a state of another key stays. */
const DELETE = `${TOMBSTONE}\n`;

export function isDelete(payload: string | Buffer): boolean {
  return typeof payload === 'string'
    ? payload.startsWith(DELETE)
    : payload.length > DELETE.length && payload.toString('latin1', 0, DELETE.length) === DELETE;
}

const LETTER_N = 0x6e;

/** True for the payload of a tombstone or of the delete of a row. */
export function isDeletion(payload: Buffer): boolean {
  return payload[0] === LETTER_N && (isDelete(payload) || payload.toString('latin1') === TOMBSTONE);
}

/**
 * Instead of a channel: the message is a tombstone for the channel whose state is of its `keyHash`, in the index that `history.keyIndex` names.
 * A tombstone that names such a channel is left out if the channel's state is of a `keyHash`.
 */
export const STATES_OF_KEY = '*';
