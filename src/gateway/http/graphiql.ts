import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { escapeMarkup } from '../../base/escape-markup.ts';
import { PageFiles, pageHeaders } from './page-files.ts';

export interface GraphiqlOptions {
  /** The subscription that the editor shows first. */
  readonly operation: string;
  /** Title of the page: the graph's name. */
  readonly title: string;
  /** What the page tells somebody who waits for an event; JSON. */
  readonly sources: object;
  /** True if the dashboard is at /live. */
  readonly hasLive: boolean;
}

/** Handles a request for GraphiQL and returns true. Returns false for every other request and leaves it untouched. */
export type GraphiqlHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

const FOLDER = join(import.meta.dirname, 'graphiql');

/** GraphiQL carries its fonts as data: URLs, and its editor (Monaco) sets styles inline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** GraphiQL without a CDN: the page at `GET /` for clients that accept text/html, its files at `GET /graphiql/*`. */
export function createGraphiql(options: GraphiqlOptions): GraphiqlHandler {
  const page = renderPage(options);
  const files = new PageFiles(FOLDER);
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/') return sendPage(request, response, page);
    const name = path?.startsWith('/graphiql/') ? path.slice('/graphiql/'.length) : '';
    if (!files.has(name)) return false;
    files.send(request, response, name).catch((error: Error) => response.destroy(error));
    return true;
  };
}

function sendPage(request: IncomingMessage, response: ServerResponse, page: Buffer): boolean {
  if (!request.headers.accept?.includes('text/html')) return false;
  response.writeHead(200, { ...pageHeaders(page, CONTENT_SECURITY_POLICY), vary: 'accept' });
  response.end(request.method === 'HEAD' ? undefined : page);
  return true;
}

/** URLs are relative, so that the page also works under a path of a reverse proxy. */
function renderPage({ operation, title, sources, hasLive }: GraphiqlOptions): Buffer {
  // "<" could end the script element; in JSON it may be written as an escape.
  const settings = JSON.stringify({ operation, sources }).replaceAll('<', '\\u003c');
  return Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeMarkup(title)}</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="graphiql/graphiql.css" />
    <link rel="stylesheet" href="graphiql/page.css" />
    <script type="application/json" id="settings">${settings}</script>
    <script type="module" src="graphiql/graphiql.js"></script>
  </head>
  <body>
    <main id="graphiql"></main>
    <footer>
      <div id="line">
        <div id="status" role="status"></div>
        ${hasLive ? '<a href="live">Live figures</a>' : ''}
      </div>
      <details id="events" open hidden></details>
    </footer>
  </body>
</html>
`);
}
