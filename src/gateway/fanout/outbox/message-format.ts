import { MessageType, stringifyMessage } from 'graphql-ws';
import type { GraphQLFormattedError } from 'graphql';
import type { Deflater } from './deflater.ts';
import { nextPrefix } from './frame.ts';
import type { ResultBytes } from './frame.ts';

/** How a transport writes the messages of operations. Each message is text. */
export interface MessageFormat {
  /** True: each message is the payload of a WebSocket frame. False: its bytes leave as they are. */
  readonly hasFrames: boolean;
  /** The bytes of a `next` message before its result. */
  prefixOf(id: string): Buffer;
  /** Ends a result, which ends as on the WebSocket (`resultBytesOf`), as this transport does. undefined: it ends so already. */
  readonly endResult: ((result: ResultBytes) => ResultBytes) | undefined;
  /** Compresses results; undefined: none is. */
  readonly deflater?: Deflater;
  /** True: clients keep the window of their inflater between messages. */
  readonly hasContext?: boolean;
  /** @param payload the result of a query or mutation */
  next(id: string, payload: object): string;
  /** Ends an operation. */
  error(id: string, errors: readonly GraphQLFormattedError[]): string;
  complete(id: string): string;
}

/** graphql-transport-ws. */
export const WEBSOCKET_FORMAT: MessageFormat = {
  hasFrames: true,
  prefixOf: nextPrefix,
  endResult: undefined,
  next: (id, payload) => stringifyMessage({ id, type: MessageType.Next, payload }),
  error: (id, payload) => stringifyMessage({ id, type: MessageType.Error, payload }),
  complete: (id) => stringifyMessage({ id, type: MessageType.Complete }),
};

/** The same, for connections that negotiated permessage-deflate. */
export function deflatedFormat(deflater: Deflater, hasContext: boolean): MessageFormat {
  return { ...WEBSOCKET_FORMAT, deflater, hasContext };
}
