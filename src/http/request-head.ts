import type { IncomingMessage } from 'node:http';
import type { Response } from 'graphql-http';
import { isPreflighted } from './cors.ts';
import type { StreamRequest } from './endpoint-streams.ts';

const NOT_PREFLIGHTED =
  'A GET needs the header "apollo-require-preflight: true" (or "content-type: application/json"), against cross-site requests; or send a POST\n';

/** The reply to a request that is refused before its body is read; undefined: its method, its content type and the length that it names are accepted. */
export function refusedHead(
  request: IncomingMessage,
  maxBodyBytes: number,
  stream?: StreamRequest,
): Response | undefined {
  const { method, headers } = request;
  if (!stream && method !== 'GET' && method !== 'POST')
    return textReply(405, 'Method Not Allowed', '', { allow: 'GET, POST, PUT, DELETE' });
  if (!isPreflighted(request) && !stream?.isUnforgeable) return textReply(400, 'Bad Request', NOT_PREFLIGHTED);
  if (method === 'POST' && mediaType(headers['content-type']) !== 'application/json')
    return textReply(415, 'Unsupported Media Type', 'A POST needs content-type: application/json\n');
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

function mediaType(contentType = ''): string {
  return contentType.split(';', 1)[0]!.trim().toLowerCase();
}

export function textReply(status: number, statusText: string, text: string, headers = {}): Response {
  return [text, { status, statusText, headers: { 'content-type': 'text/plain', ...headers } }];
}
