import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { MessageType } from 'graphql-ws';
import type { SubscribePayload } from 'graphql-ws';
import { WebSocket } from 'ws';
import { tooOldAt } from '../connections/age-limit.ts';
import type { ClientConnection } from '../connections/client-connection.ts';
import { CLOSE_CODES } from '../connections/close-codes.ts';
import type { ConnectionFigures } from '../connections/connection-figures.ts';
import { refusalClose } from '../connections/refusal-close.ts';
import { wholeSeconds } from '../connections/whole-seconds.ts';
import { weightOfFacts } from '../../graph/context/connection-facts.ts';
import { Outbox } from '../fanout/outbox/outbox.ts';
import type { OpenState, OutboxOwner } from '../fanout/outbox/outbox.ts';
import { whenReplied } from '../http/reply-end.ts';
import { STREAM_HEADERS } from '../http/stream-headers.ts';
import type { Authenticated } from '../identity/authenticator.ts';
import type { KnownClaims } from '../identity/revocation.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import { ConnectionOperations } from '../operations/connection-operations.ts';
import type { ConnectionOperationsOwner } from '../operations/connection-operations.ts';
import type { HttpStreamServices } from './http-stream-services.ts';
import type { StreamFormat } from './stream-format.ts';

/** The request that a stream answers. */
export interface StreamExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly identity: Authenticated;
  readonly address: string;
}

/** The normal close code: the operation of the stream is over. */
const COMPLETED = 1000;
/** No close frame tells why a client has left. */
const CLIENT_LEFT = 1005;
/** Longest wait, in ms, for a client that does not read what precedes the end of its stream; then its socket is destroyed. */
const CLOSE_TIMEOUT_MS = 5000;

const HEADERS = {
  ...STREAM_HEADERS,
  // The end of the body is the end of the connection, so no chunk needs a length. Each format marks the end of its messages itself.
  connection: 'close',
};

/** One streamed response: its limits and its operations. What a WebSocket's `Connection` is for HTTP, without messages of the client. */
export class HttpStream implements ClientConnection, OpenState, OutboxOwner, ConnectionOperationsOwner {
  readonly outbox: Outbox;
  readonly operations: ConnectionOperations;
  readonly address: string;
  #identity: Authenticated;
  readonly #format: StreamFormat;
  /** True: it ends with its operation. */
  readonly #isOfOne: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #services: HttpStreamServices;
  readonly #rateLimit: RateLimit;
  readonly #tooOldAt: number;
  readonly #openedAtSeconds = wholeSeconds();
  #isEnded = false;
  /** Why it closes once its mutations are answered; undefined: it stays. */
  #leaving: string | undefined;
  #closeCode = CLIENT_LEFT;
  /** Why this side closed it; '': its operation is over, or the client has left. */
  #closeReason = '';

