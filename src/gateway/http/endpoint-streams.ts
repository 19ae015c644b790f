import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'graphql-http';
import type { Authenticated } from '../identity/authenticator.ts';

/** Streams of results, as the endpoint sees them. */
export interface EndpointStreams {
  /** The stream that a request is about; undefined: none, so it receives a single reply. */
  requestOf(request: IncomingMessage): StreamRequest | undefined;
}

/** A request that opens a stream or is about an open one. */
export interface StreamRequest {
  /** Whom the client authenticated as when it reserved the stream; undefined: the request must authenticate itself. */
  readonly identity: Authenticated | undefined;
  /** True: no page can make a browser send it without a preflight or a secret. */
  readonly isUnforgeable: boolean;
  /** The reply before it is authenticated and its body is read; undefined: it may go on. Called once. */
  refusalAt(address: string): Response | undefined;
  /** Resolves with the reply, or with undefined once the response is a stream. */
  answer(exchange: StreamRequestExchange): Promise<Response | undefined>;
}

export interface StreamRequestExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
  readonly identity: Authenticated;
  readonly address: string;
  /** When its authentication began, of performance.now(). */
  readonly begunAt: number;
}
