import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import type { DeliveryObservations } from '../../../../src/gateway/fanout/outbox/deliveries.ts';
import type { Deflater } from '../../../../src/gateway/fanout/outbox/deflater.ts';
import { TRANSPORT_WS } from '../../../../src/gateway/websocket/transport-ws.ts';
import { COMPRESSION_OPTIONS } from '../../../../src/gateway/websocket/compression.ts';
import { Outbox } from '../../../../src/gateway/fanout/outbox/outbox.ts';
import { Writer } from '../../../../src/gateway/fanout/outbox/writer.ts';

export const LIMITS = { maxQueueBytes: 256 * 1024, maxPodQueueBytes: 1024 * 1024 };

/** Counts the bytes that outboxes report. */
class CountingWriter extends Writer {
  counted = 0;
  override count(bytes: number): void {
    this.counted += bytes;
    super.count(bytes);
  }
}

export interface Opened {
  readonly socket: WebSocket;
  readonly stream: Socket;
  readonly outbox: Outbox;
  readonly slow: () => number;
  /** Errors that writes threw. */
  readonly failures: readonly unknown[];
}

export interface ServerOptions {
  readonly limits?: typeof LIMITS;
  readonly hasBatching?: boolean;
  readonly observations?: DeliveryObservations;
  /** Compresses the results of all connections. */
  readonly deflater?: Deflater;
}

/** A WebSocket server whose connections have outboxes on one writer. */
export async function startWebSocketServer(t: TestContext, options: ServerOptions = {}) {
  const { limits = LIMITS, hasBatching = true, observations, deflater } = options;
  const format = { ...TRANSPORT_WS, deflater, hasContext: true };
  const writer = new CountingWriter({ ...limits, hasBatching, ...(observations && { observations }) });
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: deflater && COMPRESSION_OPTIONS });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  /** Connects a peer and returns the server's side of the connection. */
  async function accept(peer: (port: number) => void): Promise<Opened> {
    const connected = once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>;
    peer(port);
    const [socket, { socket: stream }] = await connected;
    let slow = 0;
    const failures: unknown[] = [];
    const owner = {
      get maxQueueBytes() {
        return writer.maxQueueBytes;
      },
      onSlowConsumer: () => {
        slow++;
        socket.close(1013, 'slow');
      },
      openReadWindow: () => undefined,
      onWriteFailure: (error: unknown) => {
        failures.push(error);
        socket.terminate();
      },
    };
    const outbox = new Outbox(socket, stream, writer, owner, format);
    socket.on('close', () => outbox.drop());
    return { socket, stream, outbox, slow: () => slow, failures };
  }
  return { writer, accept };
}

/** A peer that reads; `received` grows. */
export function reader(t: TestContext, received: string[], closed: number[] = []) {
  return (port: number) => {
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    client.on('message', (data: Buffer) => received.push(data.toString()));
    client.on('close', (code) => closed.push(code));
    // A test may end before the handshake.
    client.on('error', () => undefined);
    t.after(() => client.terminate());
  };
}

/** A peer that completes the handshake and then does not read until `resume()`. */
export function stalled(t: TestContext, resumable: { socket?: Socket } = {}) {
  return (port: number) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      socket.pause();
    });
    socket.on('error', () => undefined);
    resumable.socket = socket;
    t.after(() => socket.destroy());
  };
}
