import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'graphql-http';
import { clientError } from '../../base/errors.ts';
import type { Authenticated, Authenticator } from '../identity/authenticator.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { allowOrigin } from './cors.ts';
import type { EndpointStreams } from './endpoint-streams.ts';
import type { TrustedProxies } from '../../config/addresses/client-address.ts';
import { addressKey } from '../../config/addresses/ip-address.ts';
import { replyFor } from './event-source-reply.ts';
import { originRefusal } from '../../config/addresses/origin.ts';
import type { OriginRefusal, Origins } from '../../config/addresses/origin.ts';
import type { RefusedOrigins } from './refused-origins.ts';
import { createQueryHandler } from './query-handler.ts';
import type { QueryHandlerOptions } from './query-handler.ts';
import { limitReply, refusalReply } from './refusal-reply.ts';
import { whenReplied } from './reply-end.ts';
import type { AdmittedRequest, RequestAdmission, RequestLimit } from './request-admission.ts';
import { readBody } from './request-body.ts';
import { bodyTooLong, isBodyShort, refusedHead } from './request-head.ts';

export interface EndpointOptions extends QueryHandlerOptions {
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'authenticateAgain' | 'failureOf' | 'graphs'>;
  readonly admission: RequestAdmission;
  readonly origins: Origins;
  readonly proxies: TrustedProxies;
  readonly streams: EndpointStreams;
  /** Names of headers that pages of other origins may send, in lower case. */
  readonly corsHeaders: readonly string[];
  readonly maxBodyBytes: number;
  /** A request whose client has disconnected counts for at most this time while its execution goes on: a resolver may never settle. */
  readonly executionTimeoutMs: number;
  readonly log: Logger;
  readonly onRefused: (reason: OriginRefusal['reason'] | RequestLimit | 'body') => void;
  readonly refusedOrigins: Pick<RefusedOrigins, 'report'>;
}

const LOG_WINDOW_MS = 10_000;

const INTERNAL_ERROR = JSON.stringify({ errors: [clientError('INTERNAL_SERVER_ERROR', 'Internal server error')] });

/**
 * Queries and mutations over HTTP (graphql-over-http), with the documents, limits and authentication of the WebSocket.
 * A subscription needs a stream (`accept`) or the WebSocket. Whatever the headers decide is decided before the body is read.
 */
