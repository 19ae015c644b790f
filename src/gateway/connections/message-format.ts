import type { GraphQLFormattedError } from 'graphql';
import type { Deflater } from '../fanout/outbox/deflater.ts';
import type { ResultBytes } from '../fanout/outbox/frame.ts';
import type { OnCaughtUp } from '../fanout/resume/on-caught-up.ts';

/** How a transport writes the messages of operations. Each message is text. */
export interface MessageFormat {
  /** True: each message is the payload of a WebSocket frame. False: its bytes leave as they are. */
  readonly hasFrames: boolean;
  /** The bytes before the result of an event. */
  prefixOf(id: string): Buffer;
  /**
   * Ends a result, which ends as `resultBytesOf` says, as this transport does. undefined: it ends so already.
   * @param notes what only this subscription is told with it, as members of a JSON object
   */
  readonly endResult: ((result: ResultBytes, notes?: string) => ResultBytes) | undefined;
  /** For a transport of clients that read what they have missed, and no more; undefined: it is of none. */
  readonly onCaughtUp?: OnCaughtUp | undefined;
  /** Compresses results; undefined: none is. */
  readonly deflater?: Deflater | undefined;
  /** True: clients keep the window of their inflater between messages. */
  readonly hasContext?: boolean;
  /** @param payload the result of a query or mutation */
  next(id: string, payload: object): string;
  /** Ends an operation. */
  error(id: string, errors: readonly GraphQLFormattedError[]): string;
  complete(id: string): string;
}
