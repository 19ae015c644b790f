import { join } from 'node:path';
import { PageFiles, pageHeaders } from '../../gateway/http/page-files.ts';
import type { Route } from '../../gateway/http/route.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'gateway', 'http', 'live');
const FILES = ['live.js', 'live.css'] as const;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** It tells nothing of the pod. URLs are relative, so that it also works under a path of a reverse proxy. */
const PAGE = Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>live</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="live/live.css" />
    <script type="module" src="live/live.js"></script>
  </head>
  <body></body>
</html>
`);

/** The dashboard's page and its files, by path. They need no token: the figures do. */
export function livePageRoutes(): [string, Route][] {
  const files = new PageFiles(FOLDER);
  const page: Route = {
    methods: ['GET'],
    isPublic: true,
    handle: (_request, response) => {
      response.writeHead(200, pageHeaders(PAGE, CONTENT_SECURITY_POLICY));
      response.end(PAGE);
    },
  };
  return [
    ['/live', page],
    ...FILES.map((name): [string, Route] => [
      `/live/${name}`,
      { methods: ['GET'], isPublic: true, handle: (request, response) => files.send(request, response, name) },
    ]),
  ];
}
