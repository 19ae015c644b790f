import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket as TcpSocket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Writer } from '../../src/fanout/writer.ts';
import { createLog } from '../../src/log.ts';
import { Gateway } from '../../src/websocket/gateway.ts';
import type { GatewayOptions } from '../../src/websocket/gateway.ts';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMITS: GatewayOptions['connections']['limits'] = {
  maxOperations: 100,
  maxIdBytes: 128,
  maxMessagesPerSecond: 20,
  maxMessageBurst: 150,
  maxPendingEvents: 1000,
  maxHeldBytes: 1_048_576,
};

/** A gateway that nobody gets far enough into to need a graph. */
async function startGateway(t: TestContext, limits = LIMITS) {
  const closes: number[] = [];
  const httpServer = createServer();
  const gateway = new Gateway({
    httpServer,
    path: '/graphql',
    allowedOrigins: [],
    initTimeoutMs: 5000,
    pingIntervalMs: 0,
    maxMessageBytes: 65_536,
    drainTimeoutMs: 1000,
    connections: {
      limits,
      log: createLog('silent'),
      onSlowConsumer: () => undefined,
      writer: new Writer({ maxQueueBytes: 1_048_576, maxPodQueueBytes: 268_435_456 }),
    } as GatewayOptions['connections'],
    observer: { onOpen: () => undefined, onClose: (code) => closes.push(code), onRefusedOrigin: () => undefined },
  });
  gateway.start();
  httpServer.listen(0, '127.0.0.1');
  await once(httpServer, 'listening');
  t.after(async () => {
    await gateway.close();
    httpServer.close();
  });
  const { port } = httpServer.address() as AddressInfo;
  const openSockets = () => new Promise<number>((resolve) => httpServer.getConnections((_, count) => resolve(count)));
  return { port, url: `ws://127.0.0.1:${port}/graphql`, openSockets, closes };
}

/** A peer that sends this and then neither reads nor closes. */
async function sendRaw(t: TestContext, port: number, text: string): Promise<TcpSocket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause();
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

describe('Gateway', () => {
  it('closes a connection with 1012 when handling its message fails, and the others live on', async (t) => {
    const { url } = await startGateway(t, {
      ...LIMITS,
      get maxIdBytes(): number {
        throw new Error('a bug');
      },
    });
    const other = await openSocket(t, url);
    const socket = await openSocket(t, url);
    socket.send({ type: 'ping' });
    assert.deepEqual(await socket.expectClose(), { code: 1012, reason: 'Internal server error' });
    assert.ok(other.isOpen);
  });

  it('tells the code of who closed first', async (t) => {
    const { url, closes } = await startGateway(t);
    const polite = await openSocket(t, url);
    polite.close(3999);
    await waitFor('the first close', () => closes.length === 1);
    const refused = await openSocket(t, url);
    refused.send('no JSON');
    refused.pause();
    await waitFor('the second close', () => closes.length === 2, 15_000);
    assert.deepEqual(closes, [3999, 4400], 'not 1006 for a peer that does not answer the close');
  });

  for (const [what, requestLine] of [
    ['on another path', 'GET /elsewhere'],
    ['from a foreign Origin', 'GET /graphql'],
    ['of another method', 'POST /graphql'],
  ] as const) {
    it(`keeps no socket of a refused handshake ${what}, whatever its peer does`, async (t) => {
      const { port, openSockets } = await startGateway(t);
      const handshake = [
        `${requestLine} HTTP/1.1`,
        'Host: 127.0.0.1',
        'Origin: https://evil.example',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ].join('\r\n');
      await sendRaw(t, port, `${handshake}\r\n\r\n`);
      await sendRaw(t, port, `${handshake}\r\nContent-Length: 65536\r\n\r\n${'x'.repeat(65_536)}`);
      await sendRaw(t, port, `${handshake}\r\n\r\nGET /graphql?query={hello} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      await waitFor('the server to let go of them', async () => (await openSockets()) === 0);
    });
  }
});
