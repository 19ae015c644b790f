import { MessageType, validateMessage } from 'graphql-ws';
import type { CompleteMessage, ConnectionInitMessage, PingMessage, PongMessage, SubscribeMessage } from 'graphql-ws';
import type { Authenticated } from '../identity/authenticator.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';

/** The messages that a client may send. */
export type ClientMessage = ConnectionInitMessage | PingMessage | PongMessage | SubscribeMessage | CompleteMessage;

const CLIENT_TYPES: ReadonlySet<unknown> = new Set([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

/**
 * Parses a message of a client. Returns undefined if the protocol demands 4400: not JSON, not a message, a message type of the
 * server, or an id longer than `maxIdBytes` in UTF-8.
 */
export function parseClientMessage(data: Buffer, maxIdBytes: number): ClientMessage | undefined {
  let message: ClientMessage;
  try {
    message = validateMessage(parseExactly(data.toString())) as ClientMessage;
  } catch {
    return undefined;
  }
  if (!CLIENT_TYPES.has(message.type)) return undefined;
  if ('id' in message && typeof message.id === 'string' && Buffer.byteLength(message.id) > maxIdBytes) return undefined;
  return message;
}

/** From here on comes the payload of a `subscribe` whose id is the longest and escaped. */
const HEAD_BYTES = 1024;
const SUBSCRIBE_HEAD =
  /^\s*\{\s*(?:"type"\s*:\s*"subscribe"\s*,\s*)?"id"\s*:\s*("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")(?!\s*,\s*"type"\s*:\s*"(?!subscribe"))/u;

/** The id of a `subscribe` message that is not parsed; undefined: it does not begin with its id, as those of known clients do. */
export function subscribedId(data: Buffer, maxIdBytes: number): string | undefined {
  const literal = SUBSCRIBE_HEAD.exec(data.toString('utf8', 0, HEAD_BYTES))?.[1];
  const id = literal && (JSON.parse(literal) as string);
  return id && Buffer.byteLength(id) <= maxIdBytes ? id : undefined;
}

/** What a client learns when it is authenticated: the graph's payload, and when its token expires. */
export function authenticatedPayload({ ack, expiresAtMs }: Pick<Authenticated, 'ack' | 'expiresAtMs'>): object {
  if (expiresAtMs === undefined) return { ...ack };
  return { ...ack, expiresAt: expiresAtMs, expiresInMs: Math.max(0, expiresAtMs - Date.now()) };
}

const ACKNOWLEDGEMENT = JSON.stringify({ type: MessageType.ConnectionAck });

/** @param payload `{}`: the message has none */
export function acknowledgement(payload: object): string {
  const isEmpty = Object.keys(payload).length === 0;
  return isEmpty ? ACKNOWLEDGEMENT : JSON.stringify({ type: MessageType.ConnectionAck, payload });
}

/** The largest ping whose payload is echoed, in bytes of its frame. */
const MAX_ECHOED_BYTES = 1024;
const EMPTY_PONG = JSON.stringify({ type: MessageType.Pong });

/**
 * The pong for a ping whose frame had `bytes`. A large ping gets a pong without its payload: `JSON.stringify` throws on a payload
 * that is nested too deep. So does one whose payload grows (`1e20`): a client must not make the server send more than it sends itself.
 */
export function pongMessage({ payload }: PingMessage, bytes: number): string {
  const pong = payload && bytes <= MAX_ECHOED_BYTES ? pongWith(payload) : EMPTY_PONG;
  return Buffer.byteLength(pong) <= bytes ? pong : EMPTY_PONG;
}

export function pongWith(payload: object): string {
  return JSON.stringify({ type: MessageType.Pong, payload });
}

/** A close frame's reason has at most 123 bytes of UTF-8 (RFC 6455 section 5.5); a longer one is cut. */
export function closeReason(text: string): string {
  let reason = '';
  for (const character of text) {
    if (Buffer.byteLength(reason + character) > 123) break;
    reason += character;
  }
  return reason;
}
