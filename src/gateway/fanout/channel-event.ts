import type { Coordinates } from '../../bus/coordinates.ts';
import type { Intake } from '../../bus/flow/intake.ts';
import type { Payload } from '../../graph/payload.ts';
import type { EventTimes } from './outbox/result-times.ts';

/** A message of a channel, or an entry of its history. */
export interface ChannelMessage {
  readonly payload: Buffer;
  readonly coordinates: Coordinates | undefined;
  /** undefined: outside of flow control. */
  readonly intake?: Intake | undefined;
  /** undefined: it comes from the history, or names no time. */
  readonly times?: EventTimes | undefined;
}

/** One event of a channel. */
export interface ChannelEvent {
  /** Its position in Kafka and in the history; undefined: not published by a worker. */
  readonly coordinates: Coordinates | undefined;
  readonly payload: Payload;
  readonly cursor: string | undefined;
  /** Bytes of the payload's text. */
  readonly length: number;
  /** undefined: it comes from the history, or names no time. */
  readonly times?: EventTimes | undefined;
}
