import type { IncomingMessage } from 'node:http';
import type { Response } from 'graphql-http';
import { STREAM_TOKEN_HEADER } from './cors.ts';
import { STREAM_HEADERS } from './stream-headers.ts';

/**
 * The reply as the client understands it. An `EventSource` is closed for good by any status but 200, so it receives a refusal that is over
 * soon, one with `retry-after`, as a stream that ends at once: then it comes back.
 */
export function replyFor(request: IncomingMessage, reply: Response): Response {
  const [text, { status, headers }] = reply;
  const retrySeconds = headers?.['retry-after'];
  if (retrySeconds === undefined || !isEventSource(request)) return reply;
  // Spread: all that a pod has refused would come back at once.
  const retryMs = Math.round(Number(retrySeconds) * 1000 * (1 + 2 * Math.random()));
  const body = `retry: ${retryMs}\n: refused with ${status} ${text ?? ''}\n\n`;
  return [body, { status: 200, statusText: 'OK', headers: { ...STREAM_HEADERS, 'content-type': EVENT_STREAM } }];
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** True for a request as `EventSource` sends it: it has no other method, accepts nothing else, and its page can set no header. */
function isEventSource({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.accept === 'text/event-stream' && headers[STREAM_TOKEN_HEADER] === undefined;
}
