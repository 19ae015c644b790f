import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Response } from 'graphql-http';
import { clientError } from '../../base/errors.ts';
import type { Routers } from '../connections/routers.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { allowOrigin } from './cors.ts';
import { OFF } from '../callback/callback-replies.ts';
import type { EndpointCallbacks, EndpointStreams, StreamRequest, StreamRequestExchange } from './endpoint-streams.ts';
import type { TrustedProxies } from '../../config/addresses/client-address.ts';
import { addressKey } from '../../config/addresses/ip-address.ts';
import { replyFor } from './event-source-reply.ts';
import { originRefusal } from '../../config/addresses/origin.ts';
import type { OriginRefusal, Origins } from '../../config/addresses/origin.ts';
import type { RefusedOrigins } from './refused-origins.ts';
import { createQueryHandler } from './query-handler.ts';
import type { QueryHandler, QueryHandlerOptions } from './query-handler.ts';
import { whenReplied } from './reply-end.ts';
import type { AdmittedRequest, RequestAdmission, RequestLimit } from './request-admission.ts';
import { readBody } from './request-body.ts';
import { notAcceptable } from './accepted-types.ts';
import { bodyTooLong, isBodyShort, refusedHead } from './request-head.ts';
import { RequestIdentities } from './request-identities.ts';
import { replyForms } from './reply-forms.ts';
import type { ReplyForms } from './reply-forms.ts';

export interface EndpointOptions extends QueryHandlerOptions {
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'authenticateAgain' | 'failureOf' | 'graphs'>;
  readonly admission: RequestAdmission;
  readonly origins: Origins;
  readonly proxies: TrustedProxies;
  readonly routers: Pick<Routers, 'hasSent' | 'hasToken'>;
  readonly streams: EndpointStreams;
  /** undefined: the callback protocol is off. */
  readonly callbacks: EndpointCallbacks | undefined;
  readonly maxBodyBytes: number;
  /** A request whose client has disconnected counts for at most this time while its execution goes on: a resolver may never settle. */
  readonly executionTimeoutMs: number;
  readonly log: Logger;
  readonly onRefused: (reason: OriginRefusal['reason'] | RequestLimit | 'body') => void;
  readonly refusedOrigins: Pick<RefusedOrigins, 'report'>;
}

const LOG_WINDOW_MS = 10_000;

const INTERNAL_ERROR = JSON.stringify({ errors: [clientError('INTERNAL_SERVER_ERROR', 'Internal server error')] });

/** A request that its headers and the limits of the pod let through. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request has none once its body has been read. */
  readonly socket: Socket;
  /** What `accept` takes; undefined: the request is about a reserved stream. */
  readonly forms: ReplyForms | undefined;
  readonly stream: StreamRequest | undefined;
  /** Its limits were looked at before anything else. */
  readonly isEventSource: boolean;
  readonly address: string;
  readonly admitted: AdmittedRequest;
  /** When its authentication began, of performance.now(). */
  readonly begunAt: number;
}

/**
 * Queries and mutations over HTTP (graphql-over-http), with the documents, limits and authentication of the WebSocket.
 * A subscription needs a stream (`accept`), a cursor or the WebSocket. Whatever the headers decide is decided before the body is read.
 */