  constructor(exchange: StreamExchange, format: StreamFormat, isOfOne: boolean, services: HttpStreamServices) {
    const { request, response, identity, address } = exchange;
    const { limits, writer } = services;
    this.address = address;
    this.#identity = identity;
    this.#format = format;
    this.#isOfOne = isOfOne;
    this.#request = request;
    this.#response = response;
    this.#socket = request.socket;
    this.#services = services;
    this.#rateLimit = new RateLimit(limits.maxMessagesPerSecond, limits.maxMessageBurst);
    this.#tooOldAt = tooOldAt(limits.maxAgeMs);
    this.outbox = new Outbox(this, this.#socket, writer, this, format);
    this.operations = new ConnectionOperations(this.outbox, services, this);
  }

  get id(): string {
    return this.#identity.facts.id;
  }

  get format(): StreamFormat {
    return this.#format;
  }

  /** Whom its token names; undefined: nobody, or it has none. */
  get subject(): string | undefined {
    return this.#identity.subject;
  }

  get knownClaims(): KnownClaims {
    return { claims: this.#identity.facts.claims, token: this.#identity.token };
  }

  /** 0: it has no token. */
  get tokenExpiresAtMs(): number {
    return this.#identity.expiresAtMs ?? 0;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** It ends once its mutations are answered, and starts no operation. */
  get isLeaving(): boolean {
    return this.#leaving !== undefined;
  }

  /** As that of a WebSocket. */
  get readyState(): number {
    return this.#isEnded || this.#socket.destroyed ? WebSocket.CLOSED : WebSocket.OPEN;
  }

  get figures(): ConnectionFigures {
    return {
      queued_bytes: this.outbox.queuedBytes,
      operations: this.operations.size,
      bytes_sent: this.#socket.bytesWritten,
      bytes_received: this.#socket.bytesRead,
      age_seconds: wholeSeconds() - this.#openedAtSeconds,
    };
  }

  /** A GET may change nothing. */
  get isReadOnly(): boolean {
    return this.#isOfOne && this.#request.method === 'GET';
  }

  get idleSeconds(): number {
    const { size, endedAtSeconds } = this.operations;
    return size > 0 ? 0 : wholeSeconds() - Math.max(this.#openedAtSeconds, endedAtSeconds);
  }

  get heldBytes(): number {
    return this.outbox.queuedBytes + this.operations.heldBytes + weightOfFacts(this.#identity.facts);
  }

  /** Takes one request of its client from the rate limit; false if none is left. */
  admitsRequest(): boolean {
    return this.#rateLimit.take(performance.now());
  }

  /** Sends the headers. */
  open(): void {
    const response = this.#response;
    response.removeHeader('transfer-encoding');
    response.writeHead(200, { ...HEADERS, 'content-type': this.#format.contentType });
    response.flushHeaders();
    whenReplied(this.#request, response, () => this.#onClosed());
    this.#services.connections.add(this);
    if (this.tokenExpiresAtMs > 0) this.#services.connections.tokenExpiries.add(this);
    this.outbox.send(this.#format.opening);
  }

  /** Starts an operation whose id is free, on a stream that is not leaving. Resolves when it is live or has ended. */
  async start(id: string, payload: SubscribePayload): Promise<void> {
    const { users } = this.#services;
    const refusal = this.subject === undefined ? undefined : users.operationRefusal(this.subject);
    if (this.#isEnded) return;
    if (refusal === undefined) {
      await this.operations.start({ id, type: MessageType.Subscribe, payload }, this.#identity.facts);
    } else {
      this.operations.refuse(id, refusal);
      this.onOperationOver();
    }
  }

  /** Ends every operation at once. Idempotent. */
  close(code: number, reason = ''): void {
    if (this.#isEnded) return;
    this.#closeReason = reason;
    this.outbox.send(this.#format.closing(code, reason));
    this.#end(code);
  }

  leave(reason: string): void {
    if (this.operations.hasMutations) this.#leaving ??= reason;
    else this.close(CLOSE_CODES.goingAway, reason);
  }

  onOperationOver(): void {
    if (this.#leaving !== undefined) this.leave(this.#leaving);
    else if (this.#isOfOne) this.#end(COMPLETED);
  }

  discard(): void {
    this.outbox.drop();
    this.close(CLOSE_CODES.tryAgainLater, 'The server is short of memory');
  }

  /** The claims change, and nothing else of the identity. */
  async authenticateAgain(): Promise<void> {
    const outcome = await this.#services.authenticator.authenticateAgain(this.#identity);
    if (this.#isEnded) return;
    if ('failure' in outcome) return this.close(...refusalClose(outcome.failure));
    if (isDeepStrictEqual(this.#identity.facts.claims, outcome.facts.claims)) return;
    this.#identity = outcome;
    this.operations.renew(outcome.facts);
  }

  revoke(): void {
    this.outbox.drop();
    this.close(CLOSE_CODES.forbidden, 'Revoked');
  }

  /** What waits for the socket is dropped: it would leave after the expiry. */
  onTokenExpired(): void {
    this.#services.onTokenExpired();
    this.outbox.drop();
    this.close(CLOSE_CODES.forbidden, 'Token expired');
  }

  onSlowConsumer(): void {
    this.#services.onSlowConsumer();
    this.close(CLOSE_CODES.tryAgainLater, 'Slow consumer: results were not read in time');
  }

  onWriteFailure(error: unknown): void {
    this.#services.onFailure('connection', error, this.id);
    this.terminate();
  }

  sweep(isPinging: boolean): void {
    if (this.#tooOldAt > 0 && performance.now() >= this.#tooOldAt) this.leave('The connection is too old: reconnect');
    else if (isPinging && !this.outbox.isBackpressured) this.outbox.send(this.#format.ping);
  }

  terminate(): void {
    this.#socket.destroy();
  }

  /** Ends the response after what waits for it, and every operation without a message. */
  #end(code: number): void {
    if (this.#isEnded) return;
    this.outbox.flush();
    this.#isEnded = true;
    this.#closeCode = code;
    this.outbox.drop();
    this.operations.end();
    this.#leaveServices();
    this.#response.end();
    if (this.#socket.writableLength > 0) setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS).unref();
  }

  #leaveServices(): void {
    const { connections, users } = this.#services;
    connections.tokenExpiries.delete(this);
    if (this.subject !== undefined) users.delete(this.subject, this);
  }

  /** The socket has closed. */
  #onClosed(): void {
    const isClosedHere = this.#isEnded;
    this.#isEnded = true;
    this.outbox.drop();
    this.operations.end();
    this.#leaveServices();
    const { connections, log } = this.#services;
    const { age_seconds: seconds, bytes_sent: bytesSent, bytes_received: bytesReceived } = this.figures;
    log.debug(
      {
        connection: this.id,
        code: this.#closeCode,
        reason: this.#closeReason || undefined,
        seconds,
        operations: this.operations.served,
        bytesSent,
        bytesReceived,
      },
      'connection ended',
    );
    const isAnswered = isClosedHere && !this.#socket.errored;
    connections.onClosed(this, { code: this.#closeCode, reason: this.#closeReason, isAnswered });
  }
}
