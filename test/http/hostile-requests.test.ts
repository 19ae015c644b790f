import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/server.ts';
import { testConfig } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';

const SLOW_SOCKETS = 300;

async function crierPort(t: TestContext): Promise<number> {
  const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'silent' });
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  return server.port!;
}

/** A server of Node that replies to each request. */
async function plainPort(t: TestContext, options: { insecureHTTPParser?: boolean } = {}): Promise<number> {
  const server = createServer(options, (_, response) => void response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Connections that send a byte of a header each second. */
function trickle(t: TestContext, port: number): Socket[] {
  const sockets = Array.from({ length: SLOW_SOCKETS }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.resume().write('GET /graphql HTTP/1.1\r\nHost: h\r\nX-Slow: ');
    return socket;
  });
  const timer = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write('x')), 1000);
  t.after(() => {
    clearInterval(timer);
    sockets.forEach((socket) => socket.destroy());
  });
  return sockets;
}

/** All that the server sends until it closes the connection, or has replied to `replies` requests. */
async function exchange(t: TestContext, port: number, text: string, replies: number): Promise<string[]> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  t.after(() => socket.destroy());
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  socket.write(text);
  const statuses = () => Array.from(received.matchAll(/^HTTP\/1\.1 (\d+)/gm), ([, status]) => status!);
  await waitFor('the replies', () => socket.closed || statuses().length >= replies);
  return statuses();
}

describe('connections that send their headers slowly', () => {
  it('are closed, and others are served meanwhile; a server with the defaults of Node keeps them (S-08)', async (t) => {
    const [port, plain] = [await crierPort(t), await plainPort(t)];
    const [slow, kept] = [trickle(t, port), trickle(t, plain)];
    await waitFor('the connections', () => [...slow, ...kept].every(({ connecting }) => !connecting));
    const body = JSON.stringify({ query: '{ __typename }' });
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body });
    assert.equal(reply.status, 200);
    await waitFor('the end of the slow connections', () => slow.every(({ closed }) => closed), 60_000);
    assert.ok(kept.every(({ closed }) => !closed));
  });
});

describe('a request with two lengths', () => {
  /** For a server that goes by Transfer-Encoding, a second request begins after the empty chunk. */
  const hidden = '0\r\n\r\nGET /graphql HTTP/1.1\r\nHost: h\r\n\r\n';
  const lengths = `Content-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n`;
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
    'Sec-WebSocket-Protocol: graphql-transport-ws\r\n';
  const post = `POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n${lengths}\r\n${hidden}`;

  for (const [what, text] of Object.entries({
    'a POST': post,
    'an upgrade': `GET /graphql HTTP/1.1\r\nHost: h\r\n${upgrade}${lengths}\r\n${hidden}`,
    'a POST whose Content-Length is given twice': post.replace('Transfer-Encoding: chunked', 'Content-Length: 1'),
    'a POST whose last coding is not chunked': post.replace('chunked', 'chunked, identity'),
  })) {
    it(`is refused with 400, and hides no second request: ${what} (S-09)`, async (t) => {
      assert.deepEqual(await exchange(t, await crierPort(t), text, 2), ['400']);
    });
  }

  it('hides a second one from a server that takes it (twin of S-09)', async (t) => {
    const port = await plainPort(t, { insecureHTTPParser: true });
    assert.deepEqual(await exchange(t, port, post, 2), ['200', '200']);
  });
});
