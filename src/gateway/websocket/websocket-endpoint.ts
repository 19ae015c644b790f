import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Server as SocketServer } from 'ws';
import { originRefusal } from '../../config/addresses/origin.ts';
import type { OriginRefusal, Origins } from '../../config/addresses/origin.ts';
import { ignoreOffer, ignoreOffers, isWebSocketOffer } from '../http/upgrade-offer.ts';
import type { ConnectionRefusal, Connections, ConnectionsOptions } from '../connections/connections.ts';
import { connectionId } from '../connections/connection-id.ts';
import type { RefusedOrigins } from '../http/refused-origins.ts';
import type { Deflater } from '../fanout/outbox/deflater.ts';
import { COMPRESSION_OPTIONS, hasContext, isCompressionAcceptable } from './compression.ts';
import { ConnectionSocket } from './connection-socket.ts';
import { Connection } from './connection.ts';
import type { ConnectionServices } from './connection-services.ts';
import { clientHeaders, headerBytes } from '../connections/handshake-headers.ts';
import { Inbox } from './inbox.ts';
import { KeptWindows } from './kept-windows.ts';
import type { Handshakes } from '../connections/handshakes.ts';
import { InitDeadlines } from '../connections/init-deadlines.ts';
import { ADMISSION_CLOSES } from '../connections/refusal-close.ts';
import { Refusals, refuseHandshake } from './refusals.ts';
import { SOCKET_FORMATS, selectProtocol, tokenProtocol } from './subprotocol.ts';

/** Why a handshake was refused, as a metric label. */
export type RefusalReason = ConnectionRefusal | OriginRefusal['reason'] | 'headers' | 'path' | 'user';

export interface WebSocketEndpointOptions extends Pick<ConnectionsOptions, 'proxies' | 'fastShutdown'> {
  /** The endpoint handles its `upgrade` events; it may be listening already. */
  readonly httpServer: Server;
  readonly path: string;
  /** Decides when each handshake runs. */
  readonly handshakes: Pick<Handshakes, 'add'>;
  readonly origins: Origins;
  readonly refusedOrigins: Pick<RefusedOrigins, 'report'>;
  readonly initTimeoutMs: number;
  /** Whether a sub-protocol may hold the token (`tokenProtocol`). */
  readonly isTokenSubprotocol: boolean;
  /** Compresses results for clients that offer permessage-deflate; undefined: nothing is compressed. */
  readonly deflater?: Deflater | undefined;
  /** Longest wait of a drain, in ms, for answers to mutations and for those of clients to the close frame; a second at most in a fast shutdown. */
  readonly drainTimeoutMs: number;
  /** Those of all transports. The endpoint starts them, and drains them at `close`. */
  readonly connections: Connections;
  readonly services: Omit<
    ConnectionServices<Connection>,
    'formatOf' | 'initDeadlines' | 'tokenExpiries' | 'inbox' | 'keptWindows' | 'onRouterChanged' | 'onClose'
  >;
  readonly onRefused: (reason: RefusalReason) => void;
}

/** What a drain has done. */
export interface DrainSummary {
  /** Sockets that the drain closed. */
  readonly closed: number;
  /** Sockets that their clients closed meanwhile. */
  readonly left: number;
  /** Of all these, sockets that ended without a close frame of the client. */
  readonly terminated: number;
}

/** Longest wait for answers to the close frame in a fast shutdown, in ms. */
const FAST_SHUTDOWN_TIMEOUT_MS = 1000;

const SOCKET_OPTIONS = {
  noServer: true,
  WebSocket: ConnectionSocket,
  clientTracking: false,
  perMessageDeflate: false,
  // At most one message of each socket in a turn of the event loop, so a socket that sends hundreds at once delays others by one.
  allowSynchronousEvents: false,
  maxFragments: 64,
  /** Longest wait for a peer's close frame, in ms; then its socket is destroyed. */
  closeTimeout: 5000,
  handleProtocols: selectProtocol,
};

/** The WebSocket endpoint: checks upgrades, and drains the connections of all transports at `close`. */
export class WebSocketEndpoint {
  readonly connections: Connections;
  readonly #options: WebSocketEndpointOptions;
  readonly #webSockets: SocketServer<typeof ConnectionSocket>;
  /** Accepts the handshakes that agree on compression. */
  readonly #compressed: SocketServer<typeof ConnectionSocket> | undefined;
  readonly #initDeadlines: InitDeadlines<Connection>;
  readonly #services: ConnectionServices<Connection>;
  readonly #refusals = new Refusals();
  readonly #keptWindows = new KeptWindows();
  #closing: Promise<DrainSummary> | undefined;

