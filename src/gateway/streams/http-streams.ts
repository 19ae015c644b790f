import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Response } from 'graphql-http';
import type { SubscribePayload } from 'graphql-ws';
import type { ConnectionRefusal } from '../connections/connections.ts';
import { STREAM_TOKEN_HEADER } from '../http/cors.ts';
import { STREAM_HEADERS } from '../http/stream-headers.ts';
import type { StreamKind } from '../http/reply-forms.ts';
import type { EndpointStreams, StreamRequest, StreamRequestExchange } from '../http/endpoint-streams.ts';
import { addressKey } from '../../config/addresses/ip-address.ts';
import { textReply } from '../http/request-head.ts';
import { parseRequest } from '../http/request-params.ts';
import { CatchUp } from './catch-up.ts';
import { HttpStream } from './http-stream.ts';
import { COMPLETED, ONLY_OPERATION } from './request-connection.ts';
import { Reservations } from './reservations.ts';
import type { Reservation } from './reservations.ts';
import { MULTIPART, MULTIPART_GRAPHQL } from './multipart-format.ts';
import { SSE_OF_MANY, SSE_OF_ONE } from './sse-format.ts';
import { StreamAdmission, isReply } from './stream-admission.ts';
import type { StreamAdmissionOptions } from './stream-admission.ts';
import type { StreamFormat } from './stream-format.ts';
import {
  BAD_WAIT,
  IS_OPEN,
  LEAVING,
  NO_OPERATION_ID,
  NOT_OPEN,
  PIPELINED,
  RATE_REFUSAL,
  RESERVATIONS_REFUSAL,
  UNKNOWN_STREAM,
  USED_OPERATION_ID,
  longOperationId,
} from './stream-refusals.ts';

export interface HttpStreamsOptions extends StreamAdmissionOptions {
  /** Time in ms in which a reserved stream must be opened. */
  readonly openTimeoutMs: number;
  readonly onRefused: (reason: ConnectionRefusal | 'headers' | 'reservations' | 'stream_rate') => void;
}

const FORMATS_OF_ONE: Readonly<Record<StreamKind, StreamFormat>> = {
  sse: SSE_OF_ONE,
  multipart: MULTIPART,
  multipart_graphql: MULTIPART_GRAPHQL,
};

/**
 * Streams of results over HTTP. A stream of one operation is the response to the request for it: server-sent events or multipart, as
 * `accept` asks. A stream of many operations is reserved by a PUT, which replies with a token; a GET opens it, each POST starts an operation
 * on it, and a DELETE ends one (graphql-sse's single connection mode).
 */
export class HttpStreams implements EndpointStreams {
  readonly #options: HttpStreamsOptions;
  readonly #admission: StreamAdmission;
  readonly #reservations: Reservations;
  readonly #sockets = new WeakSet<Socket>();
  readonly #open = new Set<HttpStream>();

  constructor(options: HttpStreamsOptions) {
    this.#options = options;
    this.#admission = new StreamAdmission(options);
    this.#reservations = new Reservations(options.openTimeoutMs);
  }

  /** Open streams of a format. */
  countOf(name: StreamFormat['name']): number {
    let count = 0;
    for (const { format } of this.#open) if (format.name === name) count++;
    return count;
  }

  /** True if a response on this socket is a stream, so no other response can follow. */
  has(socket: Socket): boolean {
    return this.#sockets.has(socket);
  }

  /** Ends the reservations that are not open: the graph has another `authenticate`, and their clients must be authenticated by it. */
  endWaiting(): void {
    this.#reservations.endWaiting();
  }

  close(): Promise<void> {
    return this.#reservations.close();
  }

  requestOf(request: IncomingMessage): StreamRequest | undefined {
    if (request.method === 'PUT') return this.#reserving(request);
    const token = tokenOf(request);
    return token === undefined ? undefined : this.#onReserved(request, token);
  }

  async open(
    kind: StreamKind | undefined,
    payload: SubscribePayload,
    exchange: StreamRequestExchange,
  ): Promise<Response | undefined> {
    const { request, address, begunAt, isAdmitted } = exchange;
    const refusal = isAdmitted ? undefined : this.refusalAt(request, address);
    if (refusal) return refusal;
    const resuming = withLastEventId(payload, request);
    const format = kind ? FORMATS_OF_ONE[kind] : CatchUp.of(resuming);
    if (!format) return BAD_WAIT;
    const stream = this.#openStream(exchange, begunAt, (of) => new HttpStream(of, format, true, this.#options));
    if (isReply(stream)) return stream;
    if (format instanceof CatchUp) {
      format.onEnd = () => stream.close(COMPLETED);
      request.socket.once('close', () => format.close());
    }
    await stream.start(ONLY_OPERATION, resuming);
    return undefined;
  }

  ofOne(kind: StreamKind, [text]: Response): Response {
    const format = FORMATS_OF_ONE[kind];
    const headers = { ...STREAM_HEADERS, 'content-type': format.contentType };
    const result = format.next(ONLY_OPERATION, JSON.parse(text!) as object);
    const body = format.opening + result + format.complete(ONLY_OPERATION);
    return [body, { status: 200, statusText: 'OK', headers }];
  }

  #reserving(request: IncomingMessage): StreamRequest {
    return {
      identity: undefined,
      refusalAt: (address) => this.#admission.headersRefusal(request) ?? this.#admission.limitRefusal(request, address),
      answer: ({ identity, begunAt, address }) => {
        const refusal = this.#admission.factsRefusal(identity);
        if (refusal) return Promise.resolve(refusal);
        const token = this.#reservations.add(identity, begunAt, addressKey(address));
        if (token !== undefined) return Promise.resolve(textReply(201, 'Created', token));
        this.#options.onRefused('reservations');
        return Promise.resolve(RESERVATIONS_REFUSAL);
      },
    };
  }

