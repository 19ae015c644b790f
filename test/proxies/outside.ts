import { once } from 'node:events';
import { connect } from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { request } from 'node:https';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Scope } from '../support/socket.ts';

export const HOST = 'api.example.com';
/** The client's address: another one of this machine, so that it differs from the proxy's. */
export const CLIENT_ADDRESS = '127.0.0.2';

const TLS = { rejectUnauthorized: false, servername: HOST, localAddress: CLIENT_ADDRESS } as const;

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body so far. */
  text: string;
  isEnded: boolean;
}

/** One request over HTTP/1.1. Resolves with the headers of the reply. */
export async function send(
  scope: Scope,
  port: number,
  { body, ...options }: RequestOptions & { readonly body?: object },
): Promise<Reply> {
  const json = body && { 'content-type': 'application/json' };
  const outgoing = request({
    ...TLS,
    host: '127.0.0.1',
    port,
    path: '/graphql',
    agent: false,
    method: body ? 'POST' : 'GET',
    ...options,
    headers: { host: HOST, ...json, ...(options.headers as Record<string, string>) },
  });
  outgoing.on('error', () => undefined);
  scope.after(() => void outgoing.destroy());
  outgoing.end(body && JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const reply: Reply = { status: response.statusCode!, headers: response.headers, text: '', isEnded: false };
  response.setEncoding('utf8').on('data', (text: string) => (reply.text += text));
  response.on('error', () => undefined).on('close', () => (reply.isEnded = true));
  return reply;
}

export async function openHttp2(scope: Scope, port: number): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${port}`, { ...TLS });
  session.on('error', () => undefined);
  scope.after(() => void session.destroy());
  await once(session, 'remoteSettings');
  return session;
}

/** One stream of server-sent events over HTTP/2. */
export async function openHttp2Stream(session: ClientHttp2Session, query: string): Promise<Reply> {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/graphql',
    ':authority': HOST,
    accept: 'text/event-stream',
    'content-type': 'application/json',
  });
  stream.on('error', () => undefined);
  stream.end(JSON.stringify({ query }));
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
  const reply: Reply = { status: headers[':status'], headers, text: '', isEnded: false };
  stream.setEncoding('utf8').on('data', (text: string) => (reply.text += text));
  stream.on('close', () => (reply.isEnded = true));
  return reply;
}

/** Opens a WebSocket as one stream of HTTP/2 (RFC 8441). Resolves with the headers of the reply. */
export async function openWebSocketOverHttp2(session: ClientHttp2Session, host: string): Promise<Reply> {
  const stream = session.request({
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':scheme': 'https',
    ':path': '/graphql',
    ':authority': host,
    'sec-websocket-version': '13',
    'sec-websocket-protocol': 'graphql-transport-ws',
  });
  stream.on('error', () => undefined);
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
  const reply: Reply = { status: headers[':status'], headers, text: '', isEnded: false };
  stream.setEncoding('utf8').on('data', (text: string) => (reply.text += text));
  stream.on('close', () => (reply.isEnded = true));
  return reply;
}

/** What a subscription of a stock graphql-ws client has received; it connects again at once, and for ever. */
export interface Followed {
  readonly client: Client;
  readonly results: Record<string, unknown>[];
  /** Of connections that were acknowledged: a proxy may still lead an attempt to a pod that has ended. */
  readonly closeCodes: number[];
  /** Times at which it was connected. */
  connections: number;
  pings: number;
  error: unknown;
}

export function follow(scope: Scope, port: number, query: string): Followed {
  const followed: Omit<Followed, 'client'> = {
    results: [],
    closeCodes: [],
    connections: 0,
    pings: 0,
    error: undefined,
  };
  let isOver = false;
  let isOpen = false;
  const client = createClient({
    url: `wss://127.0.0.1:${port}/graphql`,
    webSocketImpl: class extends WebSocket {
      constructor(url: string, protocols: string) {
        super(url, protocols, { ...TLS, headers: { host: HOST } });
        this.on('ping', () => followed.pings++);
      }
    },
    retryAttempts: Infinity,
    shouldRetry: () => !isOver,
    retryWait: () => new Promise((resolve) => setImmediate(resolve)),
    on: {
      connected: () => {
        isOpen = true;
        followed.connections++;
      },
      closed: (event) => {
        if (isOpen) followed.closeCodes.push((event as { code: number }).code);
        isOpen = false;
      },
    },
  });
  scope.after(() => {
    isOver = true;
    // Rejects if the socket was about to open.
    return Promise.resolve(client.dispose()).catch(() => undefined);
  });
  client.subscribe(
    { query },
    {
      next: ({ data }) => void followed.results.push(data as Record<string, unknown>),
      error: (error) => (followed.error = error),
      complete: () => undefined,
    },
  );
  return Object.assign(followed, { client });
}
