import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { selectProtocol } from './subprotocol.ts';

const MAX_OPEN = 1000;

const SOCKET_OPTIONS = {
  noServer: true,
  perMessageDeflate: false,
  /** In ms; then the socket is destroyed. */
  closeTimeout: 2000,
  maxPayload: 1024,
  handleProtocols: selectProtocol,
};

/**
 * Handshakes that the gateway does not admit. They are completed and then closed with a code, because a browser hides the status of a refused
 * handshake from its page. No connection is created, nothing is authenticated and no message is read.
 */
export class Refusals {
  readonly #server = new WebSocketServer(SOCKET_OPTIONS);
  readonly #maxOpen: number;

  /** @param maxOpen sockets that wait for their peer's close frame; further handshakes receive a 503, which costs less memory */
  constructor(maxOpen = MAX_OPEN) {
    this.#maxOpen = maxOpen;
  }

  /** Sockets that are not closed yet. */
  get openCount(): number {
    return this.#server.clients.size;
  }

  add(request: IncomingMessage, socket: Duplex, head: Buffer, code: number, reason: string): void {
    if (this.openCount >= this.#maxOpen) return refuseHandshake(socket, '503 Service Unavailable', reason);
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('error', () => undefined);
      webSocket.close(code, reason);
    });
  }

  /** Terminates the sockets that are still open. */
  close(): void {
    for (const webSocket of this.#server.clients) webSocket.terminate();
    this.#server.close();
  }
}

/** Destroys the socket after the reply. Nothing reads an upgraded socket, so it would stay open, and `close` of the server waits for it. */
export function refuseHandshake(socket: Duplex, status: string, text: string): void {
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
