import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { stage } from '../identity/stage.ts';
import { handshake } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sendRaw } from './raw-client.ts';

const SLOW_CLIENTS = 200;

/** A body that Content-Length ends before the second request begins, and that Transfer-Encoding ends after it. */
const SMUGGLED =
  'POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n' +
  '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n';

/** A bare server of Node with these options; `paths` of its requests. */
async function startNode(t: TestContext, options: ServerOptions) {
  const paths: string[] = [];
  const server = createServer(options, (request, response) => {
    paths.push(request.url ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  t.after(() => server.close().closeAllConnections());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, paths };
}

describe('a hostile HTTP client', { concurrency: 3 }, () => {
  it('opens a WebSocket on /graphql, and none on another path or on ADMIN_PORT (S-07)', async (t) => {
    const { url, adminPort } = await stage(t, {});
    assert.equal((await handshake(url, {})).status, 101);
    for (const path of ['/', '/healthz', '/metrics', '/graphql/', '/graphqlx'])
      assert.equal((await handshake(url.replace('/graphql', path), {})).status, 404, path);
    const admin = `http://127.0.0.1:${adminPort}`;
    for (const path of ['/healthz', '/metrics', '/graphql', '/admin/connections'])
      assert.equal((await handshake(`${admin}${path}`, {})).status, (await fetch(`${admin}${path}`)).status, path);
  });

  it('gets 400 for Content-Length beside Transfer-Encoding, where a lenient parser serves a hidden request (S-09)', async (t) => {
    const { url, adminPort } = await stage(t, {});
    for (const port of [Number(new URL(url).port), adminPort]) {
      const { reply } = await sendRaw(t, port, SMUGGLED);
      await waitFor('the close', () => reply.isClosed);
      assert.match(reply.text, /^HTTP\/1\.1 400 /);
      assert.equal(reply.text.match(/HTTP\/1\.1/g)!.length, 1, 'the second request is not answered');
    }
    const lenient = await startNode(t, { insecureHTTPParser: true });
    await sendRaw(t, lenient.port, SMUGGLED);
    await waitFor('both requests', () => lenient.paths.length === 2);
    assert.deepEqual(lenient.paths, ['/graphql', '/smuggled']);
  });

  it('loses sockets on which it sends headers or bodies slowly; a server with the defaults of Node keeps them (S-08)', async (t) => {
    const { url, adminPort, post, provider } = await stage(t, {});
    const token = await provider.sign();
    const port = Number(new URL(url).port);
    const bare = await startNode(t, {});
    const beginnings = [
      '',
      'GET /graphql HTTP/1.1\r\nX: ',
      'POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n' +
        `Authorization: Bearer ${token}\r\n\r\n{`,
    ];
    const open = (to: number, count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => sendRaw(t, to, beginnings[i % 3]!)));
    const clients = [...(await open(port, SLOW_CLIENTS)), ...(await open(adminPort, 6))];
    const bareClients = await open(bare.port, 3);
    const dripping = setInterval(() => {
      for (const { socket, reply } of [...clients, ...bareClients])
        if (!reply.isClosed && socket.bytesWritten > 0) socket.write('x');
    }, 1000);
    t.after(() => clearInterval(dripping));
    assert.equal((await post({ authorization: `Bearer ${token}` })).status, 200);
    await waitFor('the closes', () => clients.every(({ reply }) => reply.isClosed), 60_000);
    assert.ok(bareClients.every(({ reply }) => !reply.isClosed));
  });
});