  constructor(options: WebSocketEndpointOptions) {
    this.#options = options;
    const socketOptions = { ...SOCKET_OPTIONS, maxPayload: options.services.limits.maxMessageBytes };
    this.#webSockets = new WebSocketServer(socketOptions);
    this.#compressed =
      options.deflater && new WebSocketServer({ ...socketOptions, perMessageDeflate: COMPRESSION_OPTIONS });
    this.#initDeadlines = new InitDeadlines(options.initTimeoutMs);
    this.connections = options.connections;
    this.#services = {
      ...options.services,
      formatOf: formats(options.deflater),
      initDeadlines: this.#initDeadlines,
      tokenExpiries: this.connections.tokenExpiries,
      inbox: new Inbox(),
      keptWindows: this.#keptWindows,
      onRouterChanged: (connection) => this.connections.onRouterChanged(connection),
      onClose: (connection, ending) => this.connections.onClosed(connection, ending),
    };
  }

  start(): void {
    ignoreOffers(this.#options.httpServer);
    this.#options.httpServer.on('upgrade', this.#onUpgrade);
    this.connections.start();
  }

  /**
   * Drains: closes every connection with 1001, which stock clients retry, once its mutations are answered, and so each connection that
   * opens meanwhile. Resolves when all
   * sockets are closed; those still open `drainTimeoutMs` after the last close are terminated. Idempotent.
   */
  close(): Promise<DrainSummary> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<DrainSummary> {
    const { drainTimeoutMs, fastShutdown, httpServer } = this.#options;
    const { connections } = this;
    await connections.drain();
    const closedAt = performance.now();
    const isWaiting = () =>
      performance.now() - closedAt <
      (fastShutdown.aborted ? Math.min(FAST_SHUTDOWN_TIMEOUT_MS, drainTimeoutMs) : drainTimeoutMs);
    while (connections.size + this.#refusals.openCount > 0 && isWaiting())
      await new Promise((resolve) => setTimeout(resolve, 10));
    // Before the close: it ends some connections at once, and others later.
    const { drainedCount: closed, endedInDrain } = connections;
    const stuck = connections.close();
    this.#initDeadlines.close();
    httpServer.removeListener('upgrade', this.#onUpgrade);
    this.#webSockets.close();
    this.#compressed?.close();
    this.#refusals.close();
    const ended = endedInDrain.ended + stuck;
    return { closed, left: Math.max(0, ended - closed), terminated: endedInDrain.unanswered + stuck };
  }

  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { handshakes, httpServer } = this.#options;
    if (isWebSocketOffer(request)) handshakes.add(socket, () => this.#shakeHands(request, socket, head));
    else ignoreOffer(httpServer, request, socket, head);
  };

  #shakeHands(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { path, origins, proxies, onRefused, services } = this.#options;
    if (request.url?.split('?', 1)[0] !== path) {
      onRefused('path');
      return refuseHandshake(socket, '404 Not Found', `No WebSocket here; it is at ${path}`);
    }
    const misdirected = originRefusal(request.headers, origins);
    if (misdirected) {
      const { reason, status, text } = misdirected;
      onRefused(reason);
      this.#options.refusedOrigins.report(misdirected, request.headers);
      return refuseHandshake(socket, `${status} ${STATUS_CODES[status]}`, text);
    }
    if (headerBytes(request.rawHeaders) > services.limits.maxInitBytes) {
      onRefused('headers');
      const text = `Headers may have ${services.limits.maxInitBytes} bytes beside Authorization and Cookie`;
      return refuseHandshake(socket, '431 Request Header Fields Too Large', text);
    }
    const address = proxies.addressOf(request);
    const refusal = this.connections.refusalOf(request, address);
    if (refusal) {
      onRefused(refusal);
      return this.#refusals.add(request, socket, head, ...ADMISSION_CLOSES[refusal]);
    }
    const { 'sec-websocket-extensions': offers, 'user-agent': userAgent } = request.headers;
    const isDeclined = () => !isCompressionAcceptable(offers) || this.#keptWindows.has(address, userAgent);
    const server = this.#compressed && !isDeclined() ? this.#compressed : this.#webSockets;
    server.handleUpgrade(request, socket, head, (webSocket) => this.#onOpen(webSocket, request, address));
  }

  #onOpen(socket: ConnectionSocket, request: IncomingMessage, address: string): void {
    const rawHeaders = clientHeaders(request.rawHeaders);
    const token = this.#options.isTokenSubprotocol
      ? tokenProtocol(request.headers['sec-websocket-protocol'])
      : undefined;
    const source = { id: connectionId(), rawHeaders, address, token };
    const isOfRouterNetwork = this.#services.routers.hasSent(request, address);
    const connection = new Connection(socket, request.socket, source, this.#services, isOfRouterNetwork);
    this.connections.add(connection);
    connection.open();
  }
}

/** One format for all sockets that have agreed on the same. */
function formats(deflater: Deflater | undefined): ConnectionServices<Connection>['formatOf'] {
  const variants = SOCKET_FORMATS.map((format) => ({
    format,
    deflated: [false, true].map((hasContext) => ({ ...format, deflater, hasContext })),
  }));
  return ({ protocol, compression }) => {
    const { format, deflated } =
      variants.find(({ format: { subprotocol } }) => subprotocol === protocol) ?? variants[0]!;
    return (compression && deflated[Number(hasContext(compression))]) ?? format;
  };
}
