import { CloseCode, MessageType, validateMessage } from 'graphql-ws';
import type { CompleteMessage, ConnectionInitMessage, PingMessage, PongMessage, SubscribeMessage } from 'graphql-ws';

/** Close codes that crier sends itself; graphql-ws's `CloseCode` has those of the protocol. What stock clients do with each: docs/operations.md. */
export const CLOSE_CODES = {
  goingAway: 1001,
  policyViolation: 1008,
  serviceRestart: 1012,
  tryAgainLater: 1013,
  /** The protocol's code for a `connection_init` that is late, here for a message that is. Stock clients retry. */
  timeout: CloseCode.ConnectionInitialisationTimeout,
} as const;

/** Codes 1000 to 1015 and graphql-transport-ws's; a client may choose among 2,000 more. */
const KNOWN_CODES: ReadonlySet<number> = new Set([
  ...Array.from({ length: 16 }, (_, i) => 1000 + i),
  ...Object.values(CloseCode).filter((code) => typeof code === 'number'),
]);

/** A close code as the label of a metric, of which there must not be many: a code that means nothing is "other". */
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
 * The message in a WebSocket frame, or undefined for what the protocol answers with 4400: not JSON, not a message, a
 * message of the server's, an id longer than `maxIdBytes` (UTF-8).
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

/** The largest ping whose payload is echoed, in bytes of its frame. */
const MAX_ECHOED_BYTES = 1024;

/**
 * The answer to a ping whose frame had `bytes`. A large one gets a plain pong: it cannot be amplified, nor be nested so deep
 * that JSON.stringify throws on what JSON.parse took.
 */
export function pongMessage({ payload }: PingMessage, bytes: number): string {
  return payload && bytes <= MAX_ECHOED_BYTES ? JSON.stringify({ type: MessageType.Pong, payload }) : '{"type":"pong"}';
}

/** A close frame's reason has at most 123 bytes of UTF-8 (RFC 6455 section 5.5); a longer one loses its end. */
export function closeReason(text: string): string {
  let reason = '';
  for (const character of text) {
    if (Buffer.byteLength(reason + character) > 123) break;
    reason += character;
  }
  return reason;
}
