import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { Outbox } from '../fanout/outbox/outbox.ts';
import type { OpenState } from '../fanout/outbox/outbox.ts';
import { whenReplied } from '../http/reply-end.ts';
import { STREAM_HEADERS } from '../http/stream-headers.ts';
import { ConnectionOperations } from '../operations/connection-operations.ts';
import type { HttpStreamServices } from './http-stream-services.ts';
import { CLIENT_LEFT_CODE, RequestConnection } from './request-connection.ts';
import type { Requester } from './request-connection.ts';
import type { StreamFormat } from './stream-format.ts';

/** The request that a stream answers. */
export interface StreamExchange extends Requester {
  readonly response: ServerResponse;
}

/** Longest wait, in ms, for a client that does not read what precedes the end of its stream; then its socket is destroyed. */
const CLOSE_TIMEOUT_MS = 5000;

const HEADERS = {
  ...STREAM_HEADERS,
  // The end of the body is the end of the connection, so no chunk needs a length. Each format marks the end of its messages itself.
  connection: 'close',
};

/** One streamed response: its limits and its operations. */
export class HttpStream extends RequestConnection<Socket> implements OpenState {
  readonly outbox: Outbox<StreamFormat>;
  readonly operations: ConnectionOperations;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  /** @param isOfOne true: it ends with its operation */
  constructor(exchange: StreamExchange, format: StreamFormat, isOfOne: boolean, services: HttpStreamServices) {
    const { request, response } = exchange;
    super(request.socket, exchange, isOfOne, services);
    this.#request = request;
    this.#response = response;
    this.outbox = new Outbox(this, this.stream, services.writer, this, format);
    this.operations = new ConnectionOperations(this.outbox, services, this);
  }

  get format(): StreamFormat {
    return this.outbox.format;
  }

  /** As that of a WebSocket. */
  get readyState(): number {
    return this.isEnded || this.stream.destroyed ? WebSocket.CLOSED : WebSocket.OPEN;
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
    this.joinServices();
    this.outbox.send(this.format.opening);
  }

  /** Ends every operation at once. Idempotent. */
  close(code: number, reason = ''): void {
    if (this.isEnded) return;
    this.closeReason = reason;
    this.outbox.send(this.format.closing(code, reason));
    this.end(code);
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
    this.leaveServices();
    this.#response.end();
    if (this.stream.writableLength > 0) setTimeout(() => this.stream.destroy(), CLOSE_TIMEOUT_MS).unref();
    return true;
  }

  /** The socket has closed. */
  #onClosed(): void {
    const isClosedHere = this.isEnded;
    super.end(CLIENT_LEFT_CODE);
    this.leaveServices();
    this.services.connections.onClosed(this, this.logEnd(isClosedHere && !this.stream.errored));
  }
}
