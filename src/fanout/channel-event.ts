import type { Coordinates } from '../bus/coordinates.ts';
import type { Payload } from '../graph/payload.ts';

/** One event of a channel. */
export interface ChannelEvent {
  /** Its position in Kafka and in the history; undefined: not published by a worker. */
  readonly coordinates: Coordinates | undefined;
  readonly payload: Payload;
  readonly cursor: string | undefined;
  /** Bytes of the payload's text. */
  readonly length: number;
}
