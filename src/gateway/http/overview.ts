import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendText } from './route.ts';

export interface OverviewOptions {
  /** Path of the endpoint. */
  readonly endpoint: string;
  /** The server's own origin; '': that of the request. */
  readonly origin: string;
  /** undefined: the page at / is not there, and nothing of the graph is told. */
  readonly graph: { readonly name: string; readonly operation: string } | undefined;
  /** True if the dashboard is at /live. */
  readonly hasLive: boolean;
}

/** Hosts as a person may paste them into a shell. */
const PLAIN_HOST = /^[\w.:[\]-]{1,253}$/;

/** What there is, for `curl /` and programs: plain text. Handles GET and HEAD of / and returns true; false for every other request. */
export function createOverview(
  options: OverviewOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    const { method, url = '' } = request;
    if ((method !== 'GET' && method !== 'HEAD') || url.split('?', 1)[0] !== '/') return false;
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('vary', 'accept');
    sendText(response, 200, textOf(originOf(request, options.origin), options));
    return true;
  };
}

function originOf({ headers: { host } }: IncomingMessage, own: string): string {
  if (own !== '') return own;
  return `http://${host !== undefined && PLAIN_HOST.test(host) ? host : 'localhost'}`;
}

function textOf(origin: string, { endpoint, graph, hasLive }: OverviewOptions): string {
  const url = `${origin}${endpoint}`;
  const lines = [
    graph ? `crier: the graph "${graph.name}"` : 'GraphQL',
    '',
    ...(graph ? [`  GraphiQL        ${origin}/   (in a browser)`] : []),
    ...(hasLive ? [`  Dashboard       ${origin}/live   (in a browser)`] : []),
    `  Subscriptions   ${url.replace(/^http/, 'ws')}   (WebSocket, sub-protocol graphql-transport-ws: npm package graphql-ws)`,
    `  Queries         POST ${url}`,
    '',
    'A query to start with:',
    '',
    `  curl ${url} -H 'content-type: application/json' -d '{"query":"{ __typename }"}'`,
    '',
  ];
  if (graph) lines.push('A subscription to start with:', '', graph.operation.trim().replace(/^/gm, '  '), '');
  return lines.join('\n');
}
