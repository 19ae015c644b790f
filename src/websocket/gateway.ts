import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import type { Server as SocketServer } from 'ws';
import { originRefusal } from '../http/origin.ts';
import type { TrustedProxies } from '../http/client-address.ts';
import { addressKey } from '../http/ip-address.ts';
import type { OriginRefusal, Origins } from '../http/origin.ts';
import { Admission } from './admission.ts';
import type { AdmissionLimits, AdmissionRefusal, Overload } from './admission.ts';
import { ConnectionSocket } from './connection-socket.ts';
import { Connection } from './connection.ts';
import type { ConnectionServices } from './connection-services.ts';
import { clientHeaders, headerBytes } from './handshake-headers.ts';
import { Inbox } from './inbox.ts';
import { InitDeadlines } from './init-deadlines.ts';
import type { Relief } from '../memory/memory-guard.ts';
import { relieve } from './memory-relief.ts';
import { DRAIN_REASON, drain } from './drain.ts';
import { CLOSE_CODES } from './protocol.ts';
import { Quota } from '../limits/quota.ts';
import { Refusals, refuseHandshake } from './refusals.ts';
import { SweepRing } from './sweep-ring.ts';
import { TokenExpiries } from './token-expiries.ts';

/** Why a handshake was refused, as a metric label. */
export type RefusalReason =
  AdmissionRefusal | OriginRefusal['reason'] | 'address' | 'draining' | 'headers' | 'path' | 'user';

export interface GatewayObserver {
  onOpen(): void;
  onClose(code: number): void;
  onRefused(reason: RefusalReason): void;
}

export interface GatewayOptions {
  /** The gateway handles its `upgrade` events; it may be listening already. */
  readonly httpServer: Server;
  readonly path: string;
  readonly origins: Origins;
  readonly initTimeoutMs: number;
  /** 0: no pings. */
  readonly pingIntervalMs: number;
  readonly maxMessageBytes: number;
  readonly admission: AdmissionLimits;
  readonly proxies: TrustedProxies;
  /** Most connections of one client address; 0: no limit. */
  readonly maxConnectionsPerAddress: number;
  /** While it lasts, no handshake is admitted. */
  readonly overload: Overload;
  /** Time in ms over which a drain spreads its closes. */
  readonly drainSpreadMs: number;
  /** Longest wait of a drain, in ms, for answers to mutations and for those of clients to the close frame. */
  readonly drainTimeoutMs: number;
  /** Once aborted, a drain closes the rest at once and waits for answers a second at most. */
  readonly hurry: AbortSignal;
  readonly connections: Omit<ConnectionServices<Connection>, 'initDeadlines' | 'tokenExpiries' | 'inbox' | 'onClose'>;
  readonly observer: GatewayObserver;
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

/** Longest wait for answers to the close frame once a drain must hurry, in ms. */
const HURRIED_TIMEOUT_MS = 1000;

const REFUSALS: Readonly<Record<AdmissionRefusal, string>> = {
  memory: 'Try again later: the server is short of memory',
  loop_lag: 'Try again later: the server is overloaded',
  connections: 'Try again later: the server has as many connections as it may have',
  handshake_rate: 'Try again later: too many connections at once',
};

const TOO_MANY_OF_ADDRESS = 'Try again later: this address has as many connections as it may have';

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
  readonly #tokenExpiries = new TokenExpiries<Connection>();
  readonly #services: ConnectionServices<Connection>;
  readonly #connections = new SweepRing<Connection>(SWEEP_SLOTS);
  readonly #admission: Admission;
  readonly #addresses: Quota;
  readonly #refusals = new Refusals();
  /** Of the drain. */
  #closed = 0;
  #ended = 0;
  #terminated = 0;
  /** Closed to free memory. */
  #discarded = 0;
  #sweep: NodeJS.Timeout | undefined;
  #isDraining = false;
  #closing: Promise<DrainSummary> | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#webSockets = new WebSocketServer({ ...SOCKET_OPTIONS, maxPayload: options.maxMessageBytes });
    this.#initDeadlines = new InitDeadlines(options.initTimeoutMs);
    this.#addresses = new Quota(options.maxConnectionsPerAddress);
    this.#admission = new Admission(options.admission, () => this.#connections.size, options.overload);
    this.#services = {
      ...options.connections,
      initDeadlines: this.#initDeadlines,
      tokenExpiries: this.#tokenExpiries,
      inbox: new Inbox(),
      onClose: (connection, code, isAnswered) => {
        this.#connections.delete(connection);
        this.#addresses.delete(addressKey(connection.address));
        if (this.#isDraining) this.#ended++;
        if (this.#isDraining && !isAnswered) this.#terminated++;
        options.observer.onClose(code);
      },
    };
  }

