import type { IncomingMessage } from 'node:http';
import type { Writer } from '../fanout/outbox/writer.ts';
import type { TrustedProxies } from '../../config/addresses/client-address.ts';
import { addressKey } from '../../config/addresses/ip-address.ts';
import { Quota } from '../../base/limits/quota.ts';
import type { Relief } from '../../ops/memory/memory-pressure.ts';
import { Admission } from './admission.ts';
import type { AdmissionLimits, AdmissionRefusal, Overload } from './admission.ts';
import type { ClientConnection, Ending } from './client-connection.ts';
import { drain } from './drain.ts';
import { relieve } from './memory-relief.ts';
import type { Routers } from './routers.ts';
import { SweepRing } from './sweep-ring.ts';
import { TokenExpiries } from './token-expiries.ts';

/** Why a new connection is refused, as a metric label. */
export type ConnectionRefusal = AdmissionRefusal | 'address' | 'draining';

export interface ConnectionsOptions {
  readonly admission: AdmissionLimits;
  /** While it lasts, no connection is admitted. */
  readonly overload: Overload;
  readonly proxies: TrustedProxies;
  readonly routers: Pick<Routers, 'hasSent'>;
  /** Most connections of one client address; 0: no limit. */
  readonly maxConnectionsPerAddress: number;
  /** 0: no pings. */
  readonly pingIntervalMs: number;
  /** Time in ms over which a drain spreads its closes. */
  readonly drainSpreadMs: number;
  /** Once aborted, a drain closes the rest at once. */
  readonly fastShutdown: AbortSignal;
  readonly writer: Writer;
  readonly observer: ConnectionsObserver;
}

export interface ConnectionsObserver {
  onOpen(): void;
  /** @param reason why this side closed it; '': the client did, or the connection was lost */
  onClose(code: number, reason: string, connection: string | undefined): void;
}

/** Ticks over which one sweep is spread, so that no tick blocks the event loop for long. */
const SWEEP_SLOTS = 20;
/** Interval of the sweep in ms if pings are off. */
const UNPINGED_SWEEP_INTERVAL_MS = 12_000;

/** The connections of a pod, whatever their transports: admits, sweeps, drains and closes them. */
export class Connections {
  readonly tokenExpiries = new TokenExpiries<ClientConnection>();
  readonly #options: ConnectionsOptions;
  readonly #open = new SweepRing<ClientConnection>(SWEEP_SLOTS);
  readonly #admission: Admission;
  readonly #addresses: Quota;
  /** Closed by the drain. */
  #drained = 0;
  /** Closed since the drain began, by whichever side. */
  #endedInDrain = 0;
  /** Of these, closed without an answer of the client. */
  #unanswered = 0;
  /** Closed to free memory. */
  #discarded = 0;
  #sweep: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#addresses = new Quota(options.maxConnectionsPerAddress);
    this.#admission = new Admission(options.admission, () => this.#open.size, options.overload);
  }

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): IterableIterator<ClientConnection> {
    return this.#open[Symbol.iterator]();
  }

  get operationCount(): number {
    let count = 0;
    for (const connection of this.#open) count += connection.operations.size;
    return count;
  }

  /** Resolves when no operation is being prepared, authorised or subscribed. */
  async settled(): Promise<void> {
    const isStarting = () => [...this.#open].some(({ operations }) => operations.startingCount > 0);
    while (isStarting()) await new Promise((resolve) => setImmediate(resolve));
  }

  /** See `Admission.checkFull`. */
  checkFull(): boolean {
    return this.#admission.checkFull();
  }

  /** Connections that the drain has closed. */
  get drainedCount(): number {
    return this.#drained;
  }

  /** Since the drain began: `unanswered` of the `ended` connections were closed without an answer of the client. */
  get endedInDrain(): { readonly ended: number; readonly unanswered: number } {
    return { ended: this.#endedInDrain, unanswered: this.#unanswered };
  }

  /** Connections that were closed to free memory. */
  get discardedCount(): number {
    return this.#discarded;
  }

  start(): void {
    const { pingIntervalMs, writer } = this.#options;
    this.tokenExpiries.start();
    writer.beforeWrites = this.tokenExpiries.closeExpired;
    const sweepIntervalMs = pingIntervalMs || UNPINGED_SWEEP_INTERVAL_MS;
    this.#sweep = setInterval(this.#onTick, Math.max(1, sweepIntervalMs / SWEEP_SLOTS));
  }

  /** Why a client at this address may open no connection now; undefined: it may. Takes one handshake from the rate limit. */
  refusalOf(request: IncomingMessage, address: string): ConnectionRefusal | undefined {
    return this.limitFor(request, address) ?? this.#admission.refusal(performance.now());
  }

  /** The same for a client that was admitted a while ago: others have opened connections since, or the pod drains. */
  limitFor(request: IncomingMessage, address: string): ConnectionRefusal | undefined {
    if (this.#isDraining) return 'draining';
    const { proxies, routers } = this.#options;
    if (this.#addresses.isReached(addressKey(address)) && !routers.hasSent(request, address)) {
      proxies.onAddressRefused(request);
      return 'address';
    }
    return this.#admission.reached;
  }

  add(connection: ClientConnection): void {
    this.#open.add(connection);
    if (!connection.isRouter) this.#addresses.add(addressKey(connection.address));
    this.#options.observer.onOpen();
  }

  /** An open connection has become a router's, or is one no more. */
  onRouterChanged(connection: ClientConnection): void {
    const key = addressKey(connection.address);
    if (connection.isRouter) this.#addresses.delete(key);
    else this.#addresses.add(key);
  }

  onClosed(connection: ClientConnection, { code, reason, isAnswered }: Ending): void {
    this.#open.delete(connection);
    if (!connection.isRouter) this.#addresses.delete(addressKey(connection.address));
    if (this.#isDraining) this.#endedInDrain++;
    if (this.#isDraining && !isAnswered) this.#unanswered++;
    this.#options.observer.onClose(code, reason, connection.id);
  }

  /** Frees memory by closing the connections that hold the most of it with 1013. */
  relieve(bytes: number): Relief {
    const relief = relieve(this.#open, bytes);
    this.#discarded += relief.closed;
    return relief;
  }

  /** Admits no more and makes all leave, once their mutations are answered. Resolves when all are leaving or have left. */
  async drain(): Promise<void> {
    const { drainSpreadMs, fastShutdown } = this.#options;
    this.#isDraining = true;
    await drain([...this.#open], drainSpreadMs, fastShutdown, () => this.#drained++);
  }

  /** Terminates those that are left. Returns their count. */
  close(): number {
    const stuck = this.#open.size;
    for (const connection of this.#open) connection.terminate();
    clearInterval(this.#sweep);
    this.tokenExpiries.close();
    return stuck;
  }

  /** After a blocked event loop, timers run before input is read. `setImmediate` lets the peers' input be read first. */
  readonly #onTick = (): void => void setImmediate(this.#sweepSlot);

  /** Sweeps each connection once per interval, so a peer has a whole interval to answer a ping or to complete a message. */
  readonly #sweepSlot = (): void => {
    const isPinging = this.#options.pingIntervalMs > 0;
    for (const connection of this.#open.next()) connection.sweep(isPinging);
  };
}
