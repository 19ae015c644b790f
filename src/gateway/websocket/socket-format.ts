import type { CompleteMessage, ConnectionInitMessage, PingMessage, PongMessage, SubscribeMessage } from 'graphql-ws';
import type { MessageFormat } from '../connections/message-format.ts';

/** The messages that a client may send. */
export type ClientMessage = ConnectionInitMessage | PingMessage | PongMessage | SubscribeMessage | CompleteMessage;

/** How a sub-protocol of WebSockets looks. `SOCKET_FORMATS` has those that are served. */
export interface SocketFormat extends MessageFormat {
  /** In `Sec-WebSocket-Protocol`. */
  readonly subprotocol: string;
  /** A text: why the protocol demands 4400, without a value of the client. @param maxIdBytes of the id of an operation, in UTF-8 */
  parse(data: Buffer, maxIdBytes: number): ClientMessage | string;
  /** The id of a `subscribe` message that is too long to be parsed; undefined: it cannot be told. */
  subscribedId(data: Buffer, maxIdBytes: number): string | undefined;
  /** @param payload `{}`: the message has none */
  acknowledgement(payload: object): string;
  /** Answers a ping whose frame had `bytes`. */
  pong(ping: PingMessage, bytes: number): string;
  pongWith(payload: object): string;
}
