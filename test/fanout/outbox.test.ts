import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { Outbox } from '../../src/fanout/outbox.ts';
import { waitFor } from '../support/wait-for.ts';

const MAX_QUEUE_BYTES = 256 * 1024;

/** A server socket and an outbox on it; `slow` counts what the outbox said. */
async function openOutbox(t: TestContext, peer: (port: number) => void) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  peer((server.address() as AddressInfo).port);
  const [socket] = await connected;
  let slow = 0;
  const outbox = new Outbox(socket, MAX_QUEUE_BYTES, {
    onSlowConsumer: () => {
      slow++;
      socket.close(1013, 'slow');
    },
  });
  return { socket, outbox, slow: () => slow };
}

/** A peer that completes the handshake and then never reads. */
function stalledPeer(t: TestContext) {
  return (port: number) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      socket.pause();
    });
    t.after(() => socket.destroy());
  };
}

describe('Outbox', () => {
  it('delivers in order to a peer that reads', async (t) => {
    const received: string[] = [];
    const { outbox, slow } = await openOutbox(t, (port) => {
      const client = new WebSocket(`ws://127.0.0.1:${port}`);
      client.on('message', (data: Buffer) => received.push(data.toString()));
      t.after(() => client.terminate());
    });
    for (let i = 0; i < 1000; i++) assert.equal(outbox.send(`message ${i}`), true);
    await waitFor('all messages', () => received.length === 1000);
    assert.deepEqual(
      received,
      Array.from({ length: 1000 }, (_, i) => `message ${i}`),
    );
    assert.equal(slow(), 0);
  });

  it('says once that a peer is slow when what it did not read passes the bound, and takes nothing more', async (t) => {
    const { socket, outbox, slow } = await openOutbox(t, stalledPeer(t));
    const message = 'x'.repeat(64 * 1024);
    let sent = 0;
    while (outbox.send(message)) assert.ok(++sent < 10_000, 'the bound was never reached');
    assert.equal(slow(), 1);
    assert.equal(socket.readyState, WebSocket.CLOSING);
    const queued = socket.bufferedAmount;
    for (let i = 0; i < 100; i++) assert.equal(outbox.send(message), false);
    assert.equal(slow(), 1);
    assert.equal(socket.bufferedAmount, queued, 'a closing socket must not queue more');
    assert.ok(queued < MAX_QUEUE_BYTES + 2 * message.length, `${queued} bytes are queued`);
  });
});
