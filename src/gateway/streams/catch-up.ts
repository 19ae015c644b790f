import type { GraphQLFormattedError } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { CLOSE_CODES } from '../connections/close-codes.ts';
import { ResultBytes, cursorIn } from '../fanout/outbox/frame.ts';
import type { OnCaughtUp } from '../fanout/resume/on-caught-up.ts';
import { cursorOf } from '../operations/resume-cursor.ts';
import { COMPLETED } from './request-connection.ts';
import { withLastPiece } from './sse-format.ts';
import type { StreamFormat } from './stream-format.ts';

export const MAX_WAIT_SECONDS = 30;

/** Bounds of one reply. After the event that reaches one, it ends with `"more":true`. */
const MAX_EVENTS = 500;
const MAX_BYTES = 1_048_576;

const NOTHING = Buffer.alloc(0);
const COMMA = Buffer.from(',');

/** Without the brace that closes the message around it. */
const alone = withLastPiece((piece) => piece.subarray(0, -1));

/**
 * One reply with what a client has missed, as JSON: `{"events":[…],"cursor":…,"resumed":…}`. It is a stream that ends by itself, once the client
 * has every event so far: at least one, or none for as long as it waits. A reply whose bytes may be incomplete is cut, so it is no JSON.
 */
export class CatchUp implements StreamFormat {
  readonly name = 'catch_up';
  readonly contentType = 'application/json; charset=utf-8';
  readonly hasFrames = false;
  readonly opening = '{"events":[';
  /** JSON permits it between any two elements. */
  readonly ping = ' ';
  /** Ends the stream. Idempotent. */
  onEnd = (): void => undefined;
  readonly #waitMs: number;
  /** Of the last event that the client has with this reply; null: none is known. */
  #cursor: unknown;
  /** What the client is told beside the events. */
  #told: Readonly<Record<string, unknown>>;
  #events = 0;
  #bytes = 0;
  #isCaughtUp = false;
  #isEnding = false;
  #timer: NodeJS.Timeout | undefined;

  /** undefined: the wait that the client asks for cannot be. */
  static of({ extensions }: SubscribePayload): CatchUp | undefined {
    const { wait = 0 } = extensions!['resume'] as { wait?: unknown };
    if (typeof wait !== 'number' || !(wait >= 0 && wait <= MAX_WAIT_SECONDS)) return undefined;
    return new CatchUp(wait * 1000, cursorOf(extensions));
  }

  /** @param waitMs longest wait for an event if none was missed */
  private constructor(waitMs: number, cursor: unknown) {
    this.#waitMs = waitMs;
    this.#cursor = cursor;
    this.#told = { resumed: cursor !== null };
  }

  readonly prefixOf = (): Buffer => NOTHING;

  readonly endResult = (result: ResultBytes, notes?: string): ResultBytes => {
    this.#tell(notes);
    this.#cursor = cursorIn(result.pieces.at(-1)!) ?? this.#cursor;
    this.#events++;
    this.#bytes += result.length;
    if (this.#isCaughtUp || this.#events >= MAX_EVENTS || this.#bytes >= MAX_BYTES) this.#end();
    const event = alone(result);
    return this.#events === 1 ? event : new ResultBytes([COMMA, ...event.pieces], event.times);
  };

  readonly onCaughtUp: OnCaughtUp = (cursor, notes, repeat) => {
    this.#tell(notes);
    this.#cursor = cursor ?? (this.#isCaughtUp ? this.#cursor : null);
    const isOver = this.#isCaughtUp || this.#events > 0 || this.#waitMs === 0;
    this.#isCaughtUp = true;
    if (isOver) this.#end();
    else this.#timer = setTimeout(repeat, this.#waitMs);
  };

  /** Only queries and mutations have one. */
  next(_id: string, payload: object): string {
    return JSON.stringify(payload);
  }

  error(_id: string, errors: readonly GraphQLFormattedError[]): string {
    return this.#ending({ errors });
  }

  complete(): string {
    return this.#ending({ complete: true });
  }

  /** With other codes, events that the client is told to have may have been dropped. */
  closing(code: number): string {
    if (code !== COMPLETED && code !== CLOSE_CODES.goingAway) return this.ping;
    return this.#ending(this.#isCaughtUp ? {} : { more: true });
  }

  /** Its client has left, or has the reply. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #tell(notes = ''): void {
    this.#told = { ...this.#told, ...(JSON.parse(`{${notes}}`) as object) };
  }

  /** After the results of this turn. */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    setImmediate(() => this.onEnd());
  }

  #ending(members: object): string {
    // `initial` is about the first event alone.
    const told = { ...this.#told, initial: undefined };
    return `],${JSON.stringify({ cursor: this.#cursor, ...told, ...members }).slice(1)}`;
  }
}
