import { GRAPHQL_TRANSPORT_WS_PROTOCOL, MessageType, stringifyMessage, validateMessage } from 'graphql-ws';
import type { PingMessage } from 'graphql-ws';
import { ownBytes } from '../fanout/outbox/frame.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';
import { messageProblem } from './message-problem.ts';
import { MAX_ECHOED_BYTES } from './socket-format.ts';
import type { ClientMessage, SocketFormat } from './socket-format.ts';

/** graphql-transport-ws. */
export const TRANSPORT_WS: SocketFormat = {
  subprotocol: GRAPHQL_TRANSPORT_WS_PROTOCOL,
  hasFrames: true,
  prefixOf: nextPrefix,
  endResult: undefined,
  next: (id, payload) => stringifyMessage({ id, type: MessageType.Next, payload }),
  error: (id, payload) => stringifyMessage({ id, type: MessageType.Error, payload }),
  complete: (id) => stringifyMessage({ id, type: MessageType.Complete }),
  parse: parseClientMessage,
  subscribedId,
  completedId,
  acknowledgement,
  pong,
  pongWith,
};

/** The bytes before the payload of a `next`. A client may choose any string as id: quotes, escapes, lone surrogates. */
function nextPrefix(id: string): Buffer {
  return ownBytes(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
}

const CLIENT_TYPES: ReadonlySet<unknown> = new Set([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

function parseClientMessage(data: Buffer): ClientMessage | string {
  let value: unknown;
  try {
    value = parseExactly(data.toString());
  } catch {
    return 'A message must be JSON';
  }
  let message: ClientMessage;
  try {
    message = validateMessage(value) as ClientMessage;
  } catch {
    return messageProblem(value);
  }
  if (!CLIENT_TYPES.has(message.type)) return messageProblem(value);
  return message;
}

/** From here on comes the payload of a `subscribe` whose id is the longest and escaped. */
const HEAD_BYTES = 1024;
const SUBSCRIBE_HEAD =
  /^\s*\{\s*(?:"type"\s*:\s*"subscribe"\s*,\s*)?"id"\s*:\s*("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")(?!\s*,\s*"type"\s*:\s*"(?!subscribe"))/u;

/** The id of a `subscribe` message that is not parsed; undefined: it does not begin with its id, as those of known clients do. */
function subscribedId(data: Buffer): string | undefined {
  const literal = SUBSCRIBE_HEAD.exec(data.toString('utf8', 0, HEAD_BYTES))?.[1];
  return literal && (JSON.parse(literal) as string);
}

const COMPLETE =
  /^\s*\{\s*(?:"type"\s*:\s*"complete"\s*,\s*"id"\s*:\s*("[^"\\\p{Cc}]+")|"id"\s*:\s*("[^"\\\p{Cc}]+")\s*,\s*"type"\s*:\s*"complete")\s*\}\s*$/u;

function completedId(data: Buffer): string | undefined {
  if (data.length > HEAD_BYTES) return undefined;
  const [, last, first = last] = COMPLETE.exec(data.toString()) ?? [];
  return first?.slice(1, -1);
}

const ACKNOWLEDGEMENT = JSON.stringify({ type: MessageType.ConnectionAck });

function acknowledgement(payload: object): string {
  const isEmpty = Object.keys(payload).length === 0;
  return isEmpty ? ACKNOWLEDGEMENT : JSON.stringify({ type: MessageType.ConnectionAck, payload });
}

const EMPTY_PONG = JSON.stringify({ type: MessageType.Pong });

/**
 * The pong for a ping whose frame had `bytes`. A large ping gets a pong without its payload: `JSON.stringify` throws on a payload
 * that is nested too deep. So does one whose payload grows (`1e20`).
 */
function pong({ payload }: PingMessage, bytes: number): string {
  const echo = payload && bytes <= MAX_ECHOED_BYTES ? pongWith(payload) : EMPTY_PONG;
  return Buffer.byteLength(echo) <= bytes ? echo : EMPTY_PONG;
}

function pongWith(payload: object): string {
  return JSON.stringify({ type: MessageType.Pong, payload });
}
