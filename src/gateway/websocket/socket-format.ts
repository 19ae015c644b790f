import type { CompleteMessage, ConnectionInitMessage, PingMessage, PongMessage, SubscribeMessage } from 'graphql-ws';
import type { MessageFormat } from '../connections/message-format.ts';

/** The messages that a client may send. */
export type ClientMessage = ConnectionInitMessage | PingMessage | PongMessage | SubscribeMessage | CompleteMessage;

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
