import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { createServer, defineGraph } from '../../../src/library/crier.ts';
import type { Server } from '../../../src/library/crier.ts';
import { createAuthority } from '../../../stack/certificates.ts';

const GRAPH = defineGraph({
  schema: 'type Query { hello: String } type Subscription { said: Int @kafka(topic: "said") }',
  resolvers: { Query: { hello: () => 'hi' } },
});
const OFFERS = [
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n',
  'Connection: keep-alive, Upgrade\r\nUpgrade: TLS/1.2\r\n',
  'Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n',
];
const ENDS_AFTER_OFFER = Number.parseInt(process.versions.node, 10) >= 26;
const BODY = JSON.stringify({ query: '{ hello }' });

async function start(t: TestContext): Promise<Server> {
  const server = await createServer({ graph: GRAPH, host: '127.0.0.1', port: 0, logLevel: 'silent' });
  t.after(() => server.close());
  return server;
}

/** What the server sends until it closes the connection; the parts are sent one after the other. */
async function exchange(port: number, parts: readonly string[], isTls = false): Promise<string> {
  const socket = isTls
    ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connect(port, '127.0.0.1');
  const received = text(socket);
  for (const part of parts) {
    socket.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return received;
}

const post = (offer: string) =>
  `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n${offer}\r\n`;
const LAST = 'GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

/** The next request of the connection is answered; from Node 26 on the response before it ends the connection instead. */
function assertLast(reply: string, answer: RegExp): void {
  if (ENDS_AFTER_OFFER) assert.match(reply, /\r\nConnection: close\r\n/i);
  else assert.match(reply, answer);
}

describe('an offer of another protocol than WebSocket', () => {
  for (const offer of OFFERS) {
    const name = /Upgrade: ([^\r,]+(?:, websocket)?)\r\n/.exec(offer)![1]!;
    it(`is ignored at the endpoint, and the connection serves as Node can: ${name}`, async (t) => {
      const { url } = await start(t);
      const port = Number(new URL(url!).port);
      const reply = await exchange(port, [post(offer) + BODY.slice(0, 5), BODY.slice(5), LAST]);
      assert.match(reply, /^HTTP\/1\.1 200 OK\r\n/);
      assert.match(reply, /\{"data":\{"hello":"hi"\}\}/);
      assertLast(reply, /HTTP\/1\.1 404/);
    });

    for (const isTls of [false, true]) {
      it(`is ignored on routes of a program that attaches crier${isTls ? ', with TLS' : ''}: ${name}`, async (t) => {
        const crier = await start(t);
        const answer: Parameters<typeof createHttpServer>[1] = (request, response) => {
          void text(request).then((body) => response.end(`${request.url} ${body}`));
        };
        const { certificate: cert, key } = await createAuthority();
        const host = isTls ? createHttpsServer({ cert, key }, answer) : createHttpServer(answer);
        t.after(() => host.close());
        crier.attach(host);
        await new Promise<void>((resolve) => void host.listen(0, '127.0.0.1', resolve));
        const { port } = host.address() as AddressInfo;
        const request = post(offer).replace('/graphql', '/own');
        const reply = await exchange(port, [request + BODY, LAST], isTls);
        assert.match(reply, /\/own \{"query":"\{ hello \}"\}/);
        assertLast(reply, /\/last /);
      });
    }
  }
});

describe('a request whose offer is ignored', () => {
  const H2C = OFFERS[0]!;

  async function attach(t: TestContext, answer: RequestListener) {
    const crier = await start(t);
    const host = createHttpServer(answer);
    t.after(() => host.close());
    crier.attach(host);
    await new Promise<void>((resolve) => void host.listen(0, '127.0.0.1', resolve));
    return { host, port: (host.address() as AddressInfo).port };
  }

  it('is refused with more headers than Node keeps: its body is not another request', async (t) => {
    const requests: string[] = [];
    const { port } = await attach(t, (request, response) => {
      requests.push(request.url!);
      request.resume().on('end', () => response.end());
    });
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const many = 'a:b\r\n'.repeat(1100);
    const request = `POST /own HTTP/1.1\r\nHost: localhost\r\n${H2C}${many}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`;
    assert.match(await exchange(port, [request]), /^HTTP\/1\.1 431 /);
    assert.deepEqual(requests, []);
  });

  it('is served after the requests before it on the connection, with its empty headers', async (t) => {
    const { host, port } = await attach(t, (request, response) => {
      const answer = () => response.end(`${request.url} ${JSON.stringify(request.headers['x-empty'])};`);
      if (request.url === '/slow') setTimeout(answer, 50);
      else answer();
    });
    let connections = 0;
    host.on('connection', () => void connections++);
    const slow = 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const two = `GET /two HTTP/1.1\r\nHost:\r\nX-Empty:\r\n${H2C}\r\n`;
    const reply = await exchange(port, [slow + two, LAST]);
    assert.deepEqual(
      Array.from(reply.matchAll(/\/(\w+) ("?"?\w*);/g), ([, path, header]) => [path, header]),
      [['slow', 'undefined'], ['two', '""'], ...(ENDS_AFTER_OFFER ? [] : [['last', 'undefined']])],
    );
    assert.equal(connections, 1);
  });
});

describe('an offer of another protocol than WebSocket that another listener takes', () => {
  const ask = (port: number) => exchange(port, ['GET /x HTTP/1.1\r\nHost: localhost\r\n' + OFFERS[1]! + '\r\n', LAST]);

  it('is left to it, while crier is attached and after crier has closed', async (t) => {
    const crier = await start(t);
    const host = createHttpServer((_, response) => response.end());
    t.after(() => host.close());
    crier.attach(host);
    host.on('upgrade', (_, socket) => void socket.end('HTTP/1.1 418 Mine\r\n\r\n'));
    await new Promise<void>((resolve) => void host.listen(0, '127.0.0.1', resolve));
    const { port } = host.address() as AddressInfo;
    assert.match(await ask(port), /^HTTP\/1\.1 418 Mine/);
    await crier.close();
    assert.match(await ask(port), /^HTTP\/1\.1 418 Mine/);
  });
});

describe('a WebSocket of another path than the endpoint', () => {
  const upgrade = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

  for (const path of ['/x', '/graphql/', '//graphql', '/GRAPHQL']) {
    it(`receives 404 where crier is attached, and nothing else listens for upgrades: ${path}`, async (t) => {
      const crier = await start(t);
      const host = createHttpServer();
      t.after(() => host.close());
      crier.attach(host);
      await new Promise<void>((resolve) => void host.listen(0, '127.0.0.1', resolve));
      assert.match(await exchange((host.address() as AddressInfo).port, [upgrade(path)]), /^HTTP\/1\.1 404 Not Found/);
    });
  }

  it('is left to another listener', async (t) => {
    const crier = await start(t);
    const host = createHttpServer();
    t.after(() => host.close());
    crier.attach(host);
    host.on('upgrade', (request, socket) => {
      if (request.url === '/x') socket.end('HTTP/1.1 418 Mine\r\n\r\n');
    });
    await new Promise<void>((resolve) => void host.listen(0, '127.0.0.1', resolve));
    assert.match(await exchange((host.address() as AddressInfo).port, [upgrade('/x')]), /^HTTP\/1\.1 418 Mine/);
  });
});
