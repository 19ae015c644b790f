import type { Socket } from 'node:net';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import type { Logger } from '../../base/log.ts';
import type { MessageOutbox, OutboxOwner } from '../fanout/outbox/outbox.ts';
import type { Claims } from '../../graph/context/connection-facts.ts';
import type { ReadWindow } from '../fanout/outbox/read-window.ts';
import type { KnownClaims } from '../identity/revocation.ts';
import type { ConnectionOperations, ConnectionOperationsOwner } from '../operations/connection-operations.ts';
import type { LiveOperationServices } from '../operations/live-operation-services.ts';
import { tooOldAt } from './age-limit.ts';
import { CLOSE_CODES } from './close-codes.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { DrainedConnection } from './drain.ts';
import type { ConnectionFigures, ListedConnection } from './listed-connection.ts';
import type { HoldingConnection } from './memory-relief.ts';
import type { Routers } from './routers.ts';
import type { ExpiringConnection } from './token-expiries.ts';
import type { UserConnection } from './users.ts';
import { wholeSeconds } from './whole-seconds.ts';

/** Shared by the connections of one transport. */
export interface ClientConnectionServices extends LiveOperationServices {
  readonly log: Logger;
  readonly routers: Routers;
  readonly onSlowConsumer: () => void;
  /** Called for each connection that is closed because its token expired. */
  readonly onTokenExpired: () => void;
}

/** Longest wait, in ms, for the executions of the events that a connection is sent before it leaves. */
const MAX_LAST_MS = 1000;

/** How a connection has ended. */
export interface Ending {
  /** Of the side that closed first. */
  readonly code: number;
  /** Why this side closed it; '': the client did, or the connection was lost. */
  readonly reason: string;
  /** True: the client has confirmed the close. */
  readonly isAnswered: boolean;
}

/** What carries a connection: a TCP socket, or posts. */
export type Carrier = Pick<Socket, 'bytesWritten' | 'bytesRead'>;

/** A client with live operations, whatever its transport. A base class, because an object more for each connection costs memory. */
export abstract class ClientConnection<
  Services extends ClientConnectionServices = ClientConnectionServices,
  Stream extends Carrier = Carrier,