  get connections(): Iterable<Connection> {
    return this.#connections;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  get operationCount(): number {
    let count = 0;
    for (const connection of this.#connections) count += connection.operations.size;
    return count;
  }

  start(): void {
    const { httpServer, pingIntervalMs } = this.#options;
    httpServer.on('upgrade', this.#onUpgrade);
    this.#tokenExpiries.start();
    this.#options.connections.writer.beforeWrites = this.#tokenExpiries.closeExpired;
    const sweepIntervalMs = pingIntervalMs || UNPINGED_SWEEP_INTERVAL_MS;
    this.#sweep = setInterval(this.#onTick, Math.max(1, sweepIntervalMs / SWEEP_SLOTS));
  }

  /** True while MAX_CONNECTIONS is reached. */
  get isFull(): boolean {
    return this.#admission.isFull;
  }

  /** Sockets that the drain has closed. */
  get drainedCount(): number {
    return this.#closed;
  }

  /** Sockets that were closed to free memory. */
  get discardedCount(): number {
    return this.#discarded;
  }

  /** Frees memory by closing the connections that hold the most of it with 1013. */
  relieve(bytes: number): Relief {
    const relief = relieve(this.#connections, bytes);
    this.#discarded += relief.closed;
    return relief;
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
    const { drainSpreadMs, drainTimeoutMs, hurry, httpServer } = this.#options;
    this.#isDraining = true;
    await drain([...this.#connections], drainSpreadMs, hurry, () => this.#closed++);
    const closedAt = performance.now();
    const isWaiting = () =>
      performance.now() - closedAt < (hurry.aborted ? Math.min(HURRIED_TIMEOUT_MS, drainTimeoutMs) : drainTimeoutMs);
    while (this.#connections.size + this.#refusals.openCount > 0 && isWaiting())
      await new Promise((resolve) => setTimeout(resolve, 10));
    for (const connection of this.#connections) connection.terminate();
    clearInterval(this.#sweep);
    this.#initDeadlines.close();
    this.#tokenExpiries.close();
    httpServer.removeListener('upgrade', this.#onUpgrade);
    this.#webSockets.close();
    const stuck = this.#connections.size;
    this.#refusals.close();
    const ended = this.#ended + stuck;
    return { closed: this.#closed, left: Math.max(0, ended - this.#closed), terminated: this.#terminated + stuck };
  }

  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { path, origins, proxies, observer, connections } = this.#options;
    if (request.url?.split('?', 1)[0] !== path) {
      observer.onRefused('path');
      return refuseHandshake(socket, '404 Not Found', `No WebSocket here; it is at ${path}`);
    }
    const misdirected = originRefusal(request.headers, origins);
    if (misdirected) {
      const { reason, status, text } = misdirected;
      observer.onRefused(reason);
      return refuseHandshake(socket, `${status} ${STATUS_CODES[status]}`, text);
    }
    if (headerBytes(request.rawHeaders) > connections.limits.maxInitBytes) {
      observer.onRefused('headers');
      const text = `Headers may have ${connections.limits.maxInitBytes} bytes beside Authorization and Cookie (MAX_INIT_BYTES)`;
      return refuseHandshake(socket, '431 Request Header Fields Too Large', text);
    }
    if (this.#isDraining) {
      observer.onRefused('draining');
      return this.#refusals.add(request, socket, head, CLOSE_CODES.goingAway, DRAIN_REASON);
    }
    const address = proxies.addressOf(request);
    if (this.#addresses.isReached(addressKey(address))) {
      observer.onRefused('address');
      proxies.onAddressRefused(request);
      return this.#refusals.add(request, socket, head, CLOSE_CODES.tryAgainLater, TOO_MANY_OF_ADDRESS);
    }
    const refusal = this.#admission.refusal(performance.now());
    if (refusal) {
      observer.onRefused(refusal);
      return this.#refusals.add(request, socket, head, CLOSE_CODES.tryAgainLater, REFUSALS[refusal]);
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => this.#onOpen(webSocket, request, address));
  };

  #onOpen(socket: ConnectionSocket, request: IncomingMessage, address: string): void {
    const rawHeaders = clientHeaders(request.rawHeaders);
    const connection = new Connection(
      socket,
      request.socket,
      { id: connectionId(), rawHeaders, address },
      this.#services,
    );
    this.#connections.add(connection);
    this.#addresses.add(addressKey(connection.address));
    this.#options.observer.onOpen();
    connection.open();
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
