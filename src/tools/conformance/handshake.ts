import { request as requestHttp } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface Handshake {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/**
 * The server's answer to an upgrade request with exactly these headers added to the obligatory ones.
 * @param patienceMs longest wait for the answer
 */
export function handshake(
  url: string,
  headers: Readonly<Record<string, string>>,
  patienceMs = 10_000,
): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('wss:') ? requestHttps : requestHttp;
    const outgoing = request(url.replace(/^ws/, 'http'), {
      // A pooled connection would keep the process alive.
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
        ...headers,
      },
    });
    const answered = (response: IncomingMessage) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers });
    outgoing.once('upgrade', (response, socket) => {
      socket.destroy();
      answered(response);
    });
    outgoing.once('response', (response) => {
      response.resume();
      answered(response);
    });
    outgoing.once('error', reject);
    outgoing.setTimeout(patienceMs, () =>
      outgoing.destroy(new Error(`no answer to the upgrade request in ${patienceMs / 1000} s`)),
    );
    outgoing.end();
  });
}
