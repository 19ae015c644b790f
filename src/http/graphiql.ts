import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { escapeMarkup } from '../escape-markup.ts';

export interface GraphiqlOptions {
  /** The subscription that the editor shows first. */
  readonly operation: string;
  /** Title of the page: the graph's name. */
  readonly title: string;
}

/** Handles a request for GraphiQL and returns true. Returns false for every other request and leaves it untouched. */
export type GraphiqlHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Written by scripts/copy-graphiql.js, each with a `.gz` beside it. */
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

interface Asset {
  readonly body: Buffer;
  readonly etag: string;
}

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
 * GraphiQL without a CDN: the page at `GET /` for clients that accept text/html, its assets at `GET /graphiql/*`. Assets are
 * revalidated by ETag, so a new deployment is seen at the next load. They are read at their first request and sent from memory
 * (2.3 MB at most, shared by all replies), so no client can keep a file open. sirv 3.0.2 leaves a file open if its client
 * disconnects during the download.
 */
export function createGraphiql(options: GraphiqlOptions): GraphiqlHandler {
  const page = renderPage(options);
  const assets = new Map<string, Asset>();
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/') return sendPage(request, response, page);
    const asset = path?.startsWith('/graphiql/') ? path.slice('/graphiql/'.length) : '';
    if (!ASSETS.has(asset)) return false;
    sendAsset(assets, request, response, asset).catch((error: Error) => response.destroy(error));
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

async function sendAsset(
  assets: Map<string, Asset>,
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
): Promise<void> {
  const isGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const asset = await readAsset(assets, isGzip ? `${name}.gz` : name);
  if (!asset) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`GraphiQL's ${name} is missing in this build; run npm run build\n`);
    return;
  }
  const { body, etag } = asset;
  const headers = { ...HARDENING, etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    'content-type': CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)]!,
    'content-length': body.byteLength,
    ...(isGzip && { 'content-encoding': 'gzip' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Returns undefined if the file does not exist. */
async function readAsset(assets: Map<string, Asset>, file: string): Promise<Asset | undefined> {
  const known = assets.get(file);
  if (known) return known;
  try {
    const body = await readFile(join(FOLDER, file));
    const asset = { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
    assets.set(file, asset);
    return asset;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
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
    <title>${escapeMarkup(title)}</title>
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
