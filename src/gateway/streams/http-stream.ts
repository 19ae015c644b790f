import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { MessageType } from 'graphql-ws';
import type { SubscribePayload } from 'graphql-ws';
import { WebSocket } from 'ws';
import { ClientConnection } from '../connections/client-connection.ts';
import { refusalClose } from '../connections/refusal-close.ts';
import { weightOfFacts } from '../../graph/context/connection-facts.ts';
import { Outbox } from '../fanout/outbox/outbox.ts';
import type { OpenState } from '../fanout/outbox/outbox.ts';
import { whenReplied } from '../http/reply-end.ts';
import { STREAM_HEADERS } from '../http/stream-headers.ts';
import type { Authenticated } from '../identity/authenticator.ts';
import type { KnownClaims } from '../identity/revocation.ts';
import { ConnectionOperations } from '../operations/connection-operations.ts';
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
export const COMPLETED = 1000;
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
export class HttpStream extends ClientConnection<HttpStreamServices> implements OpenState {
  readonly outbox: Outbox<StreamFormat>;
  readonly operations: ConnectionOperations;
  readonly address: string;
  #identity: Authenticated;
  /** True: it ends with its operation. */
  readonly #isOfOne: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(exchange: StreamExchange, format: StreamFormat, isOfOne: boolean, services: HttpStreamServices) {
    const { request, response, identity, address } = exchange;
    super(request.socket, services, services.routers.hasSent(request, address));
    this.adoptToken(identity.token);
    this.address = address;
    this.#identity = identity;
    this.#isOfOne = isOfOne;
    this.#request = request;
    this.#response = response;
    this.outbox = new Outbox(this, this.stream, services.writer, this, format);
    this.operations = new ConnectionOperations(this.outbox, services, this);
  }

  get id(): string {
    return this.#identity.facts.id;
  }

  get format(): StreamFormat {
    return this.outbox.format;
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

  /** As that of a WebSocket. */
  get readyState(): number {
    return this.isEnded || this.stream.destroyed ? WebSocket.CLOSED : WebSocket.OPEN;
  }

  /** Its facts count, too. */
  override get heldBytes(): number {
    return super.heldBytes + weightOfFacts(this.#identity.facts);
  }

  /** Takes one request of its client from the rate limit; false if none is left. */
  admitsRequest(): boolean {
    return this.rateLimit.take(performance.now());
  }

  /** Sends the headers. */
  open(): void {
    const response = this.#response;
    response.removeHeader('transfer-encoding');
    response.writeHead(200, { ...HEADERS, 'content-type': this.format.contentType });
    response.flushHeaders();
    whenReplied(this.#request, response, () => this.#onClosed());
    this.services.connections.add(this);
    if (this.tokenExpiresAtMs > 0) this.services.connections.tokenExpiries.add(this);
    this.outbox.send(this.format.opening);
  }

  /** Starts an operation whose id is free, on a stream that is not leaving. Resolves when it is live or has ended. */
  async start(id: string, payload: SubscribePayload): Promise<void> {
    const { users } = this.services;
    const isLimited = this.subject !== undefined && !this.isRouter;
    const refusal = isLimited ? users.operationRefusal(this.subject) : undefined;
    if (this.isEnded) return;
    if (refusal === undefined) {
      await this.operations.start({ id, type: MessageType.Subscribe, payload }, this.#identity.facts);
    } else {
      this.operations.refuse(id, refusal);
      this.onOperationOver();
    }
  }

  /** Ends every operation at once. Idempotent. */
  close(code: number, reason = ''): void {
    if (this.isEnded) return;
    this.closeReason = reason;
    this.outbox.send(this.format.closing(code, reason));
    this.end(code);
  }

  override onOperationOver(): void {
    if (this.isLeaving || !this.#isOfOne) super.onOperationOver();
    else this.end(COMPLETED);
  }

  override onSlowConsumer(): void {
    super.onSlowConsumer('results');
  }

  /** The claims change, and nothing else of the identity. */
  async authenticateAgain(): Promise<void> {
    const outcome = await this.services.authenticator.authenticateAgain(this.#identity);
    if (this.isEnded) return;
    if ('failure' in outcome) return this.close(...refusalClose(outcome.failure));
    if (isDeepStrictEqual(this.#identity.facts.claims, outcome.facts.claims)) return;
    this.#identity = outcome;
    this.operations.renew(outcome.facts);
  }

  protected sweepPeer(isPinging: boolean): void {
    if (isPinging && !this.outbox.isBackpressured) this.outbox.send(this.format.ping);
  }

  terminate(): void {
    this.stream.destroy();
  }

  /** Ends the response after what waits for it, and every operation without a message. */
  protected override end(code: number): boolean {
    if (this.isEnded) return false;
    this.outbox.flush();
    super.end(code);
    this.#leaveServices();
    this.#response.end();
    if (this.stream.writableLength > 0) setTimeout(() => this.stream.destroy(), CLOSE_TIMEOUT_MS).unref();
    return true;
  }

  #leaveServices(): void {
    const { connections, users } = this.services;
    connections.tokenExpiries.delete(this);
    if (this.subject !== undefined) users.delete(this.subject, this);
  }

  /** The socket has closed. */
  #onClosed(): void {
    const isClosedHere = this.isEnded;
    super.end(CLIENT_LEFT);
    this.#leaveServices();
    this.services.connections.onClosed(this, this.logEnd(isClosedHere && !this.stream.errored));
  }
}
