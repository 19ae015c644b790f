import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

export interface GraphiqlOptions {
  /** The subscription that stands ready to run. */
  readonly operation: string;
  /** Of the page: the graph's name. */
  readonly title: string;
}

/** Answers a request for GraphiQL and returns true; returns false, and touches nothing, for every other one. */
export type GraphiqlHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Written by deploy/copy-graphiql.js, each with a `.gz` beside it. */
const FOLDER = join(import.meta.dirname, 'graphiql');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  LICENSE: 'text/plain; charset=utf-8',
};

const ASSETS: ReadonlySet<string> = new Set([
  'graphiql.css',
  'graphiql.js',
  'graphiql.LICENSE',
  'graphql-ws.js',
  'page.css',
  'page.js',
  'react-dom.js',
  'react.js',
]);

/** GraphiQL carries its fonts as data: URLs, and its editor (CodeMirror) sets styles inline. */
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

const HARDENING = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/**
 * GraphiQL without a CDN: the page at `GET /`, for who accepts text/html, and its assets at `GET /graphiql/*`. Assets are
 * streamed from disk and revalidated by ETag, so nothing is held in memory and a deploy is seen at the next load.
 */
export function createGraphiql(options: GraphiqlOptions): GraphiqlHandler {
  const page = renderPage(options);
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/') return sendPage(request, response, page);
    const asset = path?.startsWith('/graphiql/') ? path.slice('/graphiql/'.length) : '';
    if (!ASSETS.has(asset)) return false;
    sendAsset(request, response, asset).catch((error: Error) => response.destroy(error));
    return true;
  };
}

function sendPage(request: IncomingMessage, response: ServerResponse, page: Buffer): boolean {
  if (!request.headers.accept?.includes('text/html')) return false;
  response.writeHead(200, {
    ...HARDENING,
    'content-type': 'text/html; charset=utf-8',
    'content-length': page.byteLength,
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'cache-control': 'no-cache',
    vary: 'accept',
  });
  response.end(request.method === 'HEAD' ? undefined : page);
  return true;
}

async function sendAsset(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
  const isGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const file = await openAsset(isGzip ? `${name}.gz` : name);
  if (!file) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`GraphiQL's ${name} is missing in this build; run npm run build\n`);
    return;
  }
  const { size, mtimeMs } = await file.stat();
  const etag = `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
  const headers = { ...HARDENING, etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
  const isKnown = request.headers['if-none-match'] === etag;
  if (isKnown || request.method === 'HEAD') {
    await file.close();
    response.writeHead(isKnown ? 304 : 200, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    'content-type': CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)]!,
    'content-length': size,
    ...(isGzip && { 'content-encoding': 'gzip' }),
  });
  // A client that goes away in the middle ends the pipeline with an error that concerns nobody; the file is closed.
  pipeline(file.createReadStream(), response, () => undefined);
}

async function openAsset(name: string): Promise<FileHandle | undefined> {
  return open(join(FOLDER, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
}

/** URLs are relative, so that the page also works under a path of a reverse proxy. */
function renderPage({ operation, title }: GraphiqlOptions): Buffer {
  // "<" could end the script element; in JSON it may be written as an escape.
  const settings = JSON.stringify({ operation }).replaceAll('<', '\\u003c');
  return Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="graphiql/graphiql.css" />
    <link rel="stylesheet" href="graphiql/page.css" />
    <script type="application/json" id="settings">${settings}</script>
    <script src="graphiql/react.js" defer></script>
    <script src="graphiql/react-dom.js" defer></script>
    <script src="graphiql/graphiql.js" defer></script>
    <script src="graphiql/graphql-ws.js" defer></script>
    <script src="graphiql/page.js" defer></script>
  </head>
  <body>
    <div id="graphiql"></div>
  </body>
</html>
`);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