  #onReserved(request: IncomingMessage, token: string): StreamRequest {
    const reservation = this.#reservations.get(token);
    const isOpening = request.method === 'GET';
    return {
      identity: reservation?.identity,
      refusalAt: (address) => {
        if (!reservation) return UNKNOWN_STREAM;
        if (isOpening) return reservation.stream ? IS_OPEN : this.refusalAt(request, address);
        const { stream } = reservation;
        if (!stream) return NOT_OPEN;
        if (endsOperation(request, stream) || stream.admitsRequest()) return undefined;
        this.#options.onRefused('stream_rate');
        return RATE_REFUSAL;
      },
      answer: async (exchange) => {
        // It may have ended, or been opened, while the body was read.
        const current = this.#reservations.get(token);
        if (!current) return UNKNOWN_STREAM;
        if (isOpening) return current.stream ? IS_OPEN : this.#answerReserved(exchange, current, token);
        if (request.method === 'DELETE') return stopOperation(current.stream!, searchOf(request));
        return this.#startOperation(current.stream!, exchange);
      },
    };
  }

  #answerReserved(
    exchange: StreamRequestExchange,
    { begunAt }: Reservation,
    token: string,
  ): Promise<Response | undefined> {
    const stream = this.#openStream(exchange, begunAt, (of) => new HttpStream(of, SSE_OF_MANY, false, this.#options));
    if (isReply(stream)) return Promise.resolve(stream);
    this.#reservations.open(token, stream);
    exchange.request.socket.once('close', () => this.#reservations.delete(token));
    return Promise.resolve(undefined);
  }

  #startOperation(stream: HttpStream, exchange: StreamRequestExchange): Response {
    const payload = payloadOf(exchange);
    if (isReply(payload)) return payload;
    const { operationId, ...extensions } = payload.extensions ?? {};
    const { maxIdBytes } = this.#options.limits;
    if (typeof operationId !== 'string' || operationId === '') return NO_OPERATION_ID;
    if (Buffer.byteLength(operationId) > maxIdBytes) return longOperationId(maxIdBytes);
    if (stream.operations.has(operationId)) return USED_OPERATION_ID;
    // It may have begun to end while the body was read: its results would reach nobody.
    if (stream.isEnded) return UNKNOWN_STREAM;
    if (stream.isLeaving) return LEAVING;
    void stream.start(operationId, { ...payload, extensions });
    return [null, { status: 202, statusText: 'Accepted' }];
  }

  /** Returns the open stream, or the reply to a client that may have none. */
  #openStream(
    exchange: StreamRequestExchange,
    begunAt: number,
    create: (exchange: StreamRequestExchange) => HttpStream,
  ): HttpStream | Response {
    const { socket } = exchange.request;
    if (exchange.isPipelined() && !socket.destroyed) return PIPELINED;
    const stream = this.#admission.admit(exchange, begunAt, () => create(exchange));
    if (isReply(stream)) return stream;
    this.#sockets.add(socket);
    this.#open.add(stream);
    socket.once('close', () => this.#open.delete(stream));
    stream.open();
    return stream;
  }

  refusalAt(request: IncomingMessage, address: string): Response | undefined {
    return this.#admission.refusalAt(request, address);
  }
}

/** True if the request ends a live operation: it frees what the operation has paid for. */
function endsOperation(request: IncomingMessage, { operations }: HttpStream): boolean {
  return request.method === 'DELETE' && operations.has(searchOf(request).get('operationId') ?? '');
}

/** An operation that is over is no mistake of the client, which may not know yet. */
function stopOperation(stream: HttpStream, search: URLSearchParams): Response {
  const id = search.get('operationId');
  if (!id) return NO_OPERATION_ID;
  stream.operations.complete(id);
  return [null, { status: 200, statusText: 'OK' }];
}

/** The token of a reserved stream that a request names. A GET with a query is a request for a stream of its own. */
function tokenOf(request: IncomingMessage): string | undefined {
  const header = request.headers[STREAM_TOKEN_HEADER];
  if (typeof header === 'string') return header;
  const search = searchOf(request);
  return search.has('query') ? undefined : (search.get('token') ?? undefined);
}

function searchOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.split('?', 2)[1]);
}

/** The operation that a request asks for, or the reply to a request that cannot be read. */
function payloadOf({ request, body }: StreamRequestExchange): SubscribePayload | Response {
  const { method = 'GET', url = '/' } = request;
  try {
    return parseRequest({ method, url, body });
  } catch (error) {
    return textReply(400, 'Bad Request', `${(error as Error).message}\n`);
  }
}

/** The header's cursor is later than that of the body, which a client that reconnects by itself repeats. */
function withLastEventId(payload: SubscribePayload, { headers }: IncomingMessage): SubscribePayload {
  const cursor = headers['last-event-id'];
  if (typeof cursor !== 'string' || cursor === '') return payload;
  const resume = payload.extensions?.['resume'];
  return { ...payload, extensions: { ...payload.extensions, resume: { ...(resume as object | undefined), cursor } } };
}
