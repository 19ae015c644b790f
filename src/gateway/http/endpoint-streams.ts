import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'graphql-http';
import type { SubscribePayload } from 'graphql-ws';
import type { Authenticated } from '../identity/authenticator.ts';
import type { StreamKind } from './reply-forms.ts';

/** Streams of results, as the endpoint sees them. */
export interface EndpointStreams {
  /** Of a request that reserves a stream of many operations, or is about a reserved one; undefined: it is none of these. */
  requestOf(request: IncomingMessage): StreamRequest | undefined;
  /**
   * The reply to a client that may open no stream now, before it is authenticated; undefined: it may. Takes a handshake from the rate limit.
   */
  refusalAt(request: IncomingMessage, address: string): Response | undefined;
  /**
   * Resolves with the reply to a client that may have no stream, or with undefined once the response is the stream of a subscription.
   * @param kind undefined: the stream is one JSON text, and ends with what the client has missed
   */
  open(
    kind: StreamKind | undefined,
    payload: SubscribePayload,
    exchange: StreamRequestExchange,
  ): Promise<Response | undefined>;
  /** The result in `reply`, as a stream that ends with it. It is a reply, not a stream: it counts as a request. */
  ofOne(kind: StreamKind, reply: Response): Response;
}

/** Subscriptions whose results are posted to a callback, as the endpoint sees them. */
export interface EndpointCallbacks {
  /** Resolves with the reply: the subscription begins once it is sent, or is refused. */
  open(payload: SubscribePayload, exchange: StreamRequestExchange): Promise<Response>;
}

/** A request that reserves a stream or is about a reserved one. */
export interface StreamRequest {
  /** Whom the client authenticated as when it reserved the stream; undefined: the request must authenticate itself. */
  readonly identity: Authenticated | undefined;
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
  /** True: `refusalAt` has let it through. */
  readonly isAdmitted: boolean;
  /** True: other requests of its socket have no reply yet. After a stream none can follow. */
  isPipelined(): boolean;
}
