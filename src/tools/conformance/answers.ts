import assert from 'node:assert/strict';
import { isJsonObject } from '../../base/json/json-object.ts';
import type { ProtocolMessage } from './message.ts';
import { closeText } from './socket.ts';
import type { Closing, Socket } from './socket.ts';

/** The socket is closed with one of these codes, and no other message has arrived. */
export async function expectClose(socket: Socket, code: number | readonly number[], why = ''): Promise<Closing> {
  const closing = await socket.closing();
  const about = why && `${why}: `;
  const codes = [code].flat();
  const answer = closing ? closeText(closing) : `none in ${socket.patienceMs / 1000} s`;
  const received = socket.unread.length === 0 ? '' : `; received ${JSON.stringify(socket.unread)}`;
  assert.ok(
    closing && codes.includes(closing.code),
    `${about}expected close ${codes.join(' or ')}, got ${answer}${received}`,
  );
  assert.ok(received === '', `${about}expected no message before the close${received}`);
  return closing;
}

/** As `expectClose`, with the reason that the protocol names beside the code. */
export async function expectCloseEvent(socket: Socket, code: number, expected: string): Promise<void> {
  const { reason } = await expectClose(socket, code);
  assert.ok(reason === expected, `expected the reason "${expected}" of close ${code}, got ${JSON.stringify(reason)}`);
}

export function next(id: string, data: unknown): ProtocolMessage {
  return { id, type: 'next', payload: { data } };
}

export function complete(id: string): ProtocolMessage {
  return { id, type: 'complete' };
}

/** One `error` for this id, its payload a non-empty array of GraphQL errors. */
export function assertError(message: ProtocolMessage, id: string): { message: string; code: unknown } {
  assert.ok(
    message.type === 'error' && message.id === id,
    `expected error for "${id}", got ${JSON.stringify(message)}`,
  );
  const [error] = Array.isArray(message.payload)
    ? (message.payload as { message?: string; extensions?: { code?: unknown } }[])
    : [];
  assert.ok(typeof error?.message === 'string', `expected a payload of GraphQL errors, got ${JSON.stringify(message)}`);
  return { message: error.message, code: error.extensions?.code };
}

/** One `next` for this id, whose payload has data. */
export function assertData(message: ProtocolMessage, id: string): Readonly<Record<string, unknown>> {
  const { data } = (message.payload ?? {}) as { data?: unknown };
  assert.ok(
    message.type === 'next' && message.id === id && isJsonObject(data),
    `expected next with data for "${id}", got ${JSON.stringify(message)}`,
  );
  return data;
}

export function assertComplete(message: ProtocolMessage, id: string): void {
  assert.ok(
    message.type === 'complete' && message.id === id,
    `expected complete for "${id}", got ${JSON.stringify(message)}`,
  );
}

export function assertNone(messages: readonly ProtocolMessage[], why = ''): void {
  assert.ok(messages.length === 0, `${why && `${why}: `}expected no message, got ${JSON.stringify(messages)}`);
}
