import type { ResultEnder } from '../fanout/outbox/frame.ts';
import { ownBytes, ResultBytes } from '../fanout/outbox/frame.ts';
import type { StreamFormat } from './stream-format.ts';

/**
 * Server-sent events in the protocol of graphql-sse. JSON text has no line breaks (the projection and JSON.stringify write none, and strings
 * escape theirs), so an event has one `data` line.
 */
const SSE = {
  name: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  hasFrames: false,
  opening: ':\n\n',
  ping: ':\n\n',
  // The protocol has no event for it: a client that reads the stream by eye or log should see why it ends.
  closing: (code: number, reason: string) => `: closed with ${code} ${reason}\n\n`,
} as const;

const NEXT_OF_ONE = Buffer.from('event: next\ndata: ');
const END_OF_EVENT = Buffer.from('\n\n');
const CURSOR = Buffer.from('"cursor":"');

/** The stream of one operation (distinct connections mode). Events whose results have a cursor have it as their id. */
export const SSE_OF_ONE: StreamFormat = {
  ...SSE,
  prefixOf: () => NEXT_OF_ONE,
  endResult: withLastPiece((piece) => Buffer.concat([piece.subarray(0, -1), idLineOf(piece), END_OF_EVENT])),
  next: (_id, payload) => `event: next\ndata: ${JSON.stringify(payload)}\n\n`,
  error: (_id, errors) => `event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`,
  complete: () => 'event: complete\ndata:\n\n',
};

/**
 * The stream of many operations (single connection mode). Its events have no id: `Last-Event-ID` names one event, and the operations that the
 * client starts again each resume from a cursor of their own.
 */
export const SSE_OF_MANY: StreamFormat = {
  ...SSE,
  prefixOf: (id) => ownBytes(`event: next\ndata: {"id":${JSON.stringify(id)},"payload":`),
  endResult: withLastPiece((piece) => Buffer.concat([piece, END_OF_EVENT])),
  next: nextOfMany,
  error: (id, errors) => nextOfMany(id, { errors }) + completeOfMany(id),
  complete: completeOfMany,
};

function nextOfMany(id: string, payload: object): string {
  return `event: next\ndata: ${JSON.stringify({ id, payload })}\n\n`;
}

function completeOfMany(id: string): string {
  return `event: complete\ndata: ${JSON.stringify({ id })}\n\n`;
}

/** Replaces the last piece of a result, which closes the result and its message. */
function withLastPiece(replace: (piece: Buffer) => Buffer): ResultEnder {
  return ({ pieces, times }) => new ResultBytes([...pieces.slice(0, -1), replace(pieces.at(-1)!)], times);
}

/** @param piece the last one of a result; it ends with the cursor, if the result has one */
function idLineOf(piece: Buffer): Buffer {
  const at = piece.lastIndexOf(CURSOR);
  if (at < 0) return Buffer.alloc(0);
  const start = at + CURSOR.length;
  return Buffer.from(`\nid: ${piece.toString('latin1', start, piece.indexOf('"', start))}`);
}
