import type { IncomingMessage } from 'node:http';
import type { Response } from 'graphql-http';
import { textReply } from './request-head.ts';

/** A media type in which the endpoint answers, and what for. */
interface AcceptedType {
  readonly type: string;
  readonly use: string;
}

const ACCEPTED_TYPES: readonly AcceptedType[] = [
  { type: 'application/graphql-response+json', use: 'queries and mutations' },
  { type: 'application/json', use: 'queries and mutations' },
  { type: 'text/event-stream', use: 'subscriptions, as server-sent events: npm package graphql-sse' },
  { type: 'multipart/mixed;subscriptionSpec=1.0', use: 'subscriptions, as Apollo Client reads them' },
  { type: 'application/json;callbackSpec=1.0', use: 'subscriptions, posted to a callback of a router' },
];

const HEADERS = {
  accept: ACCEPTED_TYPES.map(({ type }) => type).join(', '),
  'content-type': 'text/plain; charset=utf-8',
  'x-content-type-options': 'nosniff',
};

/** The reply to a client that accepts nothing that this endpoint has. */
export function notAcceptable({ url = '', headers: { accept } }: IncomingMessage): Response {
  return textReply(406, 'Not Acceptable', textFor(accept, url.split('?', 1)[0]!), HEADERS);
}

function textFor(accept: string | undefined, path: string): string {
  const lines = ACCEPTED_TYPES.map(({ type, use }) => `  ${type}   (${use})`);
  return [
    `The header "accept: ${(accept ?? '').slice(0, MAX_LENGTH)}" is not supported here. Send one of:`,
    ...lines,
    `Subscriptions are also on the WebSocket of ${path}, with the sub-protocol graphql-transport-ws.`,
    '',
  ].join('\n');
}

const MAX_LENGTH = 200;
