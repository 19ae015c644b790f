import type { IncomingMessage, ServerResponse } from 'node:http';

/** A path of the admin port. */
export interface Route {
  /** Methods that it answers. GET includes HEAD: Node leaves out the body. */
  readonly methods: readonly ('GET' | 'POST')[];
  /** Needs no token, on whatever address the port listens. */
  readonly isPublic?: true;
  /** Sends the reply, `url` being the request's path and query. A failure is logged and answered with 500. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void;
}

export function sendJson(response: ServerResponse, code: number, value: object): void {
  sendBody(response, code, 'application/json; charset=utf-8', `${JSON.stringify(value)}\n`);
}

export function sendText(response: ServerResponse, code: number, text: string): void {
  sendBody(response, code, 'text/plain; charset=utf-8', text);
}

export function sendBody(response: ServerResponse, code: number, contentType: string, body: string | Buffer): void {
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}
