import { CloseCode, MessageType, validateMessage } from 'graphql-ws';
import type { CompleteMessage, ConnectionInitMessage, PingMessage, PongMessage, SubscribeMessage } from 'graphql-ws';
import type { Authenticated } from '../identity/authenticator.ts';

/** Close codes that crier sends itself; graphql-ws's `CloseCode` has those of the protocol. What stock clients do with each: docs/operations.md. */
export const CLOSE_CODES = {
  goingAway: 1001,
  policyViolation: 1008,
  serviceRestart: 1012,
  tryAgainLater: 1013,
  /** The protocol's code for a late `connection_init`, here also for a message that is not completed in time. Stock clients retry. */
  timeout: CloseCode.ConnectionInitialisationTimeout,
} as const;

/** Codes 1000 to 1015 and those of graphql-transport-ws. A client may send 2,000 others (3000 to 4999). */
const KNOWN_CODES: ReadonlySet<number> = new Set([
  ...Array.from({ length: 16 }, (_, i) => 1000 + i),
  ...Object.values(CloseCode).filter((code) => typeof code === 'number'),
]);

/** The metric label of a close code. Unknown codes share the label "other", so clients cannot create labels. */
export function closeLabel(code: number): string {
  return KNOWN_CODES.has(code) ? String(code) : 'other';
}

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
    message = validateMessage(JSON.parse(data.toString())) as ClientMessage;
  } catch {
    return undefined;
  }
  if (!CLIENT_TYPES.has(message.type)) return undefined;
  if ('id' in message && typeof message.id === 'string' && Buffer.byteLength(message.id) > maxIdBytes) return undefined;
  return message;
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

/**
 * The pong for a ping whose frame had `bytes`. A large ping gets a pong without its payload: `JSON.stringify` throws on a payload
 * that is nested too deep, and a client must not make the server send more than it sends itself.
 */
export function pongMessage({ payload }: PingMessage, bytes: number): string {
  return payload && bytes <= MAX_ECHOED_BYTES ? pongWith(payload) : '{"type":"pong"}';
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

/** `extensions.resume.cursor` of a subscribe message; null if `resume` has no cursor, undefined without `resume`. */
export function cursorOf(extensions: Readonly<Record<string, unknown>> | null | undefined): unknown {
  const resume = extensions?.['resume'];
  if (typeof resume !== 'object' || resume === null) return undefined;
  return 'cursor' in resume ? resume.cursor : null;
}
