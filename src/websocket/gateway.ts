import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import type { Server as SocketServer } from 'ws';
import { isOriginAllowed } from '../http/origin.ts';
import { ConnectionSocket } from './connection-socket.ts';
import { Connection } from './connection.ts';
import type { ConnectionServices } from './connection.ts';
import { Inbox } from './inbox.ts';
import { InitDeadlines } from './init-deadlines.ts';
import { CLOSE_CODES } from './protocol.ts';
import { SweepRing } from './sweep-ring.ts';

/** Why a handshake was refused, as a metric label. */
export type RefusalReason = 'origin' | 'path';

export interface GatewayObserver {
  onOpen(): void;
  onClose(code: number): void;
  onRefused(reason: RefusalReason): void;
}

export interface GatewayOptions {
  /** The gateway handles its `upgrade` events; it may be listening already. */
  readonly httpServer: Server;
  readonly path: string;
  readonly allowedOrigins: readonly string[];
  readonly initTimeoutMs: number;
  /** 0: no pings. */
  readonly pingIntervalMs: number;
  readonly maxMessageBytes: number;
  /** Longest wait, in ms, for clients to answer the close frame of a drain. */
  readonly drainTimeoutMs: number;
  readonly connections: Omit<ConnectionServices, 'initDeadlines' | 'inbox' | 'onClose'>;
  readonly observer: GatewayObserver;
}

/** Ticks over which one sweep is spread, so that no tick blocks the event loop for long. */
const SWEEP_SLOTS = 20;
/** Interval of the sweep in ms if pings are off. */
const UNPINGED_SWEEP_INTERVAL_MS = 12_000;

const SOCKET_OPTIONS = {
  noServer: true,
  WebSocket: ConnectionSocket,
  clientTracking: false,
  // Compression fragments memory and makes sends queued: https://github.com/websockets/ws/issues/1202
  perMessageDeflate: false,
  // At most one message of each socket in a turn of the event loop, so a socket that sends hundreds at once delays others by one.
  allowSynchronousEvents: false,
  maxFragments: 64,
  maxBufferedChunks: 1024,
  /** Longest wait for a peer's close frame, in ms; then its socket is destroyed. */
  closeTimeout: 5000,
  handleProtocols,
};

/** The WebSocket endpoint: checks upgrades, owns the connections, ends silent ones and drains all of them at `close`. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #webSockets: SocketServer<typeof ConnectionSocket>;
  readonly #initDeadlines: InitDeadlines<Connection>;
  readonly #services: ConnectionServices;
  readonly #connections = new SweepRing<Connection>(SWEEP_SLOTS);
  #sweep: NodeJS.Timeout | undefined;
  #isDraining = false;
  #closing: Promise<void> | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#webSockets = new WebSocketServer({ ...SOCKET_OPTIONS, maxPayload: options.maxMessageBytes });
    this.#initDeadlines = new InitDeadlines(options.initTimeoutMs);
    this.#services = {
      ...options.connections,
      initDeadlines: this.#initDeadlines,
      inbox: new Inbox(),
      onClose: (connection, code) => {
        this.#connections.delete(connection);
        options.observer.onClose(code);
      },
    };
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  get operationCount(): number {
    let count = 0;
    for (const connection of this.#connections) count += connection.operationCount;
    return count;
  }

  start(): void {
    const { httpServer, pingIntervalMs } = this.#options;
    httpServer.on('upgrade', this.#onUpgrade);
    const sweepIntervalMs = pingIntervalMs || UNPINGED_SWEEP_INTERVAL_MS;
    this.#sweep = setInterval(this.#onTick, Math.max(1, sweepIntervalMs / SWEEP_SLOTS));
  }

  /**
   * Closes every connection with 1001, which stock clients retry, and so each connection that opens meanwhile. Resolves when
   * all sockets are closed; those still open after `drainTimeoutMs` are terminated. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isDraining = true;
    for (const connection of this.#connections) connection.close(CLOSE_CODES.goingAway, 'The server is shutting down');
    const deadline = performance.now() + this.#options.drainTimeoutMs;
    while (this.#connections.size > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10));
    for (const connection of this.#connections) connection.terminate();
    clearInterval(this.#sweep);
    this.#initDeadlines.close();
    this.#options.httpServer.removeListener('upgrade', this.#onUpgrade);
    this.#webSockets.close();
  }

  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { path, allowedOrigins, observer } = this.#options;
    if (request.url?.split('?', 1)[0] !== path) {
      observer.onRefused('path');
      return refuse(socket, '404 Not Found', `No WebSocket here; it is at ${path}`);
    }
    if (!isOriginAllowed(request.headers.origin, request.headers.host, allowedOrigins)) {
      observer.onRefused('origin');
      return refuse(socket, '403 Forbidden', 'This origin is not allowed; ALLOWED_ORIGINS lists those that are');
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => this.#onOpen(webSocket, request));
  };

  #onOpen(socket: ConnectionSocket, request: IncomingMessage): void {
    const connection = new Connection(
      socket,
      request.socket,
      { id: connectionId(), rawHeaders: request.rawHeaders, address: request.socket.remoteAddress ?? '' },
      this.#services,
    );
    this.#connections.add(connection);
    this.#options.observer.onOpen();
    connection.open();
    if (this.#isDraining) connection.close(CLOSE_CODES.goingAway, 'The server is shutting down');
  }

  /** After a blocked event loop, timers run before input is read. `setImmediate` lets the peers' input be read first. */
  readonly #onTick = (): void => void setImmediate(this.#sweepSlot);

  /** Sweeps each connection once per interval, so a peer has a whole interval to answer a ping or to complete a message. */
  readonly #sweepSlot = (): void => {
    const isPinging = this.#options.pingIntervalMs > 0;
    for (const connection of this.#connections.next()) connection.sweep(isPinging);
  };
}

/** A flat string. V8 keeps the string that `randomUUID` concatenates as a tree of its parts: 480 bytes instead of 56. */
function connectionId(): string {
  return Buffer.from(randomUUID()).toString('latin1');
}

/** Destroys the socket after the reply. Nothing reads an upgraded socket, so it would stay open, and `close` of the server waits for it. */
function refuse(socket: Duplex, status: string, text: string): void {
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
