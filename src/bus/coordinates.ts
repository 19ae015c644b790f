/** Where a message comes from and where it stands; of messages of one channel and partition the one with the higher pair (epoch, offset) is newer. */
export interface Coordinates {
  readonly partition: number;
  /** Of the Kafka record; exact up to 2^53. */
  readonly offset: number;
  /** Of the Kafka record, in ms since 1970. */
  readonly timestamp: number;
  /** Of the topic. Grows when what came before may be incomplete: a topic made anew, or data that Redis lost. */
  readonly epoch: number;
  /** Id of its entry in the channel's history; undefined where the channel keeps none. */
  readonly entry?: string | undefined;
  /** Id of the entry before it; undefined: there was none. */
  readonly previous?: string | undefined;
}

/**
 * A message on its way through Redis is a header line and the payload; the header is written by `PUBLISH_SCRIPT`. A text without one
 * (a person with redis-cli) is a payload without coordinates.
 *
 * @example '@0 17 1763730000000 1763720000000\n{"order":…}'
 * @example '@0 17 1763730000000 1763720000000 1763730000001-0 -\n{"order":…}' // in a history, with no entry before it
 */
const HEADER = /^@(\d+) (\d+) (-?\d+) (\d+)(?: ([\d-]+) ([\d-]+))?\n/;

export interface ReceivedMessage {
  readonly payload: string;
  readonly coordinates: Coordinates | undefined;
}

export function parseMessage(text: string): ReceivedMessage {
  // JSON starts with no "@".
  const header = text.charCodeAt(0) === 0x40 ? HEADER.exec(text) : null;
  if (!header) return { payload: text, coordinates: undefined };
  const [line, partition, offset, timestamp, epoch, entry, previous] = header;
  return {
    payload: text.slice(line.length),
    coordinates: {
      partition: Number(partition),
      offset: Number(offset),
      timestamp: Number(timestamp),
      epoch: Number(epoch),
      ...(entry && { entry, previous: previous === '-' ? undefined : previous }),
    },
  };
}