export class Endpoint {
  readonly #options: EndpointOptions;
  readonly #identities: RequestIdentities;
  readonly #handle: QueryHandler;
  readonly #failureLog = new LogWindow(LOG_WINDOW_MS);
  /** Counts of the requests of each socket that have no reply yet. */
  readonly #unanswered = new WeakMap<Socket, number>();

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#identities = new RequestIdentities(options);
    this.#handle = createQueryHandler(options);
  }

  /** Origin, preflight, reply. Never rejects. */
  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origins } = this.#options;
    response.setHeader('vary', 'accept, origin');
    const refusal = originRefusal(request.headers, origins);
    if (refusal) return this.#refuseOrigin(refusal, request, response);
    const { origin } = request.headers;
    if (origin !== undefined) allowOrigin(request, response, origin, origins.allowed.includes(origin));
    if (request.method === 'OPTIONS') {
      closeUnlessShort(request, response, 0);
      response.writeHead(204).end();
      return;
    }
    try {
      await this.#answer(request, response);
    } catch (error) {
      this.#fail(error, request, response);
    }
  }

  /** Head, limits of the pod, limits of the stream; then the request counts. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { admission, proxies, routers, streams } = this.#options;
    const { socket } = request;
    const stream = streams.requestOf(request);
    const forms = stream ? undefined : replyForms(request.headers.accept);
    const refused = this.#refusedByHead(request, stream, forms) ?? this.#refusedByPod();
    if (refused) return this.#refuse(request, response, refused);
    const begunAt = performance.now();
    const address = proxies.addressOf(request);
    const isEventSource = opensStream(request, forms);
    const refusedStream = isEventSource ? streams.refusalAt(request, address) : stream?.refusalAt(address);
    if (refusedStream) return this.#refuse(request, response, refusedStream);
    const admitted = admission.open(addressKey(address));
    if (routers.hasSent(request, address)) admitted.exempt();
    await this.#execute({ request, response, socket, forms, stream, isEventSource, address, admitted, begunAt });
  }

  /** Counts a request until its reply has ended and the work for it, too. */
  async #execute(exchange: Exchange): Promise<void> {
    const { request, response, socket, admitted } = exchange;
    this.#countUnanswered(socket, 1);
    let hasReplied = false;
    let isDone = false;
    const close = () => admitted.close();
    whenReplied(request, response, () => {
      hasReplied = true;
      this.#countUnanswered(socket, -1);
      if (isDone) close();
      else setTimeout(close, this.#options.executionTimeoutMs).unref();
    });
    try {
      await this.#replyTo(exchange);
    } finally {
      isDone = true;
      if (hasReplied) close();
    }
  }

  #countUnanswered(socket: Socket, change: number): void {
    this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 0) + change);
  }

  /** Identity, body, identity in the graph that is served now, result. */
  async #replyTo(exchange: Exchange): Promise<void> {
    const { request, response, socket, stream, isEventSource, address, admitted, begunAt } = exchange;
    const { authenticator, maxBodyBytes, onRefused } = this.#options;
    const { graphs } = authenticator;
    const known = stream?.identity
      ? this.#identities.charge(stream.identity, admitted)
      : await this.#identities.authenticate(request, address, admitted);
    if (!('facts' in known)) return this.#refuse(request, response, known);
    // An HTTP/1.0 client knows no 100 (Continue): RFC 9110 section 10.1.1.
    if (request.headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
    const body = await readBody(request, maxBodyBytes);
    if (body === undefined) {
      onRefused('body');
      return this.#refuse(request, response, bodyTooLong(maxBodyBytes));
    }
    const identity = stream?.identity ? known : await this.#identities.authenticateAgain(known, graphs);
    if (!('facts' in identity)) return reply(request, response, identity);
    const isPipelined = () => !response.socket || this.#unanswered.get(socket)! > 1;
    const of = { request, response, body, identity, address, begunAt, isAdmitted: isEventSource, isPipelined };
    const answer = await (stream ? stream.answer(of) : this.#result(exchange, of));
    if (answer) reply(request, response, answer);
    // An open stream counts as a connection, not as a request in flight.
    else admitted.close();
  }

  /** Resolves with undefined once the response is the stream of a subscription. */
  async #result({ socket, forms }: Exchange, of: StreamRequestExchange): Promise<Response | undefined> {
    const { streams, callbacks } = this.#options;
    const { request, body, identity, begunAt } = of;
    const handled = await this.#handle(request, body, { socket, identity, begunAt, forms: forms! });
    if (handled.subscription && forms!.isCallback) return callbacks?.open(handled.subscription, of) ?? OFF;
    const kind = forms!.stream;
    if (handled.subscription) return streams.open(kind, handled.subscription, of);
    return kind === undefined || handled.form === 'json' ? handled.reply : streams.ofOne(kind, handled.reply);
  }

  #refusedByHead(
    request: IncomingMessage,
    stream: StreamRequest | undefined,
    forms: ReplyForms | undefined,
  ): Response | undefined {
    const { maxBodyBytes, onRefused } = this.#options;
    const isOfStream = stream !== undefined;
    const isUnforgeable = isOfStream || (forms?.stream !== undefined && isOfReadablePage(request));
    const refused = refusedHead(request, maxBodyBytes, { isOfStream, isUnforgeable });
    if (refused?.[1].status === 413) onRefused('body');
    return refused ?? (isOfStream || forms ? undefined : notAcceptable(request));
  }

  #refusedByPod(): Response | undefined {
    const { limit } = this.#options.admission;
    return limit && this.#identities.refusedBy(limit);
  }

  #refuse(request: IncomingMessage, response: ServerResponse, refusal: Response): void {
    closeUnlessShort(request, response, this.#options.maxBodyBytes);
    reply(request, response, refusal);
  }

  #refuseOrigin(refusal: OriginRefusal, { headers }: IncomingMessage, response: ServerResponse): void {
    const { onRefused, refusedOrigins } = this.#options;
    onRefused(refusal.reason);
    refusedOrigins.report(refusal, headers);
    response.writeHead(refusal.status, { 'content-type': 'text/plain', connection: 'close' }).end(refusal.text);
  }

  #fail(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    // The client disconnected before its request was complete: no reply is possible.
    if (request.destroyed && !request.complete) return;
    const { log } = this.#options;
    this.#failureLog.run('request', (suppressed) =>
      log.error({ err: error, suppressed }, 'failed to handle a request'),
    );
    response.writeHead(500, { 'content-type': 'application/json; charset=utf-8' }).end(INTERNAL_ERROR);
  }
}

const SUBSCRIPTION = /[?&]query=(?:\s|%20|%0A|\+|,)*subscription\b/i;

/**
 * True for a request as `EventSource` makes it, for a document that begins as a subscription does. Thousands come back at once when a pod has
 * ended, and a pod that has no room for them must not pay for their tokens and documents.
 */
function opensStream({ method, url = '' }: IncomingMessage, forms: ReplyForms | undefined): boolean {
  return method === 'GET' && forms !== undefined && !forms.json && SUBSCRIPTION.test(url);
}

/**
 * True if a page made the request and the browser lets that page read the response: a page of this origin, or of one whose Origin header the
 * endpoint has checked. `EventSource` can send no header that would need a preflight.
 */
function isOfReadablePage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin';
}

/** Node reads what is left of a short body, and the connection is kept. */
function closeUnlessShort(request: IncomingMessage, response: ServerResponse, maxBodyBytes: number): void {
  if (!isBodyShort(request, maxBodyBytes)) response.setHeader('connection', 'close');
}

function reply(request: IncomingMessage, response: ServerResponse, of: Response): void {
  const [text, { status, statusText, headers }] = replyFor(request, of);
  response.writeHead(status, statusText, headers).end(text ?? undefined);
}
