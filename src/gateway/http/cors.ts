import type { IncomingMessage, ServerResponse } from 'node:http';
import { mediaTypeOf } from './media-type.ts';

/** Names the reserved stream that a request is about (graphql-sse). */
export const STREAM_TOKEN_HEADER = 'x-graphql-event-stream-token';

/** For which a browser may keep the answer to a preflight, in seconds. Chromium keeps it for at most two hours. */
const MAX_AGE_SECONDS = 7200;

/**
 * Headers for a cross-origin request of an allowed origin (https://fetch.spec.whatwg.org/#http-cors-protocol). A page of any origin may
 * read what it may request without the user's cookies; with them, only a page of a listed origin. It may send any header, as a program may.
 */
export function allowOrigin(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  isListed: boolean,
): void {
  response.setHeader('access-control-allow-origin', origin);
  if (isListed) response.setHeader('access-control-allow-credentials', 'true');
  if (request.method !== 'OPTIONS') return;
  response.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE');
  response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '');
  response.setHeader('access-control-max-age', String(MAX_AGE_SECONDS));
  response.appendHeader('vary', 'access-control-request-headers');
}

/** Headers that stock clients send so that a browser asks with a preflight first. */
const PREFLIGHTED = ['apollo-require-preflight', 'x-apollo-operation-name', 'graphql-require-preflight'];

/**
 * True if a browser sends the request across origins only after a preflight, or it is no GET: a page that a user has open could make any
 * other GET in the user's name, by an image or a link, and measure the answer.
 */
export function isPreflighted({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return true;
  return mediaTypeOf(headers['content-type']) === 'application/json' || PREFLIGHTED.some((name) => headers[name]);
}