>
  implements
    DrainedConnection,
    ExpiringConnection,
    HoldingConnection,
    ListedConnection,
    UserConnection,
    OutboxOwner,
    ConnectionOperationsOwner
{
  abstract readonly outbox: MessageOutbox;
  abstract readonly operations: ConnectionOperations;
  abstract readonly id: string | undefined;
  abstract readonly address: string;
  abstract readonly knownClaims: KnownClaims | undefined;
  abstract readonly tokenExpiresAtMs: number;
  protected readonly services: Services;
  protected readonly stream: Stream;
  protected readonly rateLimit: RateLimit;
  readonly #isOfRouterNetwork: boolean;
  /** Why this side closed the connection; '': the peer closed it, or it was lost. */
  protected closeReason = '';
  /** The code of the side that closed first. */
  #closeCode = 0;
  #isEnded = false;
  /** Why it closes once its mutations are answered and its last events are sent; undefined: it stays. */
  #leaving: string | undefined;
  #isSendingLast = false;
  #isRouter: boolean;
  /** When the connection is too old, in whole ms of performance.now(); 0: never. */
  #tooOldAt: number;
  readonly #openedAtSeconds = wholeSeconds();

  /** @param isOfRouterNetwork true: a client in a router's network has opened it */
  constructor(stream: Stream, services: Services, isOfRouterNetwork = false) {
    this.stream = stream;
    this.services = services;
    this.#isOfRouterNetwork = isOfRouterNetwork;
    this.#isRouter = isOfRouterNetwork;
    const { maxMessagesPerSecond, maxMessageBurst, maxAgeMs } = this.limits;
    this.rateLimit = new RateLimit(maxMessagesPerSecond, maxMessageBurst);
    this.#tooOldAt = tooOldAt(maxAgeMs);
  }

  /** Ends every operation at once. Idempotent. */
  abstract close(code: number, reason: string): void;

  /** The graph has another `authenticate`: the connection gets the claims that this returns, or is closed. Never rejects. */
  abstract authenticateAgain(): Promise<void>;

  /** Closes it without waiting for the peer. */
  abstract terminate(): void;

  /** Called at intervals: ends a connection whose peer is gone, and keeps the others alive. */
  protected abstract sweepPeer(isPinging: boolean): void;

  /** True: it is a router's, so it does not count among those of its user and address. */
  get isRouter(): boolean {
    return this.#isRouter;
  }

  get limits(): ConnectionLimits {
    return this.#isRouter ? this.services.routers.limits : this.services.limits;
  }

  get maxQueueBytes(): number {
    return this.limits.maxQueueBytes;
  }

  /** True if it is a router's with this token. @param token claims of a verified token; undefined: none */
  isRouterWith(token: Claims | undefined): boolean {
    return this.#isOfRouterNetwork || this.services.routers.hasToken(token);
  }

  /** Its client has this token from now on, which may change its limits. @param token as of `isRouterWith` */
  adoptToken(token: Claims | undefined): void {
    const isRouter = this.isRouterWith(token);
    if (isRouter === this.#isRouter) return;
    this.#isRouter = isRouter;
    const { maxMessagesPerSecond, maxMessageBurst, maxAgeMs } = this.limits;
    this.rateLimit.change(maxMessagesPerSecond, maxMessageBurst);
    this.#tooOldAt = tooOldAt(maxAgeMs);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** True: it ends once its mutations are answered and its last events are sent, and starts no operation. */
  get isLeaving(): boolean {
    return this.#leaving !== undefined;
  }

  get figures(): ConnectionFigures {
    return {
      queued_bytes: this.outbox.queuedBytes,
      operations: this.operations.size,
      bytes_sent: this.stream.bytesWritten,
      bytes_received: this.stream.bytesRead,
      age_seconds: wholeSeconds() - this.#openedAtSeconds,
    };
  }

  get idleSeconds(): number {
    const { size, endedAtSeconds } = this.operations;
    return size > 0 ? 0 : wholeSeconds() - Math.max(this.#openedAtSeconds, endedAtSeconds);
  }

  /** Bytes that its end frees: what waits for its socket, and what its operations keep beside their documents, which others may use. */
  get heldBytes(): number {
    return this.outbox.queuedBytes + this.operations.heldBytes;
  }

  /**
   * Closes it with 1001 once its mutations are answered, because stock clients would send them again, and the events are sent that wait for a
   * pace. An operation that would begin meanwhile does not: its client sends it again. Idempotent.
   */
  leave(reason: string): void {
    this.#leaving ??= reason;
    if (this.operations.hasMutations || this.#isSendingLast) return;
    this.#isSendingLast = true;
    this.#sendLast(() => this.close(CLOSE_CODES.goingAway, reason));
  }

  /** Nothing repeats the events that wait for the pace of a field. */
  #sendLast(onSent: () => void): void {
    const timer = setTimeout(onSent, MAX_LAST_MS);
    this.operations.sendWaiting(() => {
      clearTimeout(timer);
      onSent();
    });
  }

  onOperationOver(): void {
    if (this.#leaving !== undefined) this.leave(this.#leaving);
  }

  /** Closes it to free memory. Idempotent. */
  discard(): void {
    this.#drop(CLOSE_CODES.tryAgainLater, 'The server is short of memory');
  }

  revoke(): void {
    this.#drop(CLOSE_CODES.forbidden, 'Revoked');
  }

  /** What waits for the socket would leave after the expiry. */
  onTokenExpired(): void {
    this.services.onTokenExpired();
    this.#drop(CLOSE_CODES.forbidden, 'Token expired');
  }

  onSlowConsumer(unread = 'messages'): void {
    this.services.onSlowConsumer();
    this.close(CLOSE_CODES.tryAgainLater, `Slow consumer: ${unread} were not read in time`);
  }

  openReadWindow(): ReadWindow | undefined {
    return undefined;
  }

  onWriteFailure(error: unknown): void {
    this.services.onFailure('connection', error, this.id);
    this.terminate();
  }

  /** Called at intervals. Ends a connection that is too old or whose peer is gone, and keeps the others alive. */
  sweep(isPinging: boolean): void {
    if (this.#tooOldAt > 0 && performance.now() >= this.#tooOldAt && !this.#isEnded)
      this.leave('The connection is too old: reconnect');
    else this.sweepPeer(isPinging);
  }

  /** Releases what it holds. Returns false if it had ended before. */
  protected end(code: number): boolean {
    this.outbox.drop();
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#closeCode = code;
    this.operations.end();
    return true;
  }

  /** The socket has closed. Logs the end and returns it. A peer's reason is data of a client, so it is not logged. */
  protected logEnd(isAnswered: boolean): Ending {
    const { age_seconds: seconds, bytes_sent: bytesSent, bytes_received: bytesReceived } = this.figures;
    const { id: connection, closeReason: reason } = this;
    const code = this.#closeCode;
    const facts = { connection, code, reason: reason || undefined, seconds, operations: this.operations.served };
    this.services.log.debug({ ...facts, bytesSent, bytesReceived }, 'connection ended');
    return { code, reason, isAnswered };
  }

  /** Closes it, and drops what waits for it. */
  #drop(code: number, reason: string): void {
    this.outbox.drop();
    this.close(code, reason);
  }
}