export function createEndpoint(
  options: EndpointOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const {
    authenticator,
    admission,
    origins,
    proxies,
    streams,
    corsHeaders,
    maxBodyBytes,
    executionTimeoutMs,
    log,
    onRefused,
  } = options;
  const failureLog = new LogWindow(LOG_WINDOW_MS);
  const handle = createQueryHandler(options);

  function refusedByLimit(limit: RequestLimit): Response {
    onRefused(limit);
    return limitReply(limit);
  }

  /** A token that is not accepted names no user, so its request is charged to the address. */
  async function authenticate(
    request: IncomingMessage,
    address: string,
    admitted: AdmittedRequest,
  ): Promise<Authenticated | Response> {
    const { rawHeaders } = request;
    const source = { id: randomUUID(), rawHeaders, params: {}, address };
    const identity = await authenticator.authenticate(
      source,
      (user) => admitted.charge(user) && !request.socket.destroyed,
    );
    if ('facts' in identity) return identity;
    // The same for all users while the keys cannot be fetched, so it says nothing about an address.
    if (identity.failure === 'keys_unavailable') return refusalReply(identity.failure);
    admitted.charge(undefined);
    const { limit } = admitted;
    if (limit === undefined) return refusalReply(identity.failure);
    if (limit.startsWith('address')) proxies.onAddressRefused(request);
    return refusedByLimit(limit);
  }

  /** Also of the graph that is served now: the body may have taken a while. @param graphs when its authentication began */
  async function authenticated(known: Authenticated, graphs: number): Promise<Authenticated | Response> {
    if (graphs === authenticator.graphs) return known;
    const identity = await authenticator.authenticateAgain(known);
    return 'facts' in identity ? identity : refusalReply(identity.failure);
  }

  /** The identity of a reserved stream is that of its requests, too. */
  function charged(identity: Authenticated, admitted: AdmittedRequest): Authenticated | Response {
    admitted.charge(identity.subject);
    return admitted.limit === undefined ? identity : refusedByLimit(admitted.limit);
  }

  /** Counts a request until its reply has ended and the work for it, too. */
  async function whileAdmitted(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: AdmittedRequest,
    work: () => Promise<void>,
  ): Promise<void> {
    let hasReplied = false;
    let isDone = false;
    const close = () => admitted.close();
    whenReplied(request, response, () => {
      hasReplied = true;
      if (isDone) close();
      else setTimeout(close, executionTimeoutMs).unref();
    });
    try {
      await work();
    } finally {
      isDone = true;
      if (hasReplied) close();
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Of the request until its body has been read.
    const { socket } = request;
    const reply = (of: Response) => send(response, replyFor(request, of));
    const refuse = (refusal: Response) => {
      if (!isBodyShort(request, maxBodyBytes)) response.setHeader('connection', 'close');
      reply(refusal);
    };
    const stream = streams.requestOf(request);
    const refused = refusedHead(request, maxBodyBytes, stream);
    if (refused) {
      if (refused[1].status === 413) onRefused('body');
      return refuse(refused);
    }
    const { limit } = admission;
    if (limit) return refuse(refusedByLimit(limit));
    const begunAt = performance.now();
    const address = proxies.addressOf(request);
    const refusedStream = stream?.refusalAt(address);
    if (refusedStream) return refuse(refusedStream);
    const admitted = admission.open(addressKey(address));
    await whileAdmitted(request, response, admitted, async () => {
      const { graphs } = authenticator;
      const known = stream?.identity
        ? charged(stream.identity, admitted)
        : await authenticate(request, address, admitted);
      if (!('facts' in known)) return refuse(known);
      // An HTTP/1.0 client knows no 100 (Continue): RFC 9110 section 10.1.1.
      if (request.headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
      const body = await readBody(request, maxBodyBytes);
      if (body === undefined) {
        onRefused('body');
        return refuse(bodyTooLong(maxBodyBytes));
      }
      const identity = stream?.identity ? known : await authenticated(known, graphs);
      if (!('facts' in identity)) return reply(identity);
      if (!stream) return reply(await handle(request, body, { socket, identity, begunAt }));
      const refusal = await stream.answer({ request, response, body, identity, address, begunAt });
      if (refusal) reply(refusal);
      // An open stream counts as a connection, not as a request in flight.
      else admitted.close();
    });
  }

  return async function onRequest(request, response) {
    const refusal = originRefusal(request.headers, origins);
    if (refusal) {
      onRefused(refusal.reason);
      options.refusedOrigins.report(refusal, request.headers);
      response.writeHead(refusal.status, { 'content-type': 'text/plain', connection: 'close' }).end(refusal.text);
      return;
    }
    const { origin } = request.headers;
    if (origin !== undefined) allowOrigin(request, response, origin, corsHeaders, origins.allowed.includes(origin));
    if (request.method === 'OPTIONS') {
      if (!isBodyShort(request, 0)) response.setHeader('connection', 'close');
      response.writeHead(204).end();
      return;
    }
    try {
      await answer(request, response);
    } catch (error) {
      // The client disconnected before its request was complete: no reply is possible.
      if (request.destroyed && !request.complete) return;
      failureLog.run('request', (suppressed) => log.error({ err: error, suppressed }, 'failed to handle a request'));
      response.writeHead(500, { 'content-type': 'application/json; charset=utf-8' }).end(INTERNAL_ERROR);
    }
  };
}

function send(response: ServerResponse, [text, { status, statusText, headers }]: Response): void {
  response.writeHead(status, statusText, headers).end(text ?? undefined);
}
