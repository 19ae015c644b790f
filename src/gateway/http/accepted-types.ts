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
];

/** The text of a 406: what this endpoint can answer. */
export function notAcceptableText(accept: string | undefined, path: string): string {
  const lines = ACCEPTED_TYPES.map(({ type, use }) => `  ${type}   (${use})`);
  return [
    `The header "accept: ${(accept ?? '').slice(0, MAX_LENGTH)}" is not supported here. Send one of:`,
    ...lines,
    `Subscriptions are also on the WebSocket of ${path}, with the sub-protocol graphql-transport-ws.`,
    '',
  ].join('\n');
}

const MAX_LENGTH = 200;
