import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { OperationTypeNode } from 'graphql';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { createHandler } from 'graphql-http';
import type { Response } from 'graphql-http';
import type { SubscribePayload } from 'graphql-ws';
import { OverloadedError, clientError } from '../../base/errors.ts';
import { DocumentLane } from '../../graph/documents/document-queue.ts';
import type { DocumentQueue } from '../../graph/documents/document-queue.ts';
import { documentIdOf } from '../../graph/documents/document-request.ts';
import type { Operation } from '../../graph/documents/operation.ts';
import { withNumbers } from '../../graph/execution/number-variables.ts';
import type { Refusal } from '../../graph/refusal.ts';
import type { OperationRunner } from '../../graph/operation-runner.ts';
import { cursorOf } from '../operations/resume-cursor.ts';
import type { Authenticated, Authenticator } from '../identity/authenticator.ts';
import { textWeight, weightOf } from '../../base/json/weight.ts';
import { parseRequest } from './request-params.ts';
import type { DocumentParams } from './request-params.ts';
import { refusalReply } from './refusal-reply.ts';
import type { ReplyForms } from './reply-forms.ts';

export interface QueryHandlerOptions {
  readonly runtime: OperationRunner;
  readonly authenticator: Pick<Authenticator, 'failureOf'>;
  /** Queue of the documents that are not cached. */
  readonly documents: DocumentQueue;
}

/** Of a request, beside what it sent. */
export interface QueryContext {
  readonly socket: Socket;
  readonly identity: Authenticated;
  /** When its authentication began, of performance.now(). */
  readonly begunAt: number;
  readonly forms: ReplyForms;
}

export interface Handled {
  readonly reply: Response;
  /** In which form the client takes the reply. */
  readonly form: 'json' | 'stream';
  /** The request is for a subscription, and the client takes a stream, posts, or what it has missed as one reply: the reply is to open that. */
  readonly subscription?: SubscribePayload;
}

/** Answers a query or mutation, with the documents and limits of the WebSocket. */
export type QueryHandler = (request: IncomingMessage, body: string, context: QueryContext) => Promise<Handled>;

/** Of a request whose document has been looked at. */
interface HandlerContext extends QueryContext {
  form: Handled['form'];
  subscription?: SubscribePayload;
}

/** For a client that has disconnected: nobody receives it. */
const NO_REPLY: Response = [null, { status: 499, statusText: 'Client Closed Request' }];

const NO_SUBSCRIPTIONS = clientError(
  'OPERATION_NOT_ALLOWED',
  'A subscription needs a WebSocket to this URL (npm package graphql-ws), or the header "accept: text/event-stream" (npm package graphql-sse); or extensions.resume, for one reply with what was missed',
);

export function createQueryHandler({ runtime, authenticator, documents }: QueryHandlerOptions): QueryHandler {
  const lanes = new DocumentLanes(runtime, documents);
  const handle = createHandler<IncomingMessage, HandlerContext, { run: () => Promise<ExecutionResult> }>({
    parseRequestParams: parseRequest,
    onSubscribe: async ({ body, url, context }, request) => {
      const { operationName, variables } = request;
      const { identity, socket, begunAt, forms } = context;
      if (socket.destroyed) return NO_REPLY;
      const operation = await lanes.prepare(socket, request, typeof body === 'string' ? body : url);
      if (socket.destroyed) return NO_REPLY;
      context.form = forms.refusal;
      if ('errors' in operation) return operation.errors;
      if (operation.type === OperationTypeNode.SUBSCRIPTION) {
        if (!forms.stream && !forms.isCallback && cursorOf(request.extensions) === undefined) return [NO_SUBSCRIPTIONS];
        context.form = 'stream';
        context.subscription = request;
        return NO_REPLY;
      }
      context.form = forms.result;
      // The body and the document may have taken a while.
      const failure = authenticator.failureOf(identity, begunAt);
      if (failure) {
        context.form = 'json';
        return refusalReply(failure);
      }
      const run = async () => {
        let onClose: (() => void) | undefined;
        const onBegin = (leave: () => void) => void socket.once('close', (onClose = leave));
        const numbered = variables ? withNumbers(operation, variables) : undefined;
        const result = await runtime.execute(operation, numbered, identity.facts, onBegin);
        if (onClose) socket.removeListener('close', onClose);
        return result;
      };
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

  return async (request, body, context) => {
    const { method = 'GET', url = '/', headers } = request;
    const type = { accept: context.forms.json ?? 'application/json' };
    const of: HandlerContext = { ...context, form: 'json' };
    const reply = await handle({ method, url, headers: { ...headers, ...type }, body, raw: request, context: of });
    return { ...of, reply };
  };
}

/** Prepares the documents of requests, those of a socket in turn. */
class DocumentLanes {
  readonly #runtime: OperationRunner;
  readonly #documents: DocumentQueue;
  readonly #lanes = new WeakMap<Socket, DocumentLane>();

  constructor(runtime: OperationRunner, documents: DocumentQueue) {
    this.#runtime = runtime;
    this.#documents = documents;
  }

  /** @param text of the request, which stays in memory while the document waits */
  async prepare(socket: Socket, params: DocumentParams, text: string): Promise<Operation | Refusal> {
    const { query, operationName } = params;
    const request = { query, id: documentIdOf(params) };
    const known = this.#runtime.findPrepared(request, operationName);
    if (known) return known;
    const lane = this.#lanes.get(socket) ?? new DocumentLane();
    this.#lanes.set(socket, lane);
    const bytes = weightOf(params) + textWeight(text);
    const work = this.#documents.add(lane, bytes, () => this.#runtime.prepare(request, operationName, lane));
    let onClose = () => {};
    // Cancelled work never settles.
    const closed = new Promise<Refusal>((resolve) => {
      onClose = () => {
        work.cancel();
        resolve({ errors: [] });
      };
    });
    socket.once('close', onClose);
    try {
      return await Promise.race([work.done, closed]);
    } catch (error) {
      if (!(error instanceof OverloadedError)) throw error;
      return this.#runtime.refusedFor(error);
    } finally {
      socket.removeListener('close', onClose);
    }
  }
}
