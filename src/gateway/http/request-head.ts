import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Response } from 'graphql-http';
import { isPreflighted } from './cors.ts';
import { isUtf8, mediaTypeOf, parametersOf } from './media-type.ts';

const NOT_PREFLIGHTED =
  'A GET needs the header "apollo-require-preflight: true" (or "content-type: application/json"), against cross-site requests; or send a POST\n';

const NO_METHOD = 'Send a POST or a GET; PUT and DELETE are for streams of many operations\n';

/** True for a GET of the endpoint that a person has typed into a browser: it takes a page, and could only be refused. */
export function asksForPage(request: IncomingMessage): boolean {
  return request.headers.accept?.includes('text/html') === true && !isPreflighted(request);
}

export interface RequestKind {
  /** True: it reserves a stream of many operations, or is about a reserved one. */
  readonly isOfStream: boolean;
  /** True: no page can make a browser send it without a preflight or a secret. */
  readonly isUnforgeable: boolean;
}

/** The reply to a request that is refused before its body is read; undefined: its method, its content type and the length that it names are accepted. */
export function refusedHead(
  request: IncomingMessage,
  maxBodyBytes: number,
  { isOfStream, isUnforgeable }: RequestKind,
): Response | undefined {
  const { method, headers } = request;
  if (!isOfStream && method !== 'GET' && method !== 'POST')
    return textReply(405, 'Method Not Allowed', NO_METHOD, { allow: 'GET, POST, PUT, DELETE' });
  if (!isPreflighted(request) && !isUnforgeable) return textReply(400, 'Bad Request', NOT_PREFLIGHTED);
  const unreadable = method === 'POST' ? unreadableBody(headers) : undefined;
  if (unreadable) return textReply(415, 'Unsupported Media Type', unreadable);
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) return bodyTooLong(maxBodyBytes);
  return undefined;
}

export function bodyTooLong(maxBodyBytes: number): Response {
  return textReply(413, 'Payload Too Large', `A body may have ${maxBodyBytes} bytes (MAX_MESSAGE_BYTES)`);
}

/** True if the body of a request that is refused need not be read: Node skips what is left of it, and the connection may be kept. */
export function isBodyShort({ headers }: IncomingMessage, maxBodyBytes: number): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding, expect } = headers;
  return encoding === undefined && expect === undefined && Number(length) <= maxBodyBytes;
}

/** Why a body with these headers is not read; undefined: it is. */
function unreadableBody(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-type': contentType, 'content-encoding': encoding = 'identity' } = headers;
  if (mediaTypeOf(contentType) !== 'application/json') return 'A POST needs content-type: application/json\n';
  if (!isUtf8(parametersOf(contentType)))
    return 'A body must be UTF-8: content-type: application/json; charset=utf-8\n';
  if (encoding.toLowerCase() !== 'identity') return 'A body must not be compressed: send no content-encoding\n';
  return undefined;
}

export function textReply(status: number, statusText: string, text: string, headers = {}): Response {
  return [text, { status, statusText, headers: { 'content-type': 'text/plain', ...headers } }];
}
