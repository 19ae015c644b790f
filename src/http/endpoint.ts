import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { OperationTypeNode } from 'graphql';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { createHandler } from 'graphql-http';
import { OverloadedError, clientError } from '../errors.ts';
import { DocumentLane } from '../graph/documents/document-queue.ts';
import type { DocumentQueue } from '../graph/documents/document-queue.ts';
import { documentIdOf } from '../graph/documents/document-request.ts';
import type { Operation } from '../graph/documents/operation.ts';
import type { GraphRuntime } from '../graph/runtime.ts';
import type { Refusal } from '../graph/refusal.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import { textWeight, weightOf } from '../json/weight.ts';
import { LogWindow } from '../log.ts';
import type { Logger } from '../log.ts';
import { allowOrigin, isPreflighted } from './cors.ts';
import type { TrustedProxies } from './client-address.ts';
import { originRefusal } from './origin.ts';
import type { OriginRefusal, Origins } from './origin.ts';
import { parseRequest } from './request-params.ts';
import type { DocumentParams } from './request-params.ts';
import { refusalReply } from './refusal-reply.ts';
import { readBody } from './request-body.ts';

export interface EndpointOptions {
  readonly runtime: GraphRuntime;
  readonly authenticator: Pick<Authenticator, 'authenticate'>;
  /** Queue of the documents that are not cached. */
  readonly documents: DocumentQueue;
  readonly origins: Origins;
  readonly proxies: TrustedProxies;
  /** Names of headers that pages of other origins may send, in lower case. */
  readonly corsHeaders: readonly string[];
  readonly maxBodyBytes: number;
  readonly log: Logger;
  readonly onRefusedOrigin: (reason: OriginRefusal['reason']) => void;
}

const LOG_WINDOW_MS = 10_000;

const NOT_PREFLIGHTED =
  'A GET needs the header content-type: application/json or apollo-require-preflight: true, so that no foreign page can make it\n';
const NO_SUBSCRIPTIONS = clientError('OPERATION_NOT_ALLOWED', 'Subscriptions are on the WebSocket of this path');
const INTERNAL_ERROR = JSON.stringify({ errors: [clientError('INTERNAL_SERVER_ERROR', 'Internal server error')] });

/**
 * Queries and mutations over HTTP (graphql-over-http), with the documents, limits and authentication of the WebSocket.
 * A subscription gets an error: it belongs on the WebSocket.
 */
export function createEndpoint(
  options: EndpointOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { runtime, authenticator, documents, origins, proxies, corsHeaders, maxBodyBytes, log } = options;
  const lanes = new WeakMap<Socket, DocumentLane>();
  const failureLog = new LogWindow(LOG_WINDOW_MS);

  async function prepare(socket: Socket, params: DocumentParams, text: string): Promise<Operation | Refusal> {
    const { query, operationName } = params;
    const request = { query, id: documentIdOf(params) };
    const known = runtime.findPrepared(request, operationName);
    if (known) return known;
    const lane = lanes.get(socket) ?? new DocumentLane();
    lanes.set(socket, lane);
    // The text of the request stays in memory while the document waits.
    const bytes = weightOf(params) + textWeight(text);
    const work = documents.add(lane, bytes, () => runtime.prepare(request, operationName, lane));
    socket.once('close', work.cancel);
    try {
      return await work.done;
    } catch (error) {
      if (!(error instanceof OverloadedError)) throw error;
      return runtime.refusedFor(error);
    } finally {
      socket.removeListener('close', work.cancel);
    }
  }

  const handle = createHandler<IncomingMessage, undefined, { run: () => Promise<ExecutionResult> }>({
    parseRequestParams: parseRequest,
    onSubscribe: async ({ raw, body, url }, request) => {
      const { operationName, variables } = request;
      const identity = await authenticator.authenticate({
        id: randomUUID(),
        rawHeaders: raw.rawHeaders,
        params: {},
        address: proxies.addressOf(raw),
      });
      if ('failure' in identity) return refusalReply(identity.failure);
      const { facts } = identity;
      const operation = await prepare(raw.socket, request, typeof body === 'string' ? body : url);
      if ('errors' in operation) return operation.errors;
      if (operation.type === OperationTypeNode.SUBSCRIPTION) return [NO_SUBSCRIPTIONS];
      const run = () => runtime.execute(operation, variables ?? undefined, facts);
      return {
        schema: runtime.schema,
        document: operation.document,
        operationName,
        rootValue: undefined,
        contextValue: { run },
      };
    },
    execute: ({ contextValue }: ExecutionArgs) => (contextValue as { run: () => Promise<ExecutionResult> }).run(),
  });

  return async function onRequest(request, response) {
    const refusal = originRefusal(request.headers, origins);
    if (refusal) {
      options.onRefusedOrigin(refusal.reason);
      response.writeHead(refusal.status, { 'content-type': 'text/plain' }).end(refusal.text);
      return;
    }
    const { origin } = request.headers;
    if (origin !== undefined) allowOrigin(request, response, origin, corsHeaders, origins.allowed.includes(origin));
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    if (!isPreflighted(request)) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(NOT_PREFLIGHTED);
      return;
    }
    try {
      const body = await readBody(request, maxBodyBytes);
      if (body === undefined) {
        response
          .writeHead(413, { 'content-type': 'text/plain', connection: 'close' })
          .end(`A body may have ${maxBodyBytes} bytes (MAX_MESSAGE_BYTES)`);
        return;
      }
      const [text, { status, statusText, headers }] = await handle({
        method: request.method ?? 'GET',
        url: request.url ?? '/',
        headers: request.headers,
        body,
        raw: request,
        context: undefined,
      });
      response.writeHead(status, statusText, headers).end(text ?? undefined);
    } catch (error) {
      // The client disconnected before its request was complete: no reply is possible.
      if (!request.complete) return;
      failureLog.run('request', (suppressed) => log.error({ err: error, suppressed }, 'failed to handle a request'));
      response.writeHead(500, { 'content-type': 'application/json; charset=utf-8' }).end(INTERNAL_ERROR);
    }
  };
}
