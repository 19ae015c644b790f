import type { GraphQLFormattedError } from 'graphql';
import type { Deflater } from '../fanout/outbox/deflater.ts';
import type { ResultBytes } from '../fanout/outbox/frame.ts';

/** How a transport writes the messages of operations. Each message is text. */
export interface MessageFormat {
  /** True: each message is the payload of a WebSocket frame. False: its bytes leave as they are. */
  readonly hasFrames: boolean;
  /** The bytes before the result of an event. */
  prefixOf(id: string): Buffer;
  /** Ends a result, which ends as `resultBytesOf` says, as this transport does. undefined: it ends so already. */
  readonly endResult: ((result: ResultBytes) => ResultBytes) | undefined;
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
