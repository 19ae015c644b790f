import type { Coordinates } from '../../bus/coordinates.ts';
import type { Intake } from '../../bus/flow/intake.ts';
import type { TextPayload } from '../../graph/payload.ts';
import { RowPayload } from '../../graph/row-payload.ts';
import { cursorSuffix } from './outbox/frame.ts';
import type { EventTimes } from './outbox/result-times.ts';

/** A message of a channel, or an entry of its history. */
export interface ArrivedMessage {
  readonly payload: Buffer;
  readonly coordinates: Coordinates | undefined;
  /** undefined: outside of flow control. */
  readonly intake?: Intake | undefined;
  /** undefined: it comes from the history, or names no time. */
  readonly times?: EventTimes | undefined;
  /** True: it is the state of the channel, instead of events that were missed. */
  readonly isState?: boolean;
}

/** What signs the cursors of a channel's events. */
export interface CursorSource {
  /** undefined: there is no secret yet. */
  cursorOf(coordinates: Coordinates): string | undefined;
}

/** One event of a channel. */
export class ChannelEvent {
  readonly payload: TextPayload;
  /** Its position in Kafka and in the history; undefined: not published by a worker. */
  readonly coordinates: Coordinates | undefined;
  /** Bytes of the message's payload: of a row, with those of its change. */
  readonly length: number;
  /** undefined: it comes from the history, or names no time. */
  readonly times: EventTimes | undefined;
  readonly #source: CursorSource;
  #suffix: Buffer | undefined;

  constructor(
    payload: TextPayload,
    coordinates: Coordinates | undefined,
    length: number,
    source: CursorSource,
    times?: EventTimes,
  ) {
    this.payload = payload;
    this.coordinates = coordinates;
    this.length = length;
    this.times = times;
    this.#source = source;
  }

  /** Its payload, if its topic has an `envelope`. */
  get row(): RowPayload | undefined {
    return this.payload instanceof RowPayload ? this.payload : undefined;
  }

  /** True if it deletes what a channel without an `envelope` is about. */
  get isTombstone(): boolean {
    return !this.row && this.payload.isDeletion;
  }

  /** The end of its results, with its cursor; undefined: without. It is made once, for the first result of all groups. */
  get suffix(): Buffer | undefined {
    if (this.#suffix || !this.coordinates) return this.#suffix;
    const cursor = this.#source.cursorOf(this.coordinates);
    return cursor === undefined ? undefined : (this.#suffix = cursorSuffix(cursor));
  }
}
