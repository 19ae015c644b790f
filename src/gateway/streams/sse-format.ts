import type { ResultEnder } from '../fanout/outbox/frame.ts';
import { cursorIn, ownBytes, ResultBytes } from '../fanout/outbox/frame.ts';
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

/** Replaces the last piece of a result, which closes the result and its message, once for all subscriptions that share it. */
export function withLastPiece(replace: (piece: Buffer) => Buffer): ResultEnder {
  const end: ResultEnder = ({ pieces, times }) =>
    new ResultBytes([...pieces.slice(0, -1), replace(pieces.at(-1)!)], times);
  return (result) => result.endedBy(end);
}

/** @param piece the last one of a result */
function idLineOf(piece: Buffer): Buffer {
  const cursor = cursorIn(piece);
  return cursor === undefined ? Buffer.alloc(0) : Buffer.from(`\nid: ${cursor}`);
}
