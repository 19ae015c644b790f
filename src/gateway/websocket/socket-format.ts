import type { CompleteMessage, ConnectionInitMessage, PingMessage, PongMessage, SubscribeMessage } from 'graphql-ws';
import type { MessageFormat } from '../connections/message-format.ts';

/** The messages that a client may send. */
export type ClientMessage = ConnectionInitMessage | PingMessage | PongMessage | SubscribeMessage | CompleteMessage;

/**
 * What a client has sent is sent back up to so many bytes: the payload of a ping by its frame, an id that is too long by itself. A compressed
 * message may have a thousand times its bytes, and a client must not make the server send more than it sends itself.
 */
export const MAX_ECHOED_BYTES = 1024;

/** How a sub-protocol of WebSockets looks. `SOCKET_FORMATS` has those that are served. */
export interface SocketFormat extends MessageFormat {
  /** In `Sec-WebSocket-Protocol`. */
  readonly subprotocol: string;
  /** A text: why the protocol demands 4400, without a value of the client. */
  parse(data: Buffer): ClientMessage | string;
  /** The id of a `subscribe` message that is not parsed; undefined: it cannot be told. */
  subscribedId(data: Buffer): string | undefined;
  /** The id of a `complete` message; undefined: it is none, or not written as those of known clients. */
  completedId(data: Buffer): string | undefined;
  /** @param payload `{}`: the message has none */
  acknowledgement(payload: object): string;
  /** Answers a ping whose frame had `bytes`. */
  pong(ping: PingMessage, bytes: number): string;
  pongWith(payload: object): string;
}
